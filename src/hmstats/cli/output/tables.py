"""Tables for a terminal, in one style for all commands."""

import sys
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from hmstats.cli.output.plain_texts import plain_cell
from hmstats.cli.output.table_lines import lines_of


class PlainTable(Table):
    """A table whose cells are shown as they are, whatever others have put into them."""

    def add_row(self, *cells: RenderableType | None, **more: Any) -> None:
        """Add a row; its texts are shown without markup and without control characters."""
        super().add_row(*(plain_cell(each) if isinstance(each, str) else each for each in cells), **more)


def plain_table(texts: Sequence[str] = (), numbers: Sequence[str] = ()) -> Table:
    """A table without rows: columns of texts, which are folded if they are too long, then columns of numbers."""
    table = PlainTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for title in texts:
        table.add_column(title, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="right", overflow="fold")
    return table


def terminal_width() -> int:
    """The columns of the terminal; 80 without a terminal."""
    console = Console()
    return console.width if console.is_terminal else 80


def print_table(table: Table) -> None:
    """Print to standard output; if that is no terminal, at the table's full width."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    if isinstance(table, PlainTable) and (lines := lines_of(table)) is not None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    widest = console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum
    Console(highlight=False, width=max(console.width, widest)).print(table)
