"""Splits files into tasks of about equal bytes.

The files of a small partition stay together, so that one task reads all of it; large partitions are split by files,
large files by row groups. The row groups of a sample are chosen here too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan.files.orc_footer import read_footer
from hmstats.files.counted_reads import Reads
from hmstats.files.file_systems import NO_SETTINGS, Settings, open_location
from hmstats.model.catalog.location import parse

TASKS_PER_CORE = 3
_LEAST_TASK_BYTES, _MOST_TASK_BYTES = 4 * 1024 * 1024, 1024 * 1024 * 1024
_OPENING_BYTES = 128 * 1024
"""The cost of opening a file, as the number of bytes that could be read in the same time."""
_FOOTER_THREADS = 32


@dataclass(frozen=True, slots=True)
class Split:
    """A file, or some of its row groups (None: all). `location` has the file system; `bytes` is the size that is read.

    `listed_bytes` is the size with which the file was listed (None: unknown).

    `rows_left_out` is the number of rows outside of the sample, which no split reads. `settings` are Hadoop's for the
    file. `orc`: it is an ORC file, whose row groups are its stripes; otherwise it is a Parquet file.
    """

    piece: str
    location: str
    path: str
    row_groups: tuple[int, ...] | None
    bytes: int
    rows_left_out: int = 0
    settings: Settings = field(default=NO_SETTINGS, repr=False)
    orc: bool = False
    listed_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class _Group:
    """A row group of a file: its number, its rows, and its compressed bytes."""

    file: DataFile
    number: int
    rows: int
    bytes: int


_Groups: TypeAlias = Callable[[DataFile], list[_Group]]


def cut(
    pieces: Iterable[Piece],
    files: Mapping[str, Sequence[DataFile]],
    cores: int,
    options: Options = DEFAULT,
    settings: Settings = NO_SETTINGS,
    reads: Reads | None = None,
) -> list[list[Split]]:
    """The tasks for the files of these pieces (by their names), some for each core.

    `settings` open the files; `reads` counts reads of their footers.
    """
    wanted = list(pieces)
    weights = {piece.name: sum(_weight(file.bytes) for file in files[piece.name]) for piece in wanted}
    total = sum(weights.values()) * options.sample_fraction
    count = _count(total, cores, options)
    most = total / count / 2 if count > 1 else total
    cut_up = [(piece, file) for piece in wanted for file in files[piece.name] if options.sampled or file.bytes > most]
    footers = _footers(cut_up, settings, reads or Reads())
    units: list[list[Split]] = []
    for piece in wanted:
        groups = partial(_footer_groups, footers, piece)
        if options.sampled:
            found = _sample_piece(piece, files[piece.name], groups, options.sample_fraction)
        else:
            found = _split_piece(piece, files[piece.name], groups)
        units += [found] if weights[piece.name] <= most else [[split] for split in found]
    tasks = _balance([unit for unit in units if unit], count)
    return [[replace(split, settings=settings) for split in task] for task in tasks]


def by_piece(task: Iterable[Split]) -> Iterator[tuple[str, list[Split]]]:
    """The splits of a task by piece."""
    for piece, splits in groupby(sorted(task, key=attrgetter("piece")), key=attrgetter("piece")):
        yield piece, list(splits)


def compressed_bytes(group: pq.RowGroupMetaData) -> int:
    """The compressed bytes of a row group."""
    return sum(group.column(number).total_compressed_size for number in range(group.num_columns))


def _weight(read_bytes: int) -> int:
    return read_bytes + _OPENING_BYTES


def _count(total: float, cores: int, options: Options) -> int:
    """The number of tasks: some for each core, but none that is tiny, or too large to be retried."""
    useful = min(TASKS_PER_CORE * max(cores, 1), int(total / _LEAST_TASK_BYTES))
    count = max(1, useful, int(total / _MOST_TASK_BYTES))
    return count if options.most_tasks is None else min(count, options.most_tasks)


def _footers(
    files: Sequence[tuple[Piece, DataFile]], settings: Settings, reads: Reads
) -> dict[tuple[str, str], list[_Group]]:
    """The row groups of files, by piece and path; footers are read in parallel, since the threads wait for a store."""
    with ThreadPoolExecutor(_FOOTER_THREADS) as threads:
        found = threads.map(lambda each: _read_groups(each[0], each[1], settings, reads), files)
        return {(piece.name, file.path): groups for (piece, file), groups in zip(files, found, strict=True)}


def _footer_groups(footers: Mapping[tuple[str, str], list[_Group]], piece: Piece, file: DataFile) -> list[_Group]:
    return footers.get((piece.name, file.path), [])


def _split_piece(piece: Piece, files: Sequence[DataFile], groups_of: _Groups) -> list[Split]:
    """The splits of a whole piece, by row groups if those of a file are known."""
    return [
        split
        for file in files
        for split in [_split_group(piece, each) for each in groups_of(file)] or [_split_file(piece, file)]
    ]


def _sample_piece(piece: Piece, files: Sequence[DataFile], groups_of: _Groups, fraction: float) -> list[Split]:
    """Row groups with at least the requested fraction of a piece's rows; deterministic for the same files."""
    groups = [group for file in files for group in groups_of(file)]
    rows, picked = sum(group.rows for group in groups), set[tuple[str, int]]()
    left_out = rows
    top = parse(piece.location).path.lstrip("/")
    for group in sorted(groups, key=partial(_sample_order, piece.name, top)):
        if rows - left_out >= fraction * rows:
            break
        picked.add((group.file.path, group.number))
        left_out -= group.rows
    chosen = [_split_group(piece, group) for group in groups if (group.file.path, group.number) in picked]
    chosen += [_split_file(piece, file) for file in files if not groups_of(file)]
    return [*chosen, Split(piece.name, piece.location, "", (), 0, left_out)] if left_out else chosen


def _sample_order(piece: str, top: str, group: _Group) -> int:
    """A pseudorandom number of a row group, from its path below the piece's location `top`."""
    _, found, below = group.file.path.partition(top)
    return crc32(f"{piece}\0{below if found else group.file.path}\0{group.number}".encode())


def _read_groups(piece: Piece, file: DataFile, settings: Settings, reads: Reads) -> list[_Group]:
    """The row groups of a file; none if it cannot be read, which is reported by the task that reads it."""
    system, _ = open_location(piece.location, settings)
    try:
        with reads.open(system, file.path) as source:
            sizes = _stripe_sizes(source) if piece.orc else _group_sizes(source)
    except (OSError, ValueError, pa.ArrowException):
        return []
    return [_Group(file, number, rows, size) for number, (rows, size) in enumerate(sizes)]


def _group_sizes(source: pa.NativeFile) -> list[tuple[int, int]]:
    """The rows and the bytes of the row groups of a Parquet file."""
    footer = pq.read_metadata(source)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    return [(group.num_rows, compressed_bytes(group)) for group in groups]


def _stripe_sizes(source: pa.NativeFile) -> list[tuple[int, int]]:
    """The rows and the bytes of the stripes of an ORC file."""
    footer = read_footer(orc.ORCFile(source).reader.serialized_file_tail())
    return [(each.rows, each.bytes) for each in footer.stripes]


def _split_file(piece: Piece, file: DataFile) -> Split:
    return Split(piece.name, piece.location, file.path, None, file.bytes, orc=piece.orc, listed_bytes=file.bytes)


def _split_group(piece: Piece, group: _Group) -> Split:
    return replace(_split_file(piece, group.file), row_groups=(group.number,), bytes=group.bytes)


def _balance(units: Sequence[Sequence[Split]], count: int) -> list[list[Split]]:
    """The units, in order, in at most `count` tasks; each is assigned by the position of its middle among all bytes."""
    weights = [sum(_weight(split.bytes) for split in unit) for unit in units]
    total, before = sum(weights), 0
    tasks: list[list[Split]] = [[] for _ in range(count)]
    for unit, weight in zip(units, weights, strict=True):
        tasks[min(count - 1, (2 * before + weight) * count // (2 * total))] += unit
        before += weight
    return [list(_join_groups(task)) for task in tasks if task]


def _join_groups(splits: Iterable[Split]) -> Iterator[Split]:
    """Join row groups of one file into one split."""
    for (whole, *_), group in groupby(
        splits, key=lambda each: (each.row_groups is None, each.piece, each.location, each.path)
    ):
        found = list(group)
        if whole or len(found) == 1:
            yield from found
            continue
        numbers = tuple(number for split in found for number in split.row_groups or ())
        yield replace(found[0], row_groups=numbers, bytes=sum(split.bytes for split in found))
