"""The lines of a table for a file or a pipe: those that Rich would print, which takes a millisecond for each row."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text


def lines_of(table: Table) -> Iterator[str] | None:
    """The lines of a table in the style of `plain_table`, at its full width; None if a cell is no text."""
    cells = [[column.header, *column.cells] for column in table.columns]
    if not all(isinstance(each, str | Text) for column in cells for each in column):
        return None
    return _lines(table, [[str(each).split("\n") for each in column] for column in cells])


def _lines(table: Table, cells: list[list[list[str]]]) -> Iterator[str]:
    """The lines, from the lines of each cell by column, the title first."""
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
