"""Hive's guesses at the distinct values of partitions together."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import (
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
)
from hmstats.model.statistics.merge import MAX_I64
from hmstats.service.statistics.reading.distinct import DistinctRules, density_of, distinct_values

LARGEST, HALF, SUM = (DistinctRules(tuner=tuner) for tuner in (0.0, 0.5, 1.0))
DENSITY = DistinctRules(density=True)


def test_the_tuner_says_where_between_the_largest_and_the_sum() -> None:
    data = LongStatistics(low=0, high=1000, ndv=30)
    assert [distinct_values(data, 80, None, rules) for rules in (LARGEST, HALF, SUM)] == [30, 55, 80]


def test_whole_numbers_have_no_more_values_than_their_range() -> None:
    for data in (LongStatistics(low=1, high=40, ndv=30), DateStatistics(low=1, high=40, ndv=30)):
        assert distinct_values(data, 80, None, SUM) == 40
    assert distinct_values(DoubleStatistics(low=1.0, high=40.0, ndv=30), 80, None, SUM) == 80
    assert distinct_values(DecimalStatistics(low=Decimal(1), high=Decimal(40), ndv=30), 80, None, SUM) == 80


def test_texts_have_as_many_as_the_largest_partition() -> None:
    assert distinct_values(StringStatistics(ndv=30), 80, None, SUM) == 30


def test_the_density_says_how_many_fit_between_the_bounds() -> None:
    """Values 10 apart, from 0 to 500: 50 of them, which is between 30 and 80."""
    partitions = [LongStatistics(low=0, high=200, ndv=20), LongStatistics(low=200, high=500, ndv=30)]
    density = density_of(partitions)
    assert density == 10
    assert distinct_values(LongStatistics(low=0, high=500, ndv=30), 80, density, DENSITY) == 50


def test_the_density_never_leaves_the_limits() -> None:
    data = LongStatistics(low=0, high=1000, ndv=30)
    assert distinct_values(data, 80, 0.001, DENSITY) == 80
    assert distinct_values(data, 80, 1e6, DENSITY) == 30


def test_without_a_density_the_tuner_answers() -> None:
    for density in (None, 0.0):
        rules = DistinctRules(density=True, tuner=0.5)
        assert distinct_values(LongStatistics(low=0, high=1000, ndv=30), 80, density, rules) == 55


def test_partitions_without_values_have_no_density() -> None:
    assert (
        density_of([LongStatistics(low=1, high=2, ndv=0), LongStatistics(ndv=3), LongStatistics(low=1, high=2)]) is None
    )


def test_nothing_known_is_nothing() -> None:
    assert distinct_values(LongStatistics(low=1, high=2), 0, None, SUM) is None


@pytest.mark.parametrize(
    "data",
    [
        LongStatistics(low=-MAX_I64 - 1, high=MAX_I64, ndv=MAX_I64),
        DoubleStatistics(low=-1.7e308, high=1.7e308, ndv=MAX_I64),
        DoubleStatistics(low=float("-inf"), high=float("inf"), ndv=3),
        DoubleStatistics(low=float("inf"), high=float("inf"), ndv=3),
        DecimalStatistics(low=Decimal("-1E+400"), high=Decimal("1E+400"), ndv=3),
    ],
)
def test_the_widest_bounds_are_no_trouble(data: Any) -> None:
    found = distinct_values(data, MAX_I64, density_of([data]), DENSITY)
    assert found is not None
    assert data.ndv <= found <= MAX_I64


@given(
    st.floats(0, 1), st.integers(0, MAX_I64), st.integers(0, MAX_I64), st.none() | st.floats(0, allow_infinity=True),
    st.floats(allow_nan=False), st.floats(allow_nan=False), st.booleans(),
)  # fmt: skip
def test_the_guess_lies_between_the_largest_and_the_sum(
    tuner: float, least: int, more: int, density: float | None, low: float, high: float, by_density: bool
) -> None:
    most = min(least + more, MAX_I64)
    rules = DistinctRules(density=by_density, tuner=tuner)
    found = distinct_values(DoubleStatistics(low=low, high=high, ndv=least), most, density, rules)
    assert found is not None
    assert least <= found <= most
