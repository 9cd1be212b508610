"""Changes of partitions take a number of statements that does not grow with the partitions."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import InvalidOperation, MetaError
from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import KeyValues, Partitions
from hmstats.service.catalog.tables.alter_table import AlterOptions, TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics

COLUMNS = (Column("c", "bigint"), Column("d", "bigint"))
NAME, OTHER = TableName("hive", "default", "t"), TableName("hive", "default", "u")
STORAGE = Storage(columns=COLUMNS)


@pytest.fixture
def warehouse(store: Store, tmp_path: Path) -> Warehouse:
    """The warehouse of two tables that are alike."""
    found = Warehouse(str(tmp_path))
    Databases(store, found).ensure_default()
    for name in (NAME, OTHER):
        keys = (Column("n", "int"), Column("s", "string"))
        Tables(store, found).create(Table(name=name, storage=STORAGE, partition_keys=keys))
    return found


def _new(first: int, count: int) -> list[Partition]:
    counts = {"numRows": "7", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true","COLUMN_STATS":{"c":"true"}}'}
    return [
        Partition(values=("1", str(each)), storage=STORAGE, parameters=counts) for each in range(first, first + count)
    ]


def _names(count: int) -> list[str]:
    return [f"n=1/s={each}" for each in range(count)]


def _analyze(store: Store, count: int) -> None:
    with store.read() as connection:
        table_id = tables.find_id(connection, NAME) or 0
        ids = partitions.find_ids(connection, table_id, _names(count))
    data = tuple(ColumnStatistics(each.name, "bigint", LongStatistics(nulls=1, ndv=2)) for each in COLUMNS)
    sets = {each: StatisticsSet(data, name) for name, each in ids.items()}
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, sets))


def _analyzed(store: Store, name: TableName) -> dict[str, set[str]]:
    with store.read() as connection:
        table_id = tables.find_id(connection, name) or 0
        found = column_statistics.read_partitions(connection, table_id, None, None, None)
    return {each: {column.column for column in sets[0].columns} for each, sets in found.items()}


def test_the_number_of_statements_does_not_depend_on_the_number_of_partitions(
    store: Store, warehouse: Warehouse, statements: StatementCounter
) -> None:
    changes, alterations = PartitionChanges(store, warehouse), TableAlterations(store, warehouse)
    counts: dict[int, list[int]] = {}
    for many in (2, 3, 60):  # the first also reserves ids
        with statements() as adding:
            changes.add(NAME, _new(0, many))
        _analyze(store, many)
        with statements() as altering:
            changes.alter(NAME, [replace(each, parameters={"numRows": "8"}) for each in _new(0, many)])
        table = Tables(store, warehouse).get(NAME)
        wider = replace(STORAGE, columns=(Column("c", "string"), *COLUMNS[1:]), location=_place(table))
        with statements() as cascading:
            alterations.alter(NAME, replace(table, storage=wider), AlterOptions(cascade=True))
        assert set(map(tuple, _analyzed(store, NAME).values())) == {("d",)}
        with statements() as exchanging:
            alterations.alter(
                OTHER,
                replace(Tables(store, warehouse).get(OTHER), storage=replace(wider, location=f"{warehouse.root}/u")),
            )
            PartitionMoves(store, warehouse).exchange({"n": "1"}, NAME, OTHER)
        assert len(_analyzed(store, OTHER)) == many
        with statements() as truncating:
            Truncation(store, warehouse).truncate(OTHER, None)
        with statements() as dropping:
            changes.drop_many(OTHER, _names(many), if_exists=False, delete_data=True)
        back = replace(STORAGE, location=_place(table))
        alterations.alter(NAME, replace(table, storage=back))
        alterations.alter(
            OTHER, replace(Tables(store, warehouse).get(OTHER), storage=replace(back, location=f"{warehouse.root}/u"))
        )
        counts[many] = [len(each) for each in (adding, altering, cascading, exchanging, truncating, dropping)]
    assert counts[3] == counts[60]


def _place(table: Table) -> str | None:
    return table.storage.location if table.storage else None


def test_a_cascade_takes_marks_and_statistics_of_a_column_of_another_type(store: Store, warehouse: Warehouse) -> None:
    PartitionChanges(store, warehouse).add(NAME, _new(0, 2))
    _analyze(store, 2)
    table = Tables(store, warehouse).get(NAME)
    changed = replace(STORAGE, columns=(Column("c", "string"), *COLUMNS[1:]), location=_place(table))
    TableAlterations(store, warehouse).alter(NAME, replace(table, storage=changed), AlterOptions(cascade=True))
    for each in Partitions(store).all(NAME).partitions.values():
        assert each.parameters["COLUMN_STATS_ACCURATE"] == '{"BASIC_STATS":"true"}'
        assert each.storage is not None
        assert each.storage.columns == changed.columns
    assert _analyzed(store, NAME) == {"n=1/s=0": {"d"}, "n=1/s=1": {"d"}}


def test_a_rename_whose_directory_cannot_be_moved_is_undone(store: Store, warehouse: Warehouse) -> None:
    PartitionChanges(store, warehouse).add(NAME, _new(0, 1))
    _analyze(store, 1)
    warehouse.make_directory(f"{warehouse.root}/t/n=1/s=9")
    before = Partitions(store).get(NAME, ["1", "0"])
    with pytest.raises(InvalidOperation, match="exists already"):
        PartitionMoves(store, warehouse).rename(NAME, ["1", "0"], replace(before, values=("1", "9")))
    assert Partitions(store).all(NAME).partitions == {"n=1/s=0": before}
    assert _analyzed(store, NAME) == {"n=1/s=0": {"c", "d"}}


def test_an_exchange_whose_directory_cannot_be_moved_is_undone(store: Store, warehouse: Warehouse) -> None:
    PartitionChanges(store, warehouse).add(NAME, _new(0, 2))
    _analyze(store, 2)
    before = Partitions(store).all(NAME)
    warehouse.make_directory(f"{warehouse.root}/u/n=1")
    with pytest.raises(MetaError, match="exists already"):
        PartitionMoves(store, warehouse).exchange({"n": "1"}, NAME, OTHER)
    assert Partitions(store).all(NAME).partitions == before.partitions
    assert Partitions(store).all(OTHER).partitions == {}
    assert _analyzed(store, NAME) == {"n=1/s=0": {"c", "d"}, "n=1/s=1": {"c", "d"}}


def test_a_rename_whose_tables_directory_cannot_be_moved_is_undone(store: Store, warehouse: Warehouse) -> None:
    PartitionChanges(store, warehouse).add(NAME, _new(0, 1))
    _analyze(store, 1)
    warehouse.make_directory(f"{warehouse.root}/new")
    table = Tables(store, warehouse).get(NAME)
    with pytest.raises(InvalidOperation, match="exists already"):
        TableAlterations(store, warehouse).alter(NAME, replace(table, name=TableName("hive", "default", "new")))
    assert Tables(store, warehouse).get(NAME) == table
    assert _analyzed(store, NAME) == {"n=1/s=0": {"c", "d"}}


def test_values_of_keys_are_read_without_partitions(store: Store, warehouse: Warehouse) -> None:
    PartitionChanges(store, warehouse).add(NAME, _new(0, 12))
    found = Partitions(store)
    assert found.key_values(NAME, KeyValues(["n"])) == [("1",)]
    assert found.key_values(NAME, KeyValues(["s", "n"], "s = '10' or s = '9'")) == [("10", "1"), ("9", "1")]
    assert found.key_values(NAME, KeyValues(["s"], ascending=False, limit=2)) == [("9",), ("8",)]
    assert len(found.key_values(NAME, KeyValues(["n"], distinct=False))) == 12
