"""What was read, beside what is exact."""

from collections.abc import Iterable, Mapping, Sequence

from readers import Read
from rich.table import Table

from hmstats.cli.output.tables import plain_table

_MOST_ERROR = 0.05
"""Three standard errors of the default bit vectors."""
_SMALL_ERROR = 0.01


def comparison_table(title: str, columns: Iterable[Read], exact: Mapping[str, int]) -> Table:
    """A row for each column; without exact counts, without the columns for them."""
    counts = ["Nulls", "NDV", *(["Exact\nNDV", "Error"] if exact else [])]
    table = plain_table(["Column", "Type"], [*counts, "Min", "Max", "Avg\nlen", "Max\nlen"])
    table.title, table.title_style, table.title_justify = title, "bold", "left"
    for read in columns:
        table.add_row(read.column, read.type, f"{read.nulls:,}", *_counts(read, exact), *_extent(read))
    return table


def verdict(found: Mapping[str, Sequence[Read]], exact: Mapping[str, Mapping[str, int]]) -> tuple[str, bool]:
    """A sentence on the errors of all distinct counts, and whether they are as small as they must be."""
    errors = [_error(read.ndv or 0, exact[table][read.column]) for table, columns in found.items() for read in columns]
    worst, small = max(errors), sum(error <= _SMALL_ERROR for error in errors)
    sentence = f"NDV of {len(errors)} columns: {worst:.1%} off at most, {small} within {_SMALL_ERROR:.0%}."
    return sentence, worst <= _MOST_ERROR and 2 * small >= len(errors)


def _counts(read: Read, exact: Mapping[str, int]) -> list[str]:
    shown = "-" if read.ndv is None else f"{read.ndv:,}"
    if not exact:
        return [shown]
    error = _error(read.ndv or 0, exact[read.column])
    return [shown, f"{exact[read.column]:,}", f"{error:.2%}"]


def _extent(read: Read) -> list[str]:
    average = "-" if read.average_length is None else f"{read.average_length:.1f}"
    values = (read.low, read.high, average, read.max_length)
    return ["-" if value is None else str(value) for value in values]


def _error(estimate: int, exact: int) -> float:
    return abs(estimate - exact) / max(exact, 1)
