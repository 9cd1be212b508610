"""The guard: which new numbers jump so far from those before that a mistake is likelier than a change of the data.

Nothing jumps from unknown. Rows and distinct values jump when they change by more than a factor, bounds when their
range becomes smaller by more than it, or lies elsewhere. Counts below LEAST never jump, except for rows that fall to 0;
neither do bounds of fewer rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TypeAlias

from hmstats.model.statistics.column_statistics import ColumnStatistics, known_ndv

Bound: TypeAlias = float | Decimal
LEAST = 1_000
"""Fewer rows or values than these are too few to change any plan by much."""


def jumps(
    rows: tuple[int | None, int | None],
    before: Mapping[str, ColumnStatistics],
    after: Iterable[ColumnStatistics],
    factor: float,
    factor_of: Callable[[str], float],
) -> list[str]:
    """Sentences about every number that jumps, rows first; empty if none does.

    `rows` are those before and after. `before` is by column.
    """
    found = list(_of_rows(*rows, factor))
    are_few = all(count is not None and count < LEAST for count in rows)
    for each in after:
        old = before.get(each.column)
        if old is None or type(old.data) is not type(each.data):
            continue
        found += _of_distinct(old, each, factor_of(each.column))
        if not are_few:
            found += _of_bounds(each.column, _bounds(old), _bounds(each), factor_of(each.column))
    return found


def _of_rows(before: int | None, after: int | None, factor: float) -> Iterator[str]:
    if not before or after is None:
        return
    if after == 0:
        yield f"rows fall from {before:,} to 0"
    elif _is_jump(before, after, factor):
        yield f"rows change from {before:,} to {after:,}, by more than {factor:g} times"


def _of_distinct(before: ColumnStatistics, after: ColumnStatistics, factor: float) -> Iterator[str]:
    old, new = known_ndv(before.data), known_ndv(after.data)
    if old is not None and new is not None and _is_jump(old, new, factor):
        yield f"distinct values of {after.column} change from {old:,} to {new:,}, by more than {factor:g} times"


def _bounds(statistics: ColumnStatistics) -> tuple[Bound | None, Bound | None]:
    return getattr(statistics.data, "low", None), getattr(statistics.data, "high", None)


def _of_bounds(
    column: str, before: tuple[Bound | None, Bound | None], after: tuple[Bound | None, Bound | None], factor: float
) -> Iterator[str]:
    (old_low, old_high), (low, high) = before, after
    if old_low is None or old_high is None or low is None or high is None:
        return
    if not (old_low < old_high and low <= high):  # a single value, or no numbers
        return
    shown = f"from {old_low} .. {old_high} to {low} .. {high}"
    if high < old_low or low > old_high:
        yield f"bounds of {column} move {shown}, where none was before"
    elif float(high) - float(low) < (float(old_high) - float(old_low)) / factor:
        yield f"bounds of {column} shrink {shown}, by more than {factor:g} times"


def _is_jump(before: int, after: int, factor: float) -> bool:
    low, high = sorted((max(before, 1), max(after, 1)))
    return high >= LEAST and high > low * factor
