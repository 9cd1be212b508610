"""The flat table, as DuckDB reads it."""

from dataclasses import replace
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.outlets.strategies import table_statistics

from hmstats.errors import SketchError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    TimestampStatistics,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import data_statistics
from hmstats.outlets.people.flat_table import FRACTIONS, SCHEMA, statistics_table

NAME = TableName("hive", "db", "t")


def query(table: pa.Table, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.register("statistics", table)
        return connection.execute(sql).fetchall()


def test_duckdb_reads_a_row_for_the_whole_and_for_each_column() -> None:
    data = pa.table({"a": [1, 5, 5, None], "b": [True, None, False, True]})
    found = replace(data_statistics(data), name=NAME)
    table = statistics_table([found, replace(found, statistics=replace(found.statistics, partition="k=1"))])
    assert table.schema == SCHEMA
    rows = query(
        table,
        "SELECT table_name, partition_name, column_name, column_type, row_count, null_count, distinct_count, "
        "min_value, max_number, true_count, quantiles, "
        "list_transform(top_values, lambda each: (each.value, each.high)) FROM statistics",
    )
    a = ("a", "bigint", 4, 1, 2, "1", 5.0, None, [1.0, 1.0, 5.0, 5.0, 5.0], [("5", 2), ("1", 1)])
    b = ("b", "boolean", 4, 1, None, None, None, 2, None, [("true", 2), ("false", 1)])
    whole = (None, None, 4, *[None] * 7)
    assert rows == [("t", partition, *each) for partition in (None, "k=1") for each in (whole, a, b)]


def test_a_distinct_count_of_0_beside_values_is_unknown() -> None:
    columns = [ColumnStatistics("l", "int", each) for each in (LongStatistics(low=1, ndv=0), LongStatistics(ndv=0))]
    table = statistics_table([TableStatistics(statistics=StatisticsSet(tuple(columns)))])
    assert table["distinct_count"].to_pylist()[1:] == [None, 0]


@pytest.mark.parametrize(
    ("type_", "data", "text", "number"),
    [
        ("bigint", LongStatistics(low=-(2**63)), "-9223372036854775808", -(2.0**63)),
        ("double", DoubleStatistics(low=1e300), "1e+300", 1e300),
        ("decimal(9,3)", DecimalStatistics(low=Decimal("1.500")), "1.5", 1.5),
        ("date", DateStatistics(low=-1), "1969-12-31", -1.0),
        ("date", DateStatistics(low=2**31), "2147483648", 2.0**31),
        ("timestamp", TimestampStatistics(low=90_061), "1970-01-02 01:01:01", 90_061.0),
        ("timestamp", TimestampStatistics(low=-(2**60)), str(-(2**60)), -(2.0**60)),
        ("boolean", BooleanStatistics(trues=1), None, None),
    ],
)
def test_bounds_are_text_and_numbers(type_: str, data: Data, text: str | None, number: float | None) -> None:
    statistics = StatisticsSet((ColumnStatistics("c", type_, data),))
    row = statistics_table([TableStatistics(statistics=statistics)]).to_pylist()[1]
    assert (row["min_value"], row["min_number"]) == (text, number)
    assert (row["max_value"], row["max_number"]) == (None, None)


def test_provenance_and_times() -> None:
    made = Provenance(exact=False, ndv_standard_error=0.016, writer="ada", tool="hmstats 1", written_at_seconds=86_400)
    column = ColumnStatistics("c", "int", LongStatistics(), None, made)
    statistics = StatisticsSet((column,), None, "impala", 60)
    (row,) = query(
        statistics_table([TableStatistics(name=NAME, statistics=statistics)]),
        "SELECT engine, all_exact, distinct_count_standard_error, writer, tool, epoch(written_at), "
        "epoch(last_analyzed) FROM statistics WHERE column_name = 'c'",
    )
    assert row == ("impala", False, 0.016, "ada", "hmstats 1", 86_400.0, 60.0)


def test_nothing_is_a_table_without_rows() -> None:
    assert statistics_table([]).schema == SCHEMA
    assert statistics_table([]).num_rows == 0
    assert FRACTIONS == (0.0, 0.25, 0.5, 0.75, 1.0)


def test_a_corrupt_sketch_is_named() -> None:
    column = ColumnStatistics("c", "int", LongStatistics(histogram=b"corrupt"))
    with pytest.raises(SketchError):
        statistics_table([TableStatistics(statistics=StatisticsSet((column,)))])


@settings(max_examples=40)
@given(table_statistics())
def test_every_column_has_its_row(found: TableStatistics) -> None:
    columns = (replace(each, top_k=None) for each in found.statistics.columns)
    plain = tuple(each for each in columns if getattr(each.data, "histogram", None) is None)
    given_statistics = replace(found, statistics=replace(found.statistics, columns=plain))
    table = statistics_table([given_statistics])
    rows = table.select(["column_name", "null_count", "row_count"]).to_pylist()
    assert [row["column_name"] for row in rows] == [None, *(each.column for each in plain)]
    assert [row["null_count"] for row in rows[1:]] == [each.data.nulls for each in plain]
    assert {row["row_count"] for row in rows} == {found.rows}
