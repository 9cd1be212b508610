"""Column statistics as a table for a terminal, 80 columns wide if names and numbers allow it."""

from collections.abc import Iterable

from rich.table import Table

from hmstats.cli.output.tables import plain_table
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.outlets.people.cells import cells


def statistics_table(columns: Iterable[ColumnStatistics]) -> Table:
    """A row for each column: type, nulls, NDV, bounds, lengths."""
    table = plain_table(["Column", "Type"], ["Nulls", "NDV", "Min", "Max", "Avg\nlen", "Max\nlen"])
    for column in columns:
        shown = cells(column)
        lengths = (shown.average_length, shown.max_length)
        table.add_row(column.column, column.column_type, shown.nulls, shown.ndv, shown.low, shown.high, *lengths)
    return table
