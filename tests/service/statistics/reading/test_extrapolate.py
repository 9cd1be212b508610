"""Hive's linear extrapolation, worked out by hand."""

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
)
from hmstats.model.statistics.merge import MAX_I64
from hmstats.service.statistics.reading.extrapolate import Point, extrapolate

LONGS = st.integers(-MAX_I64 - 1, MAX_I64)


def points(**data: Data) -> list[Point]:
    """Points whose names say their place: p3 is at 3."""
    return [Point(int(name[1:]), each) for name, each in data.items()]


def test_bounds_that_rise_go_on_to_both_ends() -> None:
    """Of ten partitions the second has 10 to 20 and the sixth 50 to 60: a step of 10 each."""
    known = points(p1=LongStatistics(low=10, high=20), p5=LongStatistics(low=50, high=60))
    assert extrapolate(LongStatistics(low=10, high=60), known, 10) == LongStatistics(low=0, high=100)


def test_bounds_that_fall_go_on_to_both_ends() -> None:
    known = points(p1=LongStatistics(low=50, high=60), p5=LongStatistics(low=10, high=20))
    assert extrapolate(LongStatistics(low=10, high=60), known, 10) == LongStatistics(low=-30, high=70)


def test_bounds_that_stand_still_stay() -> None:
    known = points(p1=DateStatistics(low=3, high=4), p5=DateStatistics(low=3, high=4))
    assert extrapolate(DateStatistics(low=3, high=4), known, 10) == DateStatistics(low=3, high=4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6), st.randoms())
def test_the_order_in_which_partitions_are_read_does_not_matter(bounds: list[tuple[int, int]], shuffled: Any) -> None:
    known = [Point(2 * place, LongStatistics(low=low, high=high)) for place, (low, high) in enumerate(bounds)]
    expected = extrapolate(LongStatistics(), known, 20)
    shuffled.shuffle(known)
    assert extrapolate(LongStatistics(), known, 20) == expected


def test_of_equal_bounds_those_count_from_which_the_line_goes_least_beyond() -> None:
    """The line through the third and the fourth of ten would rise to 3 + 4 * 7."""
    known = points(p3=LongStatistics(high=7), p2=LongStatistics(high=3), p8=LongStatistics(high=7))
    assert extrapolate(LongStatistics(high=7), known, 10) == LongStatistics(high=7)
    known = points(p4=LongStatistics(high=7), p1=LongStatistics(high=7), p3=LongStatistics(high=3))
    assert extrapolate(LongStatistics(high=7), known, 10) == LongStatistics(high=9)


def test_a_bound_that_is_no_number_is_on_no_line() -> None:
    known = points(p0=DoubleStatistics(high=math.nan), p1=DoubleStatistics(high=10.0), p3=DoubleStatistics(high=20.0))
    assert extrapolate(DoubleStatistics(high=20.0), known, 5) == DoubleStatistics(high=25.0)


def test_counts_grow_in_proportion_and_few_are_not_lost() -> None:
    """Hive divides first: 1 null in 2 of 10 partitions would be none."""
    known = points(p0=BooleanStatistics(), p1=BooleanStatistics())
    found = extrapolate(BooleanStatistics(trues=1, falses=9, nulls=0), known, 10)
    assert found == BooleanStatistics(trues=5, falses=45, nulls=0)


def test_lengths_and_distinct_values_go_on_as_upper_bounds_do() -> None:
    known = points(
        p0=StringStatistics(max_length=4, average_length=1.0, ndv=10),
        p2=StringStatistics(max_length=8, average_length=2.0, ndv=30),
    )
    found = extrapolate(StringStatistics(max_length=8, average_length=2.0, nulls=3, ndv=30), known, 5)
    assert found == StringStatistics(max_length=12, average_length=3.0, nulls=7, ndv=50)


def test_decimals_keep_their_digits() -> None:
    low, high = Decimal("1.25"), Decimal("2.50")
    known = points(p0=DecimalStatistics(low=low, high=low), p3=DecimalStatistics(low=high, high=high))
    found: Any = extrapolate(DecimalStatistics(low=low, high=high), known, 6)
    assert (found.low, str(found.high)) == (low, "3.33")


def test_what_no_partition_knows_stays_unknown() -> None:
    known = points(p0=LongStatistics(nulls=1), p3=LongStatistics())
    assert extrapolate(LongStatistics(nulls=1), known, 4) == LongStatistics(nulls=2)


@pytest.mark.parametrize("most", [MAX_I64, 10**18])
def test_nothing_leaves_a_long(most: int) -> None:
    known = points(p0=LongStatistics(low=-most, high=-most), p1=LongStatistics(low=most, high=most))
    found: Any = extrapolate(LongStatistics(low=-most, high=most, nulls=MAX_I64), known, 10_000)
    assert found == LongStatistics(low=max(-most, -MAX_I64 - 1), high=MAX_I64, nulls=MAX_I64)


def test_doubles_do_not_become_infinite() -> None:
    known = points(p0=DoubleStatistics(low=-1e308, high=-1e308), p1=DoubleStatistics(low=1e308, high=1e308))
    found: Any = extrapolate(DoubleStatistics(low=-1e308, high=1e308), known, 100)
    assert (found.low, found.high) == (-1e308, 1e308)


@given(st.lists(st.tuples(LONGS, LONGS), min_size=2, max_size=8), st.integers(0, 20))
def test_bounds_only_widen(bounds: list[tuple[int, int]], more: int) -> None:
    sides = [(min(pair), max(pair)) for pair in bounds]
    known = [Point(place, LongStatistics(low=low, high=high)) for place, (low, high) in enumerate(sides)]
    together = LongStatistics(low=min(low for low, _ in sides), high=max(high for _, high in sides))
    found: Any = extrapolate(together, known, len(known) + more)
    assert -MAX_I64 - 1 <= found.low <= (together.low or 0)
    assert (together.high or 0) <= found.high <= MAX_I64
