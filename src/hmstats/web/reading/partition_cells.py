"""Partitions merged into at most 400 cells, each of partitions that follow each other.

A cell stands for the partitions that have the same values of the first keys, of as many keys as 400 cells have room
for. When the first key alone has more values, a cell stands for a month, a year, or as many values as needed. A cell's
own partitions are shown when its range is selected.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from hmstats.client import Metastore
from hmstats.errors import NoSuchObject, StatementError
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Parameters, Table
from hmstats.model.parameters.basic_statistics import TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count
from hmstats.web.answers.partitions import MOST_CELLS, Cell, Layout, PartitionCells, PartitionLine, PartitionList
from hmstats.web.answers.tables import Key
from hmstats.web.reading.counts import counts_of, sums_of
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import existing_table, shown_name
from hmstats.web.reading.partition_order import MANY, MOST_KEPT, NamedPartition, Ordered
from hmstats.web.reading.parts import MOST_PARTITIONS_READ
from hmstats.web.reading.selections import Selection, select_partitions

PAGE_PARTITIONS = 50
MOST_DAYS = 371
"""53 weeks: what a calendar has room for."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
Label = tuple[str, str]
"""The group and the label of a cell."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The selected partitions of a table, and how many it has in all; `at_ms`: the time that their counts are of."""

    table: Table
    placed: Sequence[NamedPartition]
    total: int
    at_ms: int | None = None


def read_partitions(service: Metastore, text: str, selection: Selection) -> Partitions:
    """The partitions of the table named as `[CATALOG.]DB.TABLE`, or what is selected of them.

    Raises NoSuchObject when table or partitions are not there, StatementError for a filter that cannot be read.
    """
    table = existing_table(service, text)
    if not table.partition_keys:
        raise NoSuchObject(f"table {text} has no partitions")
    placed = select_partitions(service, table, selection)
    total = len(placed) if selection.is_all else len(service.partition_names(table.name))
    return Partitions(table, placed, total, selection.as_of_ms)


def partition_cells(service: Metastore, found: Partitions) -> PartitionCells:
    """The partitions merged into cells; their counts are read when they are few enough."""
    table, placed = found.table, found.placed
    read = _parameters(service, found, placed) if len(placed) <= MOST_PARTITIONS_READ else {}
    if isinstance(placed, Ordered) and len(placed) > max(MANY, MOST_PARTITIONS_READ):
        cells, layout = _uncounted_cells(placed, len(table.partition_keys))
    else:
        cells, layout = _cells(placed, len(table.partition_keys), read)
    sums = sums_of(read.values()) if placed and len(read) == len(placed) else None
    return PartitionCells(
        table=shown_name(table.name),
        keys=tuple(Key(name=each.name, type=each.type) for each in table.partition_keys),
        partitions=len(placed),
        total=found.total,
        rows=sums.rows if sums else None,
        size_bytes=sums.size_bytes if sums else None,
        counted=bool(sums),
        layout=layout,
        cells=cells,
    )


def _cells(
    placed: Sequence[NamedPartition], keys: int, read: Mapping[str, Parameters]
) -> tuple[tuple[Cell, ...], Layout]:
    label, layout = _labels(placed, keys)
    return tuple(_cell(name, [*some], read) for name, some in groupby(placed, label)), layout


@lru_cache(maxsize=MOST_KEPT)
def _uncounted_cells(placed: Ordered, keys: int) -> tuple[tuple[Cell, ...], Layout]:
    return _cells(placed, keys, {})


def partition_list(
    service: Metastore, found: Partitions, *, after: str | None = None, limit: int = PAGE_PARTITIONS
) -> PartitionList:
    """A page of the partitions, from the one after the cursor on. Raises StatementError for an invalid cursor."""
    placed = found.placed
    begin = 0
    if after is not None:
        (name,) = parts_of(after, 1)
        places = {each.name: place for place, each in enumerate(placed)}
        if name not in places:
            raise StatementError(f"the partition of the cursor is gone: {name}")
        begin = places[name] + 1
    page = placed[begin : begin + limit]
    read = _parameters(service, found, page)
    more = begin + limit < len(placed)
    lines = tuple(_line(each.name, read.get(each.name, {})) for each in page)
    return PartitionList(partitions=lines, next=cursor(page[-1].name) if more and page else None)


def _parameters(service: Metastore, of: Partitions, placed: Iterable[NamedPartition]) -> Mapping[str, Parameters]:
    names = [each.name for each in placed]
    if of.at_ms is not None:
        return service.past.past(of.table.name, of.at_ms, [], names).parameters if names else {}
    keys = [key.name for key in of.table.partition_keys]
    found = service.partitions(of.table.name, names)
    return {partition_name(keys, each.values): each.parameters for each in found}


def _labels(placed: Sequence[NamedPartition], keys: int) -> tuple[Callable[[NamedPartition], Label], Layout]:
    """The function that tells a partition's cell, and how the cells are laid out."""
    first = {each.values[0] for each in placed}
    if first and all(_DAY.fullmatch(each) for each in first) and (keys == 1 or len(first) > 1):
        return _by_day(first)
    depth = next((each for each in range(keys, 0, -1) if len({p.values[:each] for p in placed}) <= MOST_CELLS), 0)
    if depth:
        return lambda each: (", ".join(each.values[: depth - 1]), each.values[depth - 1]), Layout.GRID
    return _by_runs(placed), Layout.GRID


def _by_day(days: set[str]) -> tuple[Callable[[NamedPartition], Label], Layout]:
    """A day each, when they fit in a calendar; else a month each, else a year."""
    if len(days) <= MOST_DAYS and _span_days(min(days), max(days)) <= MOST_DAYS:
        return lambda each: ("", each.values[0]), Layout.CALENDAR
    if len({each[:7] for each in days}) <= MOST_CELLS:
        return lambda each: (each.values[0][:4], each.values[0][:7]), Layout.GRID
    return lambda each: ("", each.values[0][:4]), Layout.GRID


def _span_days(first: str, last: str) -> int:
    """Days from one to the other, give or take some: 31 for a month."""
    parts = [[int(part) for part in each.split("-")] for each in (first, last)]
    return sum((b - a) * factor for a, b, factor in zip(*parts, (365, 31, 1), strict=True))


def _by_runs(placed: Sequence[NamedPartition]) -> Callable[[NamedPartition], Label]:
    """As many values of the first key in a cell as needed."""
    values = list(dict.fromkeys(each.values[0] for each in placed))
    run = -(-len(values) // MOST_CELLS)
    labels = {}
    for begin in range(0, len(values), run):
        some = values[begin : begin + run]
        labels.update(dict.fromkeys(some, some[0] if len(some) == 1 else f"{some[0]} to {some[-1]}"))
    return lambda each: ("", labels[each.values[0]])


def _cell(label: Label, some: Sequence[NamedPartition], read: Mapping[str, Parameters]) -> Cell:
    rows, size = (_sum(read, some, name) if read else None for name in (NUM_ROWS, TOTAL_SIZE))
    return Cell(
        group=label[0],
        label=label[1],
        first=some[0].name,
        last=some[-1].name,
        partitions=len(some),
        rows=rows,
        size_bytes=size,
    )


def _sum(read: Mapping[str, Parameters], some: Sequence[NamedPartition], name: str) -> int | None:
    counts = [row_count(read.get(each.name, {}).get(name)) for each in some]
    return None if None in counts else sum(each for each in counts if each is not None)


def _line(name: str, parameters: Parameters) -> PartitionLine:
    counts = counts_of(parameters)
    return PartitionLine(partition=name, rows=counts.rows, size_bytes=counts.size_bytes, files=counts.files)
