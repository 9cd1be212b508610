import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import COLUMNS, NAME, TABLE, make_partitions, make_table, partition
from tests.wire.strategies import column_statistics as columns_of_any_kind

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import PART_COL_STATS, TAB_COL_STATS
from hmstats.store.statistics import column_statistics
from hmstats.store.unit.unit import Unit

FULL = LongStatistics(low=-5, high=2**63 - 1, nulls=3, ndv=9, bit_vector=b"HLL", histogram=b"\x00\xff")
OF_EVERY_KIND: dict[str, Data] = {
    "boolean": BooleanStatistics(trues=1, falses=2, nulls=3),
    "bigint": FULL,
    "double": DoubleStatistics(low=-1.5, high=math.inf, nulls=1, ndv=2, bit_vector=b"v", histogram=b"h"),
    "decimal(12,2)": DecimalStatistics(
        low=Decimal("-1.50"), high=Decimal("7E+3"), nulls=1, ndv=2, bit_vector=b"v", histogram=b"h"
    ),
    "varchar(9)": StringStatistics(max_length=9, average_length=2.5, nulls=1, ndv=2, bit_vector=b"v"),
    "binary": BinaryStatistics(max_length=9, average_length=2.5, nulls=1),
    "date": DateStatistics(low=-1, high=20_000, nulls=1, ndv=2, bit_vector=b"v", histogram=b"h"),
    "timestamp": TimestampStatistics(low=-1, high=2**40, nulls=1, ndv=2, bit_vector=b"v", histogram=b"h"),
}
WRITTEN = {
    "boolean": {"NUM_TRUES", "NUM_FALSES", "NUM_NULLS"},
    "bigint": {"LONG_LOW_VALUE", "LONG_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "BIT_VECTOR", "HISTOGRAM"},
    "double": {"DOUBLE_LOW_VALUE", "DOUBLE_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "BIT_VECTOR", "HISTOGRAM"},
    "decimal(12,2)": {
        "BIG_DECIMAL_LOW_VALUE",
        "BIG_DECIMAL_HIGH_VALUE",
        "NUM_NULLS",
        "NUM_DISTINCTS",
        "BIT_VECTOR",
        "HISTOGRAM",
    },
    "varchar(9)": {"AVG_COL_LEN", "MAX_COL_LEN", "NUM_NULLS", "NUM_DISTINCTS", "BIT_VECTOR"},
    "binary": {"AVG_COL_LEN", "MAX_COL_LEN", "NUM_NULLS"},
    "date": {"LONG_LOW_VALUE", "LONG_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "BIT_VECTOR", "HISTOGRAM"},
    "timestamp": {"LONG_LOW_VALUE", "LONG_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS", "BIT_VECTOR", "HISTOGRAM"},
}
"""Hive's columns for each kind; every other one is NULL."""
DESCRIBING = {"CS_ID", "CAT_NAME", "DB_NAME", "TABLE_NAME", "COLUMN_NAME", "COLUMN_TYPE", "TBL_ID"} | {
    "LAST_ANALYZED",
    "ENGINE",
}


def statistics(data: Data = FULL, column_type: str = "bigint", *, column: str = "c", **more: Any) -> StatisticsSet:
    return StatisticsSet((ColumnStatistics(column, column_type, data),), **more)


def write(store: Store, table_id: int, *sets: StatisticsSet) -> None:
    for each in sets:
        store.write(partial(column_statistics.write_table, table_id=table_id, name=NAME, statistics=each))


def write_partitions(store: Store, sets: Mapping[int, StatisticsSet]) -> None:
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, sets))


def read(
    store: Store, table_id: int, columns: Sequence[str] | None = None, engine: str | None = None
) -> list[StatisticsSet]:
    with store.read() as connection:
        return column_statistics.read_table(connection, table_id, columns, engine)


def read_one(store: Store, table_id: int) -> Any:
    (found,) = read(store, table_id)
    (column,) = found.columns
    return column.data


def read_partitions(
    store: Store,
    table_id: int,
    names: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    engine: str | None = None,
) -> dict[str, list[StatisticsSet]]:
    with store.read() as connection:
        return column_statistics.read_partitions(connection, table_id, names, columns, engine)


def rows(store: Store) -> list[Any]:
    with store.read() as connection:
        return list(connection.execute(select(TAB_COL_STATS)).mappings())


def overwrite(store: Store, **values: Any) -> None:
    """Change the stored rows as another program would."""
    store.write(lambda unit: unit.connection.execute(update(TAB_COL_STATS).values(values)))


def in_order(given: StatisticsSet) -> StatisticsSet:
    return replace(given, columns=tuple(sorted(given.columns, key=lambda each: each.column)))


@pytest.fixture
def table_id(store: Store) -> int:
    return make_table(store)


@pytest.fixture
def partition_ids(store: Store, table_id: int) -> dict[str, int]:
    return make_partitions(store, table_id, "1", "2", "3")


def is_told_from_nothing(column: ColumnStatistics) -> bool:
    """Two bytes are what Hive stores for no bit vector."""
    return getattr(column.data, "bit_vector", None) != b"HL"


def _delete_all(unit: Unit, *, table_id: int, partition_id: int) -> None:
    """As every change does, it counts: the history knows no two changes of a version in one millisecond."""
    column_statistics.delete_tables(unit, [table_id], None, None)
    column_statistics.delete_partitions(unit, [partition_id], None, None)
    versions.bump(unit, table_id)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    columns=st.lists(
        columns_of_any_kind().filter(is_told_from_nothing), min_size=1, max_size=5, unique_by=lambda each: each.column
    ).map(tuple),
    engine=st.sampled_from(["hive", "impala"]),
)
def test_statistics_come_back_as_they_were_written(
    store: Store, table_id: int, partition_ids: dict[str, int], columns: tuple[ColumnStatistics, ...], engine: str
) -> None:
    of_table = StatisticsSet(columns, None, engine, 5)
    of_partition = replace(of_table, partition="p=1")
    write(store, table_id, of_table)
    write_partitions(store, {partition_ids["p=1"]: of_partition})
    (table_read,) = read(store, table_id)
    (partition_read,) = read_partitions(store, table_id, ["p=1"])["p=1"]
    store.write(partial(_delete_all, table_id=table_id, partition_id=partition_ids["p=1"]))
    assert in_order(table_read) == in_order(of_table)
    assert in_order(partition_read) == in_order(of_partition)


@pytest.mark.parametrize("column_type", OF_EVERY_KIND)
def test_a_kind_fills_the_columns_that_hive_fills(store: Store, table_id: int, column_type: str) -> None:
    write(store, table_id, statistics(OF_EVERY_KIND[column_type], column_type))
    (row,) = rows(store)
    assert {name for name, value in row.items() if value is not None} == DESCRIBING | WRITTEN[column_type]


@pytest.mark.parametrize("column_type", OF_EVERY_KIND)
def test_what_is_unknown_comes_back_unknown(store: Store, table_id: int, column_type: str) -> None:
    unknown = type(OF_EVERY_KIND[column_type])()
    write(store, table_id, statistics(unknown, column_type))
    assert read_one(store, table_id) == unknown


def test_bounds_that_are_no_number_are_kept(store: Store, table_id: int) -> None:
    write(store, table_id, statistics(DoubleStatistics(low=1.0, high=2.0, nulls=0), "double"))
    write(store, table_id, statistics(DoubleStatistics(low=math.nan, high=-math.inf, nulls=0), "double"))
    data = read_one(store, table_id)
    assert math.isnan(data.low)
    assert data.high == -math.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [("1.50", "1.50"), ("-0.0000001", "-1E-7"), ("1E+5", "1E+5"), ("0E-10", "0E-10"), ("9" * 38, "9" * 38)],
)
def test_decimals_are_stored_as_java_writes_them(store: Store, table_id: int, value: str, text: str) -> None:
    write(store, table_id, statistics(DecimalStatistics(low=Decimal(value), nulls=0), "decimal(38,10)"))
    assert rows(store)[0]["BIG_DECIMAL_LOW_VALUE"] == text
    assert str(read_one(store, table_id).low) == text


def test_what_hive_stores_for_nothing_is_nothing(store: Store, table_id: int) -> None:
    write(store, table_id, statistics())
    overwrite(store, BIT_VECTOR=b"HL", HISTOGRAM=b"", NUM_NULLS=-1)
    assert read_one(store, table_id) == replace(FULL, bit_vector=None, histogram=None, nulls=None)


@pytest.mark.parametrize("text", ["", "abc", "NaN", "Infinity"])
def test_a_stored_decimal_that_is_no_number_is_unknown(store: Store, table_id: int, text: str) -> None:
    write(store, table_id, statistics(DecimalStatistics(high=Decimal(2), nulls=0), "decimal(5,1)"))
    overwrite(store, BIG_DECIMAL_LOW_VALUE=text)
    assert read_one(store, table_id) == DecimalStatistics(high=Decimal(2), nulls=0)


@pytest.mark.parametrize("column_type", [None, "array<int>", "interval_day_time"])
def test_rows_of_types_without_statistics_are_passed_over(store: Store, table_id: int, column_type: str | None) -> None:
    write(store, table_id, statistics())
    overwrite(store, COLUMN_TYPE=column_type)
    assert read(store, table_id) == []
    write(store, table_id, statistics(column="d"))
    assert [each.column for each in read(store, table_id)[0].columns] == ["d"]


def test_a_partition_with_rows_of_such_types_alone_has_no_statistics(
    store: Store, table_id: int, partition_ids: dict[str, int]
) -> None:
    write_partitions(store, {each: statistics(partition=name) for name, each in partition_ids.items()})
    other = update(PART_COL_STATS).where(PART_COL_STATS.c.PARTITION_NAME == "p=2").values(COLUMN_TYPE="map<int,int>")
    store.write(lambda unit: unit.connection.execute(other))
    assert list(read_partitions(store, table_id)) == ["p=1", "p=3"]


def test_of_what_is_replaced_nothing_stays(store: Store, table_id: int, partition_ids: dict[str, int]) -> None:
    owners = {each: statistics(partition=name) for name, each in partition_ids.items()}
    write(store, table_id, statistics(last_analyzed_seconds=1))
    write_partitions(store, owners)
    later = LongStatistics(low=None, nulls=7)
    store.write(lambda unit: column_statistics.write_table(unit, table_id, NAME, statistics(later), replaces=True))
    of_partitions = {owner: replace(each, columns=statistics(later).columns) for owner, each in owners.items()}
    store.write(lambda unit: column_statistics.write_partitions(unit, NAME, of_partitions, replaces=True))
    assert read_one(store, table_id) == later
    assert {each.columns[0].data for found in read_partitions(store, table_id).values() for each in found} == {later}


def test_what_a_later_write_does_not_know_stays_but_for_counts(store: Store, table_id: int) -> None:
    write(store, table_id, statistics(last_analyzed_seconds=1))
    first = rows(store)[0]["CS_ID"]
    write(store, table_id, statistics(LongStatistics(low=0, nulls=7), last_analyzed_seconds=2))
    assert read(store, table_id) == [statistics(replace(FULL, low=0, nulls=7, ndv=None), last_analyzed_seconds=2)]
    assert [row["CS_ID"] for row in rows(store)] == [first]


@pytest.mark.parametrize(
    ("data", "column_type"),
    [
        (DateStatistics(high=4, nulls=1), "date"),
        (StringStatistics(max_length=4, nulls=1), "string"),
        (BooleanStatistics(nulls=1), "boolean"),
    ],
)
def test_another_type_makes_the_row_new(store: Store, table_id: int, data: Data, column_type: str) -> None:
    write(store, table_id, statistics(), statistics(data, column_type))
    assert read_one(store, table_id) == data
    assert rows(store)[0]["COLUMN_TYPE"] == column_type
    write(store, table_id, statistics(LongStatistics(nulls=0)))
    assert read_one(store, table_id) == LongStatistics(nulls=0)


def test_a_write_is_stamped_with_the_time_of_its_unit(database_url: str) -> None:
    store = Store.open(database_url, clock=lambda: 1_700_000_000.9)
    table_id = make_table(store)
    write(store, table_id, statistics())
    assert read(store, table_id)[0].last_analyzed_seconds == 1_700_000_000
    write(store, table_id, statistics(last_analyzed_seconds=5))
    assert read(store, table_id)[0].last_analyzed_seconds == 5
    store.close()


def test_engines_have_statistics_of_their_own(store: Store, table_id: int) -> None:
    ours, theirs = (
        statistics(last_analyzed_seconds=1),
        statistics(LongStatistics(nulls=1), engine="impala", last_analyzed_seconds=2),
    )
    write(store, table_id, ours, theirs)
    assert sorted(read(store, table_id), key=lambda each: each.engine) == [ours, theirs]
    assert read(store, table_id, engine="impala") == [theirs]
    assert read(store, table_id, engine="spark") == []


def test_asked_columns_come_with_the_time_of_the_oldest(store: Store, table_id: int) -> None:
    for seconds, column in enumerate("abc", start=1):
        write(store, table_id, statistics(column=column, last_analyzed_seconds=seconds))
    (found,) = read(store, table_id, ["b", "c", "zz"])
    assert {each.column for each in found.columns} == {"b", "c"}
    assert found.last_analyzed_seconds == 2
    assert read(store, table_id, []) == []
    assert len(read(store, table_id)[0].columns) == 3


def test_partitions_come_by_name_and_belong_to_their_table(
    store: Store, table_id: int, partition_ids: dict[str, int]
) -> None:
    other = make_table(store, replace(TABLE, name=replace(NAME, table="t2")))
    others = make_partitions(store, other, "1")
    sets = {name: statistics(LongStatistics(low=each, nulls=0), partition=name) for name, each in partition_ids.items()}
    write_partitions(store, {partition_ids[name]: sets[name] for name in ("p=3", "p=1")})
    write_partitions(store, {others["p=1"]: statistics(partition="p=1")})
    found = read_partitions(store, table_id)
    assert list(found) == ["p=1", "p=3"]
    assert {name: each[0].columns for name, each in found.items()} == {name: sets[name].columns for name in found}
    assert [each[0].partition for each in found.values()] == ["p=1", "p=3"]
    assert set(read_partitions(store, table_id, ["p=3", "p=2", "p=9"])) == {"p=3"}
    assert read_partitions(store, table_id, ["p=1"], ["c"], "impala") == {}
    assert read_partitions(store, table_id, ["p=1"], ["d"]) == {}
    assert read_partitions(store, table_id, []) == {}


def test_rows_say_names_beside_ids_and_follow_a_rename(
    store: Store, table_id: int, partition_ids: dict[str, int]
) -> None:
    write(store, table_id, statistics())
    write_partitions(store, {partition_ids["p=2"]: statistics(partition="p=2")})
    p = PART_COL_STATS.c
    of_partitions = select(p.CAT_NAME, p.DB_NAME, p.TABLE_NAME, p.PARTITION_NAME, p.PART_ID)
    of_tables = select(*(TAB_COL_STATS.c[name] for name in ("CAT_NAME", "DB_NAME", "TABLE_NAME", "TBL_ID")))
    with store.read() as connection:
        assert connection.execute(of_partitions).all() == [("hive", "default", "t", "p=2", partition_ids["p=2"])]
        assert connection.execute(of_tables).all() == [("hive", "default", "t", table_id)]
    store.write(lambda unit: column_statistics.rename_table(unit, table_id, TableName("cat", "db", "new")))
    with store.read() as connection:
        assert connection.execute(of_partitions).all() == [("cat", "db", "new", "p=2", partition_ids["p=2"])]
        assert connection.execute(of_tables).all() == [("cat", "db", "new", table_id)]


@pytest.mark.parametrize(
    ("columns", "engine", "left"),
    [
        (None, None, set()),
        (["a"], None, {("b", "hive"), ("b", "impala")}),
        (None, "hive", {("a", "impala"), ("b", "impala")}),
        (["a", "zz"], "impala", {("a", "hive"), ("b", "hive"), ("b", "impala")}),
        ([], None, {("a", "hive"), ("a", "impala"), ("b", "hive"), ("b", "impala")}),
    ],
)
def test_what_is_deleted_is_counted_and_nothing_else_goes(
    store: Store,
    table_id: int,
    partition_ids: dict[str, int],
    columns: list[str] | None,
    engine: str | None,
    left: set[tuple[str, str]],
) -> None:
    for column, each in ((c, e) for c in "ab" for e in ("hive", "impala")):
        write(store, table_id, statistics(column=column, engine=each))
        sets = {p: statistics(column=column, engine=each, partition=name) for name, p in partition_ids.items()}
        write_partitions(store, sets)
    gone = store.write(lambda unit: column_statistics.delete_tables(unit, [table_id], columns, engine))
    assert gone == 4 - len(left)
    assert {(each["COLUMN_NAME"], each["ENGINE"]) for each in rows(store)} == left
    some = [partition_ids["p=1"], partition_ids["p=2"]]
    gone = store.write(lambda unit: column_statistics.delete_partitions(unit, some, columns, engine))
    assert gone == 2 * (4 - len(left))
    found = read_partitions(store, table_id)
    assert sum(len(each.columns) for each in found["p=3"]) == 4
    assert {(c.column, each.engine) for each in found.get("p=1", []) for c in each.columns} == left


def test_two_writers_of_one_column_leave_one_row(store: Store, table_id: int) -> None:
    wide = StatisticsSet(tuple(ColumnStatistics(f"c{index}", "bigint", FULL) for index in range(30)))
    backwards = replace(wide, columns=wide.columns[::-1])
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda index: write(store, table_id, (wide, backwards)[index % 2]), range(12)))
    assert sorted(each["COLUMN_NAME"] for each in rows(store)) == sorted(each.column for each in wide.columns)
    assert in_order(replace(read(store, table_id)[0], last_analyzed_seconds=None)) == in_order(wide)


def test_many_partitions_are_read_in_one_statement_and_written_in_one_for_a_thousand_rows(
    store: Store, table_id: int, statements: StatementCounter
) -> None:
    new = {f"p={index:04}": partition(f"{index:04}") for index in range(1000)}
    store.write(lambda unit: partitions.insert_many(unit, table_id, COLUMNS, new))
    with store.read() as connection:
        ids = partitions.find_ids(connection, table_id, list(new))
    columns = tuple(ColumnStatistics(column, "bigint", FULL) for column in ("a", "b"))
    writing = []
    for size in (1, 1000):
        sets = {ids[name]: StatisticsSet(columns, name) for name in list(new)[:size]}
        with statements() as sent:
            write_partitions(store, sets)
        writing.append(sum(each.startswith(('INSERT INTO "PART_COL_STATS"', "PREPARE", "EXECUTE")) for each in sent))
        assert len(sent) - writing[-1] <= 3  # ids
        with statements() as reading:
            found = read_partitions(store, table_id, list(new)[:size], ["a", "b"], "hive")
        assert len(found) == size
        assert len(reading) == 1
    assert writing[0] == 1
    assert writing[1] <= 2
    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(PART_COL_STATS)).scalar_one() == 2000


def test_writing_nothing_writes_nothing(store: Store, table_id: int, statements: StatementCounter) -> None:
    with statements() as sent:
        write(store, table_id, StatisticsSet(()))
        write_partitions(store, {})
    assert sent == []


def test_sketches_can_stay_in_the_database(
    store: Store, table_id: int, partition_ids: dict[str, int], statements: StatementCounter
) -> None:
    write(store, table_id, statistics())
    write_partitions(store, {partition_ids["p=1"]: statistics(partition="p=1")})
    bare = replace(FULL, bit_vector=None, histogram=None)
    with statements() as sent, store.read() as connection:
        (of_table,) = column_statistics.read_table(connection, table_id, None, None, sketches=False)
        of_partitions = column_statistics.read_partitions(connection, table_id, None, None, None, sketches=False)
    assert of_table.columns[0].data == of_partitions["p=1"][0].columns[0].data == bare
    assert not any("BIT_VECTOR" in each or "HISTOGRAM" in each for each in sent)
    assert read_one(store, table_id) == FULL
