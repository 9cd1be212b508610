"""Two statistics side by side."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import (
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    LongStatistics,
    StatisticsSet,
)
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.people.comparison import ComparedNumber, compare, q_error

COUNTS = st.integers(0, 2**53)


def of(rows: int | None, *columns: ColumnStatistics) -> TableStatistics:
    return TableStatistics(rows=rows, statistics=StatisticsSet(columns))


def test_every_number_is_on_both_sides() -> None:
    left = of(100, ColumnStatistics("l", "int", LongStatistics(low=1, high=9, nulls=0, ndv=10)))
    right = of(150, ColumnStatistics("l", "int", LongStatistics(low=1, high=12, nulls=4, ndv=5)))
    assert list(compare(left, right)) == [
        ComparedNumber(None, "rows", 100, 150, 1.5),
        ComparedNumber("l", "type", "int", "int"),
        ComparedNumber("l", "ndv", 10, 5, 2.0),
        ComparedNumber("l", "nulls", 0, 4, 4.0),
        ComparedNumber("l", "low", "1", "1"),
        ComparedNumber("l", "high", "9", "12"),
    ]
    assert [each.statistic for each in compare(left, right) if each.differs] == ["rows", "ndv", "nulls", "high"]


def test_a_column_of_one_side_is_unknown_on_the_other() -> None:
    day = ColumnStatistics("d", "date", DateStatistics(low=0))
    assert list(compare(of(None), of(None, day)))[1:] == [
        ComparedNumber("d", "type", None, "date"),
        ComparedNumber("d", "low", None, "1970-01-01"),
    ]


def test_a_distinct_count_of_0_beside_values_is_unknown() -> None:
    counted, uncounted = (ColumnStatistics("l", "int", LongStatistics(low=1, high=9, ndv=ndv)) for ndv in (5, 0))
    assert ComparedNumber("l", "ndv", 5, None) in list(compare(of(None, counted), of(None, uncounted)))
    assert "ndv" not in {each.statistic for each in compare(of(None, uncounted), of(None, uncounted))}


def test_zeros_at_the_end_of_a_decimal_are_no_difference() -> None:
    one, other = (
        of(None, ColumnStatistics("d", "decimal(9,2)", DecimalStatistics(low=Decimal(text))))
        for text in ("1.5", "1.50")
    )
    assert not any(each.differs for each in compare(one, other))


@given(one=COUNTS, other=COUNTS)
def test_a_q_error_is_the_same_from_both_sides(one: int, other: int) -> None:
    assert q_error(one, other) == q_error(other, one) >= 1
    assert q_error(one, one) == 1
