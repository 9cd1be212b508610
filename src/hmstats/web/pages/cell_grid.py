"""Cells of partitions for a page: each with a shade, in groups, or as months of a calendar.

A shade is one of five, in equal steps up to the fullest cell, by rows if these were read, else by partitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from hmstats.outlets.people.cells import amount
from hmstats.web.answers.partitions import Cell, Layout, PartitionCells
from hmstats.web.pages.texts import number_text, size_text

SHADES = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell of a page; `cell` is None for a day without a partition. `column` is the weekday, 1 for Monday."""

    text: str
    words: str
    shade: int = 0
    cell: Cell | None = None
    column: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Cells under one title."""

    title: str
    cells: tuple[Shown, ...]


def groups(found: PartitionCells) -> list[Group]:
    """The cells as they are laid out."""
    most = max((_weight(found, each) for each in found.cells), default=0)
    if found.layout is Layout.CALENDAR:
        try:
            return _months(found, most)
        except ValueError:  # a text like 2024-02-31, which is no day
            pass
    by_group = groupby(found.cells, lambda each: each.group)
    return [Group(title, tuple(_shown(found, each, most) for each in some)) for title, some in by_group]


def _months(found: PartitionCells, most: int) -> list[Group]:
    days = {date.fromisoformat(each.label): each for each in found.cells}
    first, last = min(days), max(days)
    every = [first + timedelta(days=passed) for passed in range((last - first).days + 1)]
    months = groupby(every, lambda day: f"{day:%Y-%m}")
    return [Group(title, tuple(_day(found, day, days.get(day), most) for day in some)) for title, some in months]


def _day(found: PartitionCells, day: date, cell: Cell | None, most: int) -> Shown:
    if cell is None:
        return Shown(str(day.day), f"{day.isoformat()}: no partition", column=day.isoweekday())
    return _shown(found, cell, most, str(day.day), day.isoweekday())


def _shown(found: PartitionCells, cell: Cell, most: int, text: str | None = None, column: int = 0) -> Shown:
    weight = _weight(found, cell)
    shade = -(-SHADES * weight // most) if most else 0
    return Shown(cell.label if text is None else text, cell_words(cell), shade, cell, column)


def cell_words(cell: Cell) -> str:
    """The description of a cell for people."""
    name = cell.first if cell.first == cell.last else f"{cell.first} to {cell.last}"
    parts = [amount(cell.partitions, "partition")]
    if cell.rows is not None:
        parts.append(f"{number_text(cell.rows)} rows")
    if cell.size_bytes is not None:
        parts.append(size_text(cell.size_bytes))
    return f"{name}: {', '.join(parts)}"


def _weight(found: PartitionCells, cell: Cell) -> int:
    known: Sequence[int | None] = [each.rows for each in found.cells]
    return cell.partitions if None in known else cell.rows or 0
