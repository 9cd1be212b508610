"""Column statistics in Spark's form and in the metastore's."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outlets.spark.test_spark_bounds import CASES

from hmstats.model.spark.spark_statistics import SparkColumn
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    LongStatistics,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.model.statistics.column_types import kind_of
from hmstats.outlets.spark.spark_columns import from_spark, to_spark
from hmstats.sketch.quantiles.kll import KllHistogram

COUNTS = st.none() | st.integers(0, 10**17)
DISTINCT = st.none() | st.integers(1, 10**17)
ROWS = 10


@st.composite
def numbers(draw: st.DrawFn) -> ColumnStatistics:
    """Statistics of a column of numbers or times, as a writer without sketches sends them."""
    column_type, kind, bounds = draw(st.sampled_from(CASES))
    either = st.none() | bounds
    made: Any = DATA_CLASSES[kind]
    data = made(low=draw(either), high=draw(either), nulls=draw(COUNTS), ndv=draw(DISTINCT))
    return ColumnStatistics("c", column_type, data)


@given(numbers())
def test_numbers_and_times_come_back(statistics: ColumnStatistics) -> None:
    spark = to_spark(statistics, ROWS)
    assert from_spark("c", statistics.column_type, spark, ROWS) == statistics


@given(COUNTS, COUNTS, COUNTS, DISTINCT)
def test_texts_and_bytes_come_back(
    longest: int | None, average: int | None, nulls: int | None, ndv: int | None
) -> None:
    mean = None if average is None else float(average)
    data = StringStatistics(max_length=longest, average_length=mean, nulls=nulls, ndv=ndv)
    binary = BinaryStatistics(max_length=longest, average_length=mean, nulls=nulls)
    for statistics in (
        ColumnStatistics("c", "string", data),
        ColumnStatistics("c", "varchar(7)", data),
        ColumnStatistics("c", "binary", binary),
    ):
        assert from_spark("c", statistics.column_type, to_spark(statistics, None), None) == statistics


def test_spark_is_told_no_distinct_count_that_is_unknown() -> None:
    assert to_spark(ColumnStatistics("c", "int", LongStatistics(low=1, high=9, ndv=0)), ROWS).distinct is None
    assert to_spark(ColumnStatistics("c", "string", StringStatistics(max_length=3, ndv=0)), ROWS).distinct is None
    assert to_spark(ColumnStatistics("c", "int", LongStatistics(nulls=9, ndv=0)), ROWS).distinct == 0


@pytest.mark.parametrize(
    ("trues", "falses", "low", "high", "distinct"),
    [(3, 0, "true", "true", 1), (0, 3, "false", "false", 1), (0, 0, None, None, 0)],
)
def test_booleans_that_are_all_the_same_come_back(
    trues: int, falses: int, low: str | None, high: str | None, distinct: int
) -> None:
    nulls = ROWS - trues - falses
    statistics = ColumnStatistics("c", "boolean", BooleanStatistics(trues=trues, falses=falses, nulls=nulls))
    spark = to_spark(statistics, ROWS)
    assert (spark.low, spark.high, spark.distinct, spark.nulls) == (low, high, distinct, nulls)
    assert from_spark("c", "boolean", spark, ROWS) == statistics


def test_of_both_booleans_spark_counts_none() -> None:
    spark = SparkColumn(low="false", high="true", distinct=2, nulls=1)
    found = from_spark("c", "boolean", spark, ROWS)
    assert found == ColumnStatistics("c", "boolean", BooleanStatistics(nulls=1))
    assert to_spark(ColumnStatistics("c", "boolean", BooleanStatistics(trues=4, falses=5, nulls=1)), ROWS) == replace(
        spark, average_length=1, max_length=1
    )
    assert to_spark(ColumnStatistics("c", "boolean", BooleanStatistics(nulls=1)), ROWS).distinct is None


@pytest.mark.parametrize(
    ("column_type", "length"),
    [
        ("boolean", 1),
        ("tinyint", 1),
        ("smallint", 2),
        ("int", 4),
        ("bigint", 8),
        ("float", 4),
        ("double", 8),
        ("decimal(12,2)", 8),
        ("decimal(30,5)", 16),
        ("decimal", 8),
        ("date", 4),
        ("timestamp", 8),
    ],
)
def test_values_of_one_size_have_sparks_length(column_type: str, length: int) -> None:
    """As Spark 4.3 stores them."""
    kind = kind_of(column_type)
    assert kind is not None
    spark = to_spark(ColumnStatistics("c", column_type, DATA_CLASSES[kind]()), ROWS)
    assert (spark.average_length, spark.max_length) == (length, length)


def test_the_average_length_is_rounded_up() -> None:
    spark = to_spark(ColumnStatistics("c", "string", StringStatistics(average_length=3.25)), ROWS)
    assert spark.average_length == 4


def test_types_without_statistics_have_none() -> None:
    assert from_spark("c", "array<int>", SparkColumn(distinct=1), ROWS) is None


def _sketch(*values: float) -> bytes:
    sketch = KllHistogram()
    sketch.add(np.array(values))
    return sketch.to_bytes()


def test_quantiles_become_a_histogram() -> None:
    data = LongStatistics(low=1, high=10, nulls=2, ndv=10, histogram=_sketch(*range(1, 11)))
    found = to_spark(ColumnStatistics("c", "int", data), 12).histogram
    assert found is not None
    assert (found.low[0], found.high[-1], len(found.low)) == (1.0, 10.0, 254)
    assert found.height == 10 / 254


def test_times_are_in_sparks_unit() -> None:
    data = TimestampStatistics(low=0, high=20, nulls=0, ndv=2, histogram=_sketch(0, 20))
    found = to_spark(ColumnStatistics("c", "timestamp", data), 2).histogram
    assert found is not None
    assert (found.low[0], found.high[-1]) == (0.0, 20e6)
    days = DateStatistics(low=0, high=20, nulls=0, ndv=2, histogram=_sketch(0, 20))
    found = to_spark(ColumnStatistics("c", "date", days), 2).histogram
    assert found is not None
    assert found.high[-1] == 20.0


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (LongStatistics(low=1, high=2, histogram=b"no sketch"), 5),
        (LongStatistics(low=None, high=2, histogram=_sketch(1, 2)), 5),
        (LongStatistics(low=1, high=2, histogram=_sketch(1, 2)), None),
        (LongStatistics(low=1, high=2, histogram=_sketch()), 5),
        (LongStatistics(low=1, high=2, nulls=5, histogram=_sketch(1, 2)), 5),
    ],
)
def test_without_all_that_it_takes_there_is_no_histogram(data: LongStatistics, rows: int | None) -> None:
    assert to_spark(ColumnStatistics("c", "int", data), rows).histogram is None


def test_a_decimal_keeps_its_digits() -> None:
    found = from_spark("c", "decimal(12,2)", SparkColumn(low="0.00", high="1498.50", distinct=3), ROWS)
    assert found is not None
    assert found.data == DecimalStatistics(low=Decimal("0.00"), high=Decimal("1498.50"), ndv=3)
    assert (to_spark(found, ROWS).low, to_spark(found, ROWS).high) == ("0.00", "1498.50")
