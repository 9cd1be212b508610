"""Sizes of tables from their partitions: summed when the table changed, and not again."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, update
from tests.fixtures.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table, of_longs, of_partition

from hmstats.model.catalog import Table
from hmstats.model.computed import MARKER
from hmstats.service.catalog.tables import Tables
from hmstats.service.statistics.sizes import TableSizes
from hmstats.service.statistics.write import StatisticsWriter
from hmstats.service.warehouse import Warehouse
from hmstats.store import partition_sizes, versions
from hmstats.store.engine import Store
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.shape import Shape

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


def test_numbers_that_every_partition_has_are_summed(store: Store, table: Table) -> None:
    (found,) = TableSizes(store).added([table])
    assert found.parameters["numRows"] == str(COUNT)
    assert abs(int(found.parameters["totalSize"]) - COUNT * int(MOST)) < 10_000
    assert "numFiles" not in found.parameters
    assert "rawDataSize" not in found.parameters
    assert MARKER in found.parameters


def test_what_the_table_says_itself_stays(store: Store, table: Table) -> None:
    said = replace(table, parameters={"numRows": "7"})
    (found,) = TableSizes(store).added([said])
    assert found.parameters["numRows"] == "7"
    assert found.parameters[MARKER].startswith("totalSize=")


def test_tables_without_partitions_are_not_looked_at(store: Store, table: Table, statements: StatementCounter) -> None:
    plain = replace(table, partition_keys=())
    with statements() as sent:
        assert TableSizes(store).added([plain]) == [plain]
    assert sent == []


def test_sizes_are_summed_again_when_the_table_has_changed(
    store: Store, table: Table, statements: StatementCounter
) -> None:
    sizes, counts = TableSizes(store), []
    for changed in (True, False, False, True):
        if changed:
            StatisticsWriter(store).update_partitions(NAME, [of_partition(1, l=of_longs(0, 3))])
        with statements() as sent:
            (found,) = sizes.added([table])
        assert found.parameters["numRows"] == str(COUNT)
        counts.append(sum("PARTITION_PARAMS" in each for each in sent))
    assert counts == [1, 0, 0, 1]


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
        assert sizes.added([table])[0].parameters["numRows"] == str(rows * COUNT)
