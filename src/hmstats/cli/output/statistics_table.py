"""Column statistics as a table for a terminal, 80 columns wide if names and numbers allow it."""

import sys
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.outlets.people.cells import cells


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


def terminal_width() -> int:
    """The columns of the terminal; 80 if the output is none."""
    console = Console()
    return console.width if console.is_terminal else 80


def print_table(table: Table) -> None:
    """Print to standard output; if that is no terminal, at the table's full width."""
    console = Console(highlight=False)
    if not console.is_terminal:
        widest = console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum
        console = Console(highlight=False, width=max(console.width, widest))
    console.print(table)
