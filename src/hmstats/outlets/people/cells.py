"""Statistics as short texts for people: the counts of a table, and the numbers of a column."""

from collections.abc import Mapping
from dataclasses import dataclass

from hmstats.model.statistics.column_statistics import BooleanStatistics, ColumnStatistics, Kind, known_ndv
from hmstats.model.statistics.python_values import calendar_text

UNKNOWN = "-"
_SAID_BY_DIGITS = 1e15
"""Estimates of joins without keys are far above it, and have no more than three digits to tell."""


@dataclass(frozen=True, slots=True)
class Cells:
    """One column's statistics as texts; what its kind has not, or nobody knows, is a dash."""

    nulls: str
    ndv: str
    low: str
    high: str
    average_length: str
    max_length: str


def cells(statistics: ColumnStatistics) -> Cells:
    """The texts for a column. A boolean shows how often it is false and true in place of bounds."""
    data = statistics.data
    low, high = getattr(data, "low", None), getattr(data, "high", None)
    if isinstance(data, BooleanStatistics):
        low, high = f"{_text(data.falses)} false", f"{_text(data.trues)} true"
    average = getattr(data, "average_length", None)
    return Cells(
        nulls=_text(data.nulls),
        ndv=_text(known_ndv(data)),
        low=_bound(statistics.kind, low),
        high=_bound(statistics.kind, high),
        average_length=UNKNOWN if average is None else f"{average:.1f}",
        max_length=_text(getattr(data, "max_length", None)),
    )


def estimate_text(value: float, decimals: int = 0) -> str:
    """An estimate with commas; a very large one by its power of ten."""
    return f"{value:.2e}" if value >= _SAID_BY_DIGITS else f"{value:,.{decimals}f}"


def headline(name: str, parameters: Mapping[str, str]) -> str:
    """The counts in the parameters of a table or a partition, those that are known."""
    counts = [
        _count_text(parameters.get("numRows"), "row"),
        _count_text(parameters.get("totalSize"), "byte"),
        _count_text(parameters.get("numFiles"), "file"),
        _count_text(parameters.get("numPartitions"), "partition"),
    ]
    known = ", ".join(count for count in counts if count)
    return f"{name}: {known or 'no counts known'}"


def amount(count: int, noun: str, plural: str | None = None) -> str:
    """A count and its noun, as `1 table` and `2 tables`; `plural` is the noun's where it has no mere s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def _count_text(text: str | None, noun: str) -> str | None:
    return amount(int(text), noun) if text is not None and text.isdecimal() else None


def _text(value: object) -> str:
    return UNKNOWN if value is None else str(value)


def _bound(kind: Kind, value: object) -> str:
    text = None if value is None else calendar_text(kind, value)
    if text is not None:
        return text
    return f"{value:.6g}" if isinstance(value, float) else _text(value)
