"""Cuts files into tasks of about equal bytes.

Files of one partition stay together where that is possible, so that few partial states have to be merged. A file that
is larger than a task's share is cut by its row groups.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow.parquet as pq

from hmstats.collector.files import DataFile, open_location
from hmstats.collector.plan import Piece

_TASKS_PER_CORE = 3
_LEAST_TASK_BYTES = 4 * 1024 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Split:
    """A file, or some of its row groups (None: all). `location` names the file system; `bytes` is what is read."""

    piece: str
    location: str
    path: str
    row_groups: tuple[int, ...] | None
    bytes: int


def cut(pieces: Iterable[Piece], files: Mapping[str, Sequence[DataFile]], cores: int) -> list[list[Split]]:
    """The tasks for the files of these pieces (by their names), some for each core."""
    total_bytes = sum(file.bytes for each in files.values() for file in each)
    task_bytes = max(_LEAST_TASK_BYTES, total_bytes // (_TASKS_PER_CORE * max(cores, 1)))
    return list(_filled(_splits(pieces, files, task_bytes), task_bytes, size=lambda split: split.bytes))


def _splits(pieces: Iterable[Piece], files: Mapping[str, Sequence[DataFile]], task_bytes: int) -> Iterator[Split]:
    for piece in pieces:
        for file in files[piece.name]:
            if file.bytes <= task_bytes:
                yield Split(piece.name, piece.location, file.path, None, file.bytes)
            else:
                yield from _by_row_groups(piece, file, task_bytes)


def _by_row_groups(piece: Piece, file: DataFile, task_bytes: int) -> Iterator[Split]:
    """A large file in splits of whole row groups."""
    system, _ = open_location(piece.location)
    footer = pq.read_metadata(file.path, filesystem=system)
    groups = [(number, _compressed_bytes(footer.row_group(number))) for number in range(footer.num_row_groups)]
    for batch in _filled(groups, task_bytes, size=lambda group: group[1]):
        numbers = tuple(number for number, _ in batch)
        yield Split(piece.name, piece.location, file.path, numbers, sum(size for _, size in batch))


def _compressed_bytes(group: pq.RowGroupMetaData) -> int:
    return sum(group.column(number).total_compressed_size for number in range(group.num_columns))


def _filled(items: Iterable[T], most_bytes: int, *, size: Callable[[T], int]) -> Iterator[list[T]]:
    """The items, in order, in lists that hold at most `most_bytes` or one item."""
    batch: list[T] = []
    filled_bytes = 0
    for item in items:
        if batch and filled_bytes + size(item) > most_bytes:
            yield batch
            batch, filled_bytes = [], 0
        batch.append(item)
        filled_bytes += size(item)
    if batch:
        yield batch
