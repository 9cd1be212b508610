"""Splits calls about many partitions into messages of limited size."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

PARTITIONS_A_CALL = 300
"""Partitions in one message, as Hive's own clients do it."""
TABLES_A_CALL = 100
"""Tables in one message."""
COLUMNS_A_CALL = 1000
"""Column statistics in one message: 7 MB where each has a bit vector and a histogram."""

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of `size`, the last one shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def batches_by_columns(items: Iterable[T], *, columns: Callable[[T], int]) -> Iterator[list[T]]:
    """Items in lists of at most PARTITIONS_A_CALL, with COLUMNS_A_CALL columns together unless one item has more.

    `columns` says how many an item has. Items are consumed lazily.
    """
    batch: list[T] = []
    held = 0
    for item in items:
        if batch and (len(batch) == PARTITIONS_A_CALL or held + columns(item) > COLUMNS_A_CALL):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += columns(item)
    if batch:
        yield batch
