"""The guard: what jumps, and what does not."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.pending.guard import LEAST, jumps
from hmstats.model.statistics.column_statistics import ColumnStatistics, DoubleStatistics, LongStatistics

COUNTS = st.integers(0, 10**12)


def column(ndv: int | None, low: float | None = None, high: float | None = None) -> ColumnStatistics:
    return ColumnStatistics("x", "double", DoubleStatistics(low=low, high=high, nulls=0, ndv=ndv))


def judged(before: ColumnStatistics, after: ColumnStatistics, factor: float = 10) -> list[str]:
    return jumps((None, None), {"x": before}, [after], 1e9, lambda _: factor)


@given(COUNTS, st.integers(1, 9), st.booleans())
def test_a_change_within_the_factor_is_no_jump(count: int, times: int, grows: bool) -> None:
    pair = (count, count * times) if grows else (count * times, count)
    if pair[1] > 0 or pair[0] == 0:
        assert jumps(pair, {}, [], 10, lambda _: 10) == []
    assert judged(column(pair[0]), column(pair[1])) == []


@given(st.integers(LEAST, 10**9), st.integers(11, 1000))
def test_a_change_beyond_it_is_one_in_both_directions(count: int, times: int) -> None:
    for pair in ((count, count * times), (count * times, count)):
        assert len(jumps(pair, {}, [], 10, lambda _: 10)) == 1
        assert len(judged(column(pair[0]), column(pair[1]))) == 1


def test_what_is_unknown_never_jumps() -> None:
    for pair in ((None, 0), (None, 10**9), (10**9, None), (0, 10**9), (0, 0)):
        assert jumps(pair, {}, [], 10, lambda _: 10) == []
    other = ColumnStatistics("x", "bigint", LongStatistics(low=0, high=9, nulls=0, ndv=10**9))
    assert judged(other, column(1)) == []
    assert judged(column(None), column(10**9)) == []
    assert judged(column(0, 0, 9), column(10**9, 0, 9)) == judged(column(10**9, 0, 9), column(0, 0, 9)) == []
    assert judged(column(5, None, 9), column(5, 100, 100)) == []
    assert jumps((1, 1), {}, [column(10**9)], 10, lambda _: 10) == []


def test_a_table_that_falls_to_no_rows_always_does() -> None:
    assert jumps((1, 0), {}, [], 10, lambda _: 10) == ["rows fall from 1 to 0"]


def test_bounds_of_few_rows_are_no_jump() -> None:
    before, after = {"x": column(2, 1, 100)}, [column(20, 200, 300)]
    for few in ((1, 20), (LEAST - 1, LEAST - 1)):
        assert jumps(few, before, after, 10, lambda _: 10) == []
    for many in ((LEAST - 1, LEAST), (LEAST, LEAST - 1), (None, 20), (20, None)):
        assert len(jumps(many, before, after, 10, lambda _: 10)) == 1


def test_bounds() -> None:
    assert judged(column(5, 0, 100), column(5, 0, 10)) == []
    assert "shrink" in judged(column(5, 0, 100), column(5, 0, 9.9))[0]
    assert "move" in judged(column(5, 0, 100), column(5, 100.5, 200))[0]
    assert judged(column(5, 0, 100), column(5, -1e9, 1e9)) == []
    assert judged(column(5, 7, 7), column(5, 8, 8)) == []  # one value was no range
    nan = float("nan")
    assert judged(column(5, nan, nan), column(5, 8, 8)) == []
    assert judged(column(5, 0, 1), column(5, nan, nan)) == []
