"""Tables for a terminal, in one style for all commands."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hmstats.cli.output.plain_texts import plain_cell


class PlainTable(Table):
    """A table whose cells are shown as they are, whatever others have put into them."""

    def add_row(self, *cells: RenderableType | None, **more: Any) -> None:
        """Add a row; a text is no markup, and has no characters that a terminal obeys."""
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
    """The columns of the terminal; 80 if the output is none."""
    console = Console()
    return console.width if console.is_terminal else 80


def print_table(table: Table) -> None:
    """Print to standard output; if that is no terminal, at the table's full width."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    if (found := _texts(table)) is not None:
        sys.stdout.writelines(f"{line}\n" for line in _lines(table, found))
        return
    widest = console.measure(table, options=console.options.update(max_width=sys.maxsize)).maximum
    Console(highlight=False, width=max(console.width, widest)).print(table)


def _texts(table: Table) -> list[list[list[str]]] | None:
    """The lines of each cell, by column, the title first; None if the table is none of ours, or a cell is no text."""
    cells = [[column.header, *column.cells] for column in table.columns]
    if not isinstance(table, PlainTable) or not all(
        isinstance(each, str | Text) for column in cells for each in column
    ):
        return None
    return [[str(each).split("\n") for each in column] for column in cells]


def _lines(table: Table, cells: list[list[list[str]]]) -> Iterator[str]:
    """The lines that Rich would print, which takes a millisecond for each row."""
    widths = [
        max(column.min_width or 0, *(cell_len(line) for lines in own for line in lines))
        for column, own in zip(table.columns, cells, strict=True)
    ]
    sides = [column.justify for column in table.columns]
    for number, row in enumerate(zip(*cells, strict=True)):
        height = max(map(len, row))
        for place in range(height):
            # A title stands at the bottom of its place, any other text at the top.
            lines = [_at(cell, place - (height - len(cell) if number == 0 else 0)) for cell in row]
            yield "  ".join(map(_pad, lines, widths, sides))
        if number == 0:
            yield "─" * (sum(widths) + 2 * len(widths) - 2)


def _at(cell: list[str], place: int) -> str:
    """A line of a cell; nothing above and below it."""
    return cell[place] if 0 <= place < len(cell) else ""


def _pad(text: str, width: int, side: str) -> str:
    """The text in so many columns of a terminal."""
    if side == "right":
        shown = text.rstrip()
        return " " * (width - cell_len(shown)) + shown
    return text + " " * (width - cell_len(text))
