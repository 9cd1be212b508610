"""Compares two statistics: the differences, and their factors.

The q-error of two counts is the greater divided by the smaller (Moerkotte, Neumann, Steidl 2009); a planner's estimate
is off by the same factor. A count of 0 counts as 1, so that it is always defined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, known_ndv
from hmstats.model.statistics.provenance import tools_that_counted
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.people.flat_table import bound_text

COUNTS = ("ndv", "nulls", "trues", "falses", "max_length", "average_length")
BOUNDS = ("low", "high")


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """One number on both sides, None where it is unknown; of the rows as a whole where `column` is None.

    The tools are the programs that made the column's statistics, None if unknown.
    """

    column: str | None
    statistic: str
    left: Any
    right: Any
    q_error: float | None = None
    left_tool: str | None = None
    right_tool: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the sides differ."""
        return bool(self.left != self.right)


def compare(left: TableStatistics, right: TableStatistics) -> Iterator[ComparedNumber]:
    """The number of rows, then what each column has on either side, in the left one's order."""
    rows = _counts(None, "rows", left.rows, right.rows)
    yield replace(rows, left_tool=_tool_of_rows(left), right_tool=_tool_of_rows(right))
    lefts, rights = _by_column(left), _by_column(right)
    for name in {**lefts, **rights}:
        one, other = lefts.get(name), rights.get(name)
        left_tool, right_tool = (each.tool if each else None for each in (one, other))
        for number in _of_column(name, one, other):
            yield replace(number, left_tool=left_tool, right_tool=right_tool)


def q_error(one: float, other: float) -> float:
    """By which factor two counts differ, at least 1."""
    low, high = sorted((max(one, 1.0), max(other, 1.0)))
    return high / low


def _tool_of_rows(side: TableStatistics) -> str | None:
    """The program that counted the rows, None if nobody or more than one tells."""
    made = (each.provenance for each in side.statistics.columns if each.provenance)
    found = () if side.rows is None else tools_that_counted(side.rows, made)
    return found[0] if len(found) == 1 else None


def _of_column(name: str, left: ColumnStatistics | None, right: ColumnStatistics | None) -> Iterator[ComparedNumber]:
    yield ComparedNumber(name, "type", left and left.column_type, right and right.column_type)
    for statistic in COUNTS:
        one, other = _value(left, statistic), _value(right, statistic)
        if one is not None or other is not None:
            yield _counts(name, statistic, one, other)
    for statistic in BOUNDS:
        one, other = _bound(left, statistic), _bound(right, statistic)
        if one is not None or other is not None:
            yield ComparedNumber(name, statistic, one, other)


def _counts(column: str | None, statistic: str, left: float | None, right: float | None) -> ComparedNumber:
    error = None if left is None or right is None else q_error(left, right)
    return ComparedNumber(column, statistic, left, right, error)


def _by_column(found: TableStatistics) -> Mapping[str, ColumnStatistics]:
    return {each.column: each for each in found.statistics.columns}


def _value(side: ColumnStatistics | None, statistic: str) -> Any:
    if side is None:
        return None
    return known_ndv(side.data) if statistic == "ndv" else getattr(side.data, statistic, None)


def _bound(side: ColumnStatistics | None, statistic: str) -> str | None:
    """The bound as text; a decimal without its zeros, so that 1.50 is 1.5."""
    value = _value(side, statistic)
    if side is None or value is None:
        return None
    return f"{value.normalize():f}" if side.kind is Kind.DECIMAL else bound_text(side.kind, value)
