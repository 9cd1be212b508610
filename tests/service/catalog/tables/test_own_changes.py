"""What changes of a table say of its partitions: nothing was touched, or anything may have been."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hmstats.model.catalog.objects import Column, Partition, SerDe, Storage, Table, TableName
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.spark.spark_schema import STUB_NAME, STUB_TYPE
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.catalog.tables import alter_table, changed_partitions
from hmstats.service.catalog.tables.alter_table import AlterOptions, TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.statistics.writing.parameter_changes import change_table
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

NAME, PLAIN = TableName("hive", "default", "t"), TableName("hive", "default", "plain")
COLUMNS = (Column("a", "int"), Column("b", "string"))
STORAGE = Storage(columns=COLUMNS, serde=SerDe())
MARKED = {PARAMETER: json.dumps({"BASIC_STATS": "true", "COLUMN_STATS": {"a": "true"}})}
Change = Callable[[Table], Table]


class World:
    """A table with two partitions, one of them marked as accurate, and one without partitions."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, warehouse = store, Warehouse(str(folder))
        Databases(store, warehouse).ensure_default()
        self.tables, self.alterations = Tables(store, warehouse), TableAlterations(store, warehouse)
        self.changes = PartitionChanges(store, warehouse)
        self.tables.create(Table(name=NAME, storage=STORAGE, partition_keys=(Column("p", "int"),)))
        self.tables.create(Table(name=PLAIN, storage=STORAGE))
        marks: tuple[dict[str, str], ...] = ({}, {**MARKED, "numFiles": "0", "totalSize": "0"})
        self.changes.add(
            NAME, [Partition(values=(str(p),), storage=STORAGE, parameters=each) for p, each in enumerate(marks)]
        )
        self.file = folder / "t" / "p=1" / "file"

    def touched(self, work: Callable[[], object], name: TableName = NAME) -> tuple[bool, frozenset[str] | None]:
        """Whether a change says that it touched the table itself, and which partitions it says."""
        table_id = self.tables.get(name).id or 0
        before = self.store.changes_since(table_id, 0)
        assert before is not None
        work()
        told = self.store.changes_since(table_id, before.version)
        assert told is not None
        assert told.version == before.version + 1
        return bool(told.own), told.partitions(before.version, told.version)

    def alter(self, change: Change, terms: AlterOptions | None = None, name: TableName = NAME) -> None:
        self.alterations.alter(name, change(self.tables.get(name)), terms)

    def analyze(self, name: TableName = NAME) -> None:
        column = ColumnStatistics("a", "int", LongStatistics(low=1, high=2, nulls=0, ndv=2))
        StatisticsWriter(self.store).update_table(name, StatisticsSet((column,)))


@pytest.fixture
def world(store: Store, tmp_path: Path) -> World:
    return World(store, tmp_path)


def with_columns(*columns: Column) -> Change:
    return lambda table: replace(table, storage=replace(table.storage or STORAGE, columns=columns))


def of_spark(kind: str) -> dict[str, str]:
    """The parameters of a table whose only column Spark keeps there."""
    fields = [{"name": "c", "type": kind, "nullable": True, "metadata": {}}]
    schema = json.dumps({"type": "struct", "fields": fields})
    return {"spark.sql.sources.provider": "parquet", "spark.sql.sources.schema": schema}


def with_parameters(given: dict[str, str]) -> Change:
    return lambda table: replace(table, parameters={**table.parameters, **given})


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table,
        with_parameters({"comment": "new"}),
        lambda table: replace(table, owner="other"),
        lambda table: replace(table, storage=replace(table.storage, buckets=3, parameters={"x": "y"})),
    ],
    ids=["nothing", "parameters", "owner", "storage"],
)
def test_an_alter_that_keeps_name_and_columns_touches_no_partition(world: World, change: Change) -> None:
    assert world.touched(lambda: world.alter(change)) == (True, frozenset())


@pytest.mark.parametrize(
    ("change", "terms"),
    [
        (with_columns(*COLUMNS, Column("c", "int")), None),
        (with_columns(COLUMNS[0]), None),
        (with_columns(Column("a", "bigint"), COLUMNS[1]), None),
        (lambda table: replace(table, partition_keys=(Column("p", "bigint"),)), None),
        (lambda table: replace(table, partition_keys=(Column("q", "int"),)), AlterOptions(new_keys=True)),
        (lambda table: table, AlterOptions(cascade=True)),
    ],
    ids=["new column", "lost column", "type", "key's type", "key's name", "cascade"],
)
def test_another_alter_may_have_touched_everything(world: World, change: Change, terms: AlterOptions | None) -> None:
    assert world.touched(lambda: world.alter(change, terms)) == (False, None)


def test_a_rename_may_have_touched_everything(world: World) -> None:
    table = world.tables.get(NAME)
    other = replace(NAME, table="other")
    world.alterations.alter(NAME, replace(table, name=other))
    told = world.store.changes_since(table.id or 0, 1)
    assert told is not None
    assert (told.version, told.partitions(2, 3), told.own) == (3, None, {})


def test_partitions_whose_files_have_changed_are_named(world: World) -> None:
    """As Spark alters a table after it has written to a partition."""
    world.file.write_bytes(b"rows")
    assert world.touched(lambda: world.alter(lambda table: table)) == (True, frozenset({"p=1"}))


def test_writes_of_the_table_s_own_statistics_touch_no_partition(world: World) -> None:
    assert world.touched(world.analyze) == (True, frozenset())
    assert world.touched(world.analyze) == (True, frozenset())
    delete = StatisticsWriter(world.store).delete_table
    assert world.touched(lambda: delete(NAME, ["a"], None)) == (True, frozenset())


@pytest.mark.parametrize(
    ("put", "expected"),
    [(of_spark("long"), (True, frozenset())), (of_spark("string"), (False, None))],
    ids=["same schema", "other schema"],
)
def test_a_schema_of_spark_is_the_table_s_columns(
    world: World, put: dict[str, str], expected: tuple[bool, frozenset[str] | None]
) -> None:
    """Beside a stub of a column in the metastore."""
    world.alter(with_columns(Column(STUB_NAME, STUB_TYPE)))
    world.alter(with_parameters(of_spark("long")))
    change = ParameterChange({**put, "x": "y"})
    assert world.touched(lambda: world.store.write(lambda unit: change_table(unit, NAME, change))) == expected
    world.alter(with_parameters(of_spark("long")))
    assert world.touched(lambda: world.alter(with_parameters(put))) == expected


def test_partitions_that_come_and_go_are_named_and_so_is_the_table_s_mark(world: World) -> None:
    def add(number: int) -> None:
        world.changes.add(NAME, [Partition(values=(str(number),), storage=STORAGE)])

    assert world.touched(lambda: add(5)) == (False, frozenset({"p=5"}))
    world.alter(with_parameters(MARKED))
    assert world.touched(lambda: add(6)) == (True, frozenset({"p=6"}))


@pytest.mark.parametrize("delete_data", [False, True])
def test_truncated_partitions_are_named(world: World, delete_data: bool) -> None:
    before = world.tables.get(NAME).id or 0
    truncation = Truncation(world.store, Warehouse(str(world.file.parents[2])))
    truncation.truncate(NAME, ["p=1", "p=9"], delete_data=delete_data)
    told = world.store.changes_since(before, 2)
    assert told is not None
    assert told.partitions(2, told.version) == frozenset({"p=1", "p=9"})
    truncation.truncate(NAME, None, delete_data=delete_data)
    after = world.store.changes_since(before, told.version)
    assert after is not None
    assert after.partitions(told.version, after.version) is None


def test_of_a_table_without_partitions_nothing_is_said(world: World) -> None:
    assert world.touched(lambda: world.analyze(PLAIN), PLAIN) == (False, None)
    assert world.touched(lambda: world.alter(with_parameters({"x": "y"}), name=PLAIN), PLAIN) == (False, None)


@pytest.mark.parametrize("meanwhile", ["drop", "drop and add", "exchange"])
def test_a_partition_that_is_gone_since_its_files_were_counted_is_left_alone(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """The files are counted before the table is locked, so that another client may be in between."""
    other = TableName("hive", "default", "u")
    world.tables.create(Table(name=other, storage=STORAGE, partition_keys=(Column("p", "int"),)))
    world.file.write_bytes(b"rows")
    marked = {**MARKED, "numFiles": "0", "totalSize": "0"}
    count = changed_partitions.changed_partitions

    def counted(*given: Any) -> Any:
        found = count(*given)
        assert len(found) == 1
        if meanwhile == "exchange":
            PartitionMoves(world.store, Warehouse(str(tmp_path))).exchange({"p": "1"}, NAME, other)
        else:
            world.changes.drop(NAME, ["1"], delete_data=False)
        if meanwhile == "drop and add":
            world.changes.add(NAME, [Partition(values=("1",), storage=STORAGE, parameters=marked)])
        return found

    monkeypatch.setattr(alter_table, "changed_partitions", counted)
    world.alter(lambda table: table)
    read = Partitions(world.store)
    if meanwhile == "exchange":
        assert PARAMETER in read.get(other, ["1"]).parameters
    if meanwhile == "drop and add":
        assert PARAMETER in read.get(NAME, ["1"]).parameters
