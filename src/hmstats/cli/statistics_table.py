"""Column statistics as a table for a terminal, 80 columns wide where names and numbers allow it."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from rich import box
from rich.console import Console
from rich.table import Table

from hmstats.model.column_statistics import BooleanStatistics, ColumnStatistics, Kind

_UNKNOWN = "-"
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        ndv=_text(getattr(data, "ndv", None)),
        low=_bound(statistics.kind, low),
        high=_bound(statistics.kind, high),
        average_length=_UNKNOWN if average is None else f"{average:.1f}",
        max_length=_text(getattr(data, "max_length", None)),
    )


def statistics_table(columns: Iterable[ColumnStatistics]) -> Table:
    """A row for each column: type, nulls, NDV, bounds, lengths."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("Column", overflow="fold")
    table.add_column("Type", overflow="fold")
    for title in ("Nulls", "NDV", "Min", "Max", "Avg\nlen", "Max\nlen"):
        table.add_column(title, justify="right", overflow="fold")
    for column in columns:
        shown = cells(column)
        lengths = (shown.average_length, shown.max_length)
        table.add_row(column.column, column.column_type, shown.nulls, shown.ndv, shown.low, shown.high, *lengths)
    return table


def headline(name: str, parameters: Mapping[str, str]) -> str:
    """The counts in the parameters of a table or a partition, those that are known."""
    counts = [
        _counted(parameters.get("numRows"), "row"),
        _counted(parameters.get("totalSize"), "byte"),
        _counted(parameters.get("numFiles"), "file"),
        _counted(parameters.get("numPartitions"), "partition"),
    ]
    known = ", ".join(count for count in counts if count)
    return f"{name}: {known or 'no counts known'}"


def print_table(table: Table) -> None:
    """Print to standard output; where that is no terminal, as wide as the table is."""
    console = Console(highlight=False)
    if not console.is_terminal:
        widest = console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum
        console = Console(highlight=False, width=max(console.width, widest))
    console.print(table)


def _counted(text: str | None, noun: str) -> str | None:
    if text is None or not text.isdecimal():
        return None
    return f"{int(text):,} {noun}{'' if text == '1' else 's'}"


def _text(value: object) -> str:
    return _UNKNOWN if value is None else str(value)


def _bound(kind: Kind, value: object) -> str:
    try:
        if kind is Kind.DATE and isinstance(value, int):
            return (_EPOCH_DAY + timedelta(days=value)).isoformat()
        if kind is Kind.TIMESTAMP and isinstance(value, int):
            return (_EPOCH + timedelta(seconds=value)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:  # a year that Python has no date for
        return str(value)
    return f"{value:.6g}" if isinstance(value, float) else _text(value)
