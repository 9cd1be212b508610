"""Statistics found by names alone: what they say, what they leave to others, and the version that goes with them."""

import math
from functools import partial

import pytest
from tests.store.catalog_values import NAME, make_partitions, make_table
from tests.store.statistics.test_column_statistics import OF_EVERY_KIND

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, DoubleStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.flat_statistics import FlatStatistics, flat
from hmstats.store.changes import versions
from hmstats.store.changes.versions import NotedRead
from hmstats.store.database.store import Store
from hmstats.store.statistics import column_statistics
from hmstats.store.statistics.statistics_by_name import VersionedColumns
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES

COLUMNS = tuple(
    ColumnStatistics(f"c{number}", column_type, data)
    for number, (column_type, data) in enumerate(OF_EVERY_KIND.items())
)
WANTED = [each.column for each in COLUMNS]
FLAT = {("hive", each.column): flat(each) for each in COLUMNS}


@pytest.fixture
def table_id(store: Store) -> int:
    """A table with two partitions; it and `p=1` have statistics of every kind, and a row count."""
    table_id = make_table(store)
    ids = make_partitions(store, table_id, "1", "2")
    write(store, table_id, StatisticsSet(COLUMNS, None, "hive", 50))
    of_one = {ids["p=1"]: StatisticsSet(COLUMNS, "p=1", "hive", 60)}
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, of_one))
    store.write(partial(parameters.put, of=OF_TABLES, values={table_id: {"numRows": "7"}}))
    store.write(partial(parameters.put, of=OF_PARTITIONS, values={ids["p=1"]: {"numRows": "5"}}))
    store.write(partial(versions.bump, table_id=table_id))
    return table_id


def write(store: Store, table_id: int, statistics: StatisticsSet) -> None:
    store.write(partial(column_statistics.write_table, table_id=table_id, name=NAME, statistics=statistics))


def told(found: VersionedColumns | None) -> dict[tuple[str, str], FlatStatistics | None]:
    """By engine and column what was found."""
    assert found is not None
    each = zip(found.engines, found.statistics, strict=True)
    return {(engine, "" if read is None else read[0]): read for engine, read in each}


def test_what_a_table_and_a_partition_have(store: Store, table_id: int) -> None:
    of_table = store.statistics_of_table(NAME, WANTED, sketches=True)
    of_partition = store.statistics_of_partition(NAME, "p=1", WANTED, sketches=True)
    assert told(of_table) == told(of_partition) == FLAT
    assert of_table is not None
    assert of_partition is not None
    assert (of_table.rows, of_partition.rows) == ({"": "7"}, {"p=1": "5"})
    assert {*of_table.partitions} == {""}
    assert {*of_partition.partitions} == {"p=1"}
    assert ({*of_table.analyzed_seconds}, {*of_partition.analyzed_seconds}) == ({50}, {60})


def test_only_the_asked_columns_and_no_sketches(store: Store, table_id: int) -> None:
    (found,) = told(store.statistics_of_table(NAME, ["c1"], sketches=False)).values()
    assert found == (*FLAT["hive", "c1"][:6], None, None)


def test_every_engines_statistics_come(store: Store, table_id: int) -> None:
    other = ColumnStatistics("c1", "bigint", LongStatistics(ndv=1, nulls=0))
    write(store, table_id, StatisticsSet((other,), None, "impala", 70))
    found = store.statistics_of_table(NAME, ["c1"], sketches=True)
    assert told(found) == {("hive", "c1"): FLAT["hive", "c1"], ("impala", "c1"): flat(other)}


def test_a_number_that_is_none_and_a_count_that_nobody_knows(store: Store, table_id: int) -> None:
    odd = ColumnStatistics("d", "double", DoubleStatistics(low=-math.inf, high=math.nan, ndv=1))
    write(store, table_id, StatisticsSet((odd,), None))
    (found,) = told(store.statistics_of_table(NAME, ["d"], sketches=True)).values()
    assert found is not None
    assert found[:3] == ("d", "double", -math.inf)
    assert math.isnan(found[3])
    assert found[4:6] == (None, 1)


@pytest.mark.parametrize("name", [NAME, TableName(NAME.catalog, NAME.database, "other")])
def test_what_is_not_there_is_left_to_others(store: Store, table_id: int, name: TableName) -> None:
    columns = ["nope"] if name == NAME else WANTED
    assert store.statistics_of_table(name, columns, sketches=True) is None
    assert store.statistics_of_partition(name, "p=1", columns, sketches=True) is None
    assert store.statistics_of_partition(NAME, "p=2", WANTED, sketches=True) is None
    assert store.statistics_of_partition(NAME, "P=1", WANTED, sketches=True) is None


def test_the_tables_version_is_noted(store: Store, table_id: int) -> None:
    for partition, read in ((None, frozenset[str]()), ("p=1", frozenset({"p=1"}))):
        before = store.current_versions([table_id])
        with versions.noting_reads() as noted:
            if partition is None:
                store.statistics_of_table(NAME, ["c1"], sketches=False)
            else:
                store.statistics_of_partition(NAME, partition, ["c1"], sketches=False)
        assert noted == {table_id: NotedRead(before[table_id], read)}
        store.write(partial(versions.bump, table_id=table_id))


def test_a_text_that_no_database_takes(store: Store, table_id: int) -> None:
    for column, partition in (("c\0", "p=1"), ("c1", "p=\0")):
        with pytest.raises(MetaError, match="NUL"):
            store.statistics_of_partition(NAME, partition, [column], sketches=False)


def test_a_database_that_is_away_tells_nothing() -> None:
    store = Store.open("postgresql://nobody@127.0.0.1:1/nothing", statement_seconds=1.0)
    assert store.statistics_of_table(NAME, ["c1"], sketches=False) is None
    store.close()
