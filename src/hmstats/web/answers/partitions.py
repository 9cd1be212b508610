"""Partitions, merged into a number of cells that a person can look at."""

from dataclasses import dataclass
from enum import StrEnum

from hmstats.web.answers.numbers import Number, Whole
from hmstats.web.answers.tables import Key

MOST_CELLS = 400


class Layout(StrEnum):
    """The layout of cells: days as weeks of a calendar, else rows."""

    CALENDAR = "calendar"
    GRID = "grid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Partitions that follow each other, from `first` to `last` by name; `rows` and `size_bytes` None when unknown.

    `group` is the value of the keys before the one that tells the group's cells apart.
    """

    label: str
    group: str = ""
    first: str
    last: str
    partitions: int
    rows: Whole | None = None
    size_bytes: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCells:
    """The partitions of a table, or a selection of them, as at most 400 cells in the order of the keys' values.

    `counted`: rows and bytes were read; False for more partitions than are read for a picture.
    """

    table: str
    keys: tuple[Key, ...]
    partitions: int
    total: int
    rows: Number | None = None
    size_bytes: Number | None = None
    counted: bool
    layout: Layout
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionLine:
    """A partition's own counts."""

    partition: str
    rows: Number | None = None
    size_bytes: Number | None = None
    files: Number | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionList:
    """A page of partitions in the order of the keys' values; `next` is the cursor of the next page."""

    partitions: tuple[PartitionLine, ...]
    next: str | None = None
