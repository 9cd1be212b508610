"""Sizes of tables from their partitions: summed when the table changed, and not again."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert, update
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table, of_longs, of_partition

from hmstats.model.catalog.objects import Partition, Table
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading.partition_sums import PartitionSums
from hmstats.service.statistics.reading.sizes import TableSizes
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_sizes, partitions
from hmstats.store.partitions.partition_sizes import Block, VersionedBlocks
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Unit

COUNT = 30
MOST = "9" * 18


@pytest.fixture
def table(store: Store, tmp_path: Path) -> Table:
    """A table whose partitions have a row each and the most bytes that count."""
    make_table(store, tmp_path, range(COUNT))
    with store._pools.writers.begin() as connection:
        ids = list(connection.execute(PARTITIONS.select()).scalars())
        said = {"numRows": "1", "totalSize": MOST, "numFiles": "x"}
        rows = [{"PART_ID": each, "PARAM_KEY": key, "PARAM_VALUE": said[key]} for each in ids for key in said]
        connection.execute(insert(PARTITION_PARAMS), rows)
    return Tables(store, Warehouse(str(tmp_path))).get(NAME)


def count_blocks(monkeypatch: pytest.MonkeyPatch, summed: list[int]) -> None:
    """Have the number of blocks noted whenever some are summed."""
    blocks, alone = partition_sizes.blocks, partition_sizes.read_alone

    def noted(connection: Connection, table_id: int, wanted: Collection[int] | None = None) -> dict[int, Block]:
        found = blocks(connection, table_id, wanted)
        summed.append(len(found))
        return found

    def noted_alone(engine: Engine, table_id: int) -> VersionedBlocks | None:
        found = alone(engine, table_id)
        assert found
        summed.append(len(found.blocks))
        return found

    monkeypatch.setattr(partition_sizes, "blocks", noted)
    monkeypatch.setattr(partition_sizes, "read_alone", noted_alone)


def test_numbers_that_every_partition_has_are_summed(store: Store, table: Table) -> None:
    (found,) = TableSizes(store).with_sizes([table])
    assert found.parameters["numRows"] == str(COUNT)
    assert abs(int(found.parameters["totalSize"]) - COUNT * int(MOST)) < 10_000
    assert "numFiles" not in found.parameters
    assert "rawDataSize" not in found.parameters
    assert found.parameters.keys() - table.parameters.keys() == {"numRows", "totalSize"}


def test_what_the_table_says_itself_stays(store: Store, table: Table) -> None:
    said = replace(table, parameters={"numRows": "7"})
    (found,) = TableSizes(store).with_sizes([said])
    assert found.parameters["numRows"] == "7"
    assert abs(int(found.parameters["totalSize"]) - COUNT * int(MOST)) < 10_000


def test_sizes_that_were_written_past_us_with_their_marker_are_summed_again(store: Store, table: Table) -> None:
    (answered,) = TableSizes(store).with_sizes([table])
    changed = update(PARTITION_PARAMS).where(PARTITION_PARAMS.c.PARAM_KEY == "numRows")
    with store._pools.writers.begin() as connection:
        connection.execute(changed.values(PARAM_VALUE="2"))
    (found,) = TableSizes(store).with_sizes([answered])
    assert found.parameters["numRows"] == str(2 * COUNT)


def test_tables_without_partitions_are_not_looked_at(store: Store, table: Table, statements: StatementCounter) -> None:
    plain = replace(table, partition_keys=())
    with statements() as sent:
        assert TableSizes(store).with_sizes([plain]) == [plain]
    assert sent == []


def test_sizes_are_summed_again_when_the_table_has_changed(
    store: Store, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, summed, counts = TableSizes(store), list[int](), []
    count_blocks(monkeypatch, summed)
    for changed in (True, False, False, True):
        if changed:
            StatisticsWriter(store).update_partitions(NAME, [of_partition(1, l=of_longs(0, 3))])
        (found,) = sizes.with_sizes([table])
        assert found.parameters["numRows"] == str(COUNT)
        counts.append(len(summed))
    assert counts == [1, 1, 1, 2]


def test_a_change_of_the_table_itself_sums_nothing_again(
    store: Store, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, summed = TableSizes(store), list[int]()
    count_blocks(monkeypatch, summed)
    tables, alterations = Tables(store, Warehouse(str(tmp_path))), TableAlterations(store, Warehouse(str(tmp_path)))
    for step in range(3):
        (found,) = sizes.with_sizes([tables.get(NAME)])
        assert found.parameters["numRows"] == str(COUNT)
        alterations.alter(NAME, replace(tables.get(NAME), parameters={"step": str(step)}))
        StatisticsWriter(store).update_table(NAME, of_partition(None, l=of_longs(0, 3 + step)))
    assert len(summed) == 1


def test_one_table_is_summed_as_many_are(store: Store, table: Table) -> None:
    mine = table.id or 0
    alone, among = (PartitionSums(store).read(asked)[mine] for asked in ([mine], [mine, 999]))
    assert alone == among != {}


def test_nothing_is_summed_for_no_table(store: Store, table: Table) -> None:
    with store.read() as connection:
        assert partition_sizes.of_tables(connection, [999]) == {}
        assert versions.read_many(connection, [999]) == {}
        assert set(versions.read_many(connection, [table.id or 0, 999])) == {table.id}


def test_beside_a_hive_they_are_summed_every_time(store: Store, table: Table) -> None:
    """Hive changes partitions without a new version of the table."""
    store.shape = Shape(hive="4.0.0")
    sizes = TableSizes(store)
    for rows in (1, 2):
        changed = update(PARTITION_PARAMS).where(PARTITION_PARAMS.c.PARAM_KEY == "numRows")
        with store._pools.writers.begin() as connection:
            connection.execute(changed.values(PARAM_VALUE=str(rows)))
        assert sizes.with_sizes([table])[0].parameters["numRows"] == str(rows * COUNT)


def test_after_a_change_of_some_partitions_their_blocks_alone_are_summed(
    store: Store, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_sizes, "BLOCK_IDS", 4)
    sizes, summed = TableSizes(store), list[int]()
    count_blocks(monkeypatch, summed)

    def seen() -> str:
        (found,) = sizes.with_sizes([table])
        with store.read() as connection:
            (sums,) = partition_sizes.of_tables(connection, [table.id or 0]).values()
        assert found.parameters["totalSize"] == str(sums["totalSize"])
        return found.parameters["numRows"]

    def put(rows: str, *names: str) -> None:
        def work(unit: Unit) -> None:
            ids = partitions.find_ids(unit.connection, table.id or 0, names)
            parameters.put(unit, OF_PARTITIONS, {each: {"numRows": rows} for each in ids.values()})
            versions.bump(unit, table.id or 0, names)

        store.write(work)

    assert seen() == str(COUNT)
    put("5", "p=1")
    assert seen() == str(COUNT + 4)
    put("7", "p=1")
    put("2", "p=1", f"p={COUNT - 1}")
    assert seen() == str(COUNT + 2)
    assert summed[0] >= COUNT // 4
    assert summed[1:] == [1, 2]
    put("none", "p=3")
    with store.read() as connection:
        assert "numRows" not in partition_sizes.of_tables(connection, [table.id or 0])[table.id or 0]
    (found,) = sizes.with_sizes([table])
    assert "numRows" not in found.parameters
    PartitionChanges(store, Warehouse(str(tmp_path))).drop(NAME, ["3"], delete_data=False)
    assert seen() == str(COUNT + 1)
    assert summed[-1] >= COUNT // 4


class Cleared(dict[Any, Any]):
    """A cache that another thread clears after every look at it; `hits` counts the looks that found something."""

    hits = 0

    def get(self, key: Any, default: Any = None) -> Any:
        """What was there."""
        found = super().get(key, default)
        self._clear(key)
        return found

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        self._clear(key)
        return found

    def _clear(self, key: object) -> None:
        self.hits += super().__contains__(key)
        self.clear()


def test_a_new_partition_is_summed_with_its_block_alone(
    store: Store, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_sizes, "BLOCK_IDS", 4)
    sizes, summed = TableSizes(store), list[int]()
    count_blocks(monkeypatch, summed)
    assert sizes.with_sizes([table])[0].parameters["numRows"] == str(COUNT)
    changes = PartitionChanges(store, Warehouse(str(tmp_path)))
    for number in (1, 2):
        said = {"numRows": "10", "totalSize": "1"}
        changes.add(NAME, [Partition(values=(str(COUNT + number),), storage=table.storage, parameters=said)])
        assert sizes.with_sizes([table])[0].parameters["numRows"] == str(COUNT + 10 * number)
    assert summed[0] >= COUNT // 4
    assert summed[1:] == [1, 1]


def test_a_partition_that_was_dropped_and_added_again_is_summed_once(
    store: Store, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has another id then, in another block than the one in which it was cached."""
    monkeypatch.setattr(partition_sizes, "BLOCK_IDS", 4)
    sizes = TableSizes(store)
    assert sizes.with_sizes([table])[0].parameters["numRows"] == str(COUNT)
    changes = PartitionChanges(store, Warehouse(str(tmp_path)))
    for rows in (10, 20):
        changes.drop(NAME, ["1"], delete_data=False)
        said = {"numRows": str(rows), "totalSize": "1"}
        changes.add(NAME, [Partition(values=("1",), storage=table.storage, parameters=said)])
        assert sizes.with_sizes([table])[0].parameters["numRows"] == str(COUNT - 1 + rows)


def test_a_cache_that_another_thread_clears_is_a_miss_and_no_error(store: Store, table: Table) -> None:
    sums, cache = PartitionSums(store), Cleared()
    sums._cached = cache
    for _ in range(3):
        assert sums.read([table.id or 0])[table.id or 0]["numRows"] == COUNT
    assert cache.hits
