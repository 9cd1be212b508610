"""Cuts what goes to many partitions into messages of a bearable size."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from hmstats.model.column_statistics import StatisticsSet

PARTITIONS_A_CALL = 300
"""Partitions in one message, as Hive's own clients do it."""
COLUMNS_A_CALL = 1000
"""Column statistics in one message: 7 MB where each has a bit vector and a histogram."""

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def batches_by_columns(sets: Iterable[StatisticsSet]) -> Iterator[list[StatisticsSet]]:
    """Sets in lists of at most PARTITIONS_A_CALL, with COLUMNS_A_CALL columns together unless one set has more."""
    batch: list[StatisticsSet] = []
    for each in sets:
        if batch and (len(batch) == PARTITIONS_A_CALL or _columns([*batch, each]) > COLUMNS_A_CALL):
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch


def _columns(sets: Sequence[StatisticsSet]) -> int:
    return sum(len(each.columns) for each in sets)
