"""A kind of blocks, and the choice of the blocks' members that an answer may use."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hmstats.store.partitions import partitions
from hmstats.store.partitions.blocks import BlockTables, Chosen, Ids, Members, NewBlock
from hmstats.store.unit.unit import Connection

Make: TypeAlias = Callable[[Connection, str, str, Ids], Iterator[NewBlock]]
"""Makes the blocks of a column's statistics of an engine in these partitions."""


@dataclass(frozen=True, slots=True)
class BlockKind:
    """A kind of blocks: its tables, the function that makes blocks, and the fewest partitions that have any."""

    tables: BlockTables
    make: Make
    fewest_partitions: int


def clean_ids(connection: Connection, table_id: int, asked: Ids, touched: Collection[str]) -> Ids:
    """The ids of the requested partitions, except those of the touched names."""
    known = partitions.find_ids(connection, table_id, sorted(touched)) if touched else {}
    clean: Ids = np.setdiff1d(asked, np.array(sorted(known.values()), np.int64), assume_unique=True)
    return clean


def chosen_members(every: Sequence[Members], clean: Ids) -> Iterator[tuple[Members, Chosen]]:
    """Each block with those of its members that are among `clean`."""
    ids = concatenate(each.ids for each in every)
    places = np.minimum(np.searchsorted(clean, ids), len(clean) - 1)
    wanted = clean[places] == ids if len(clean) else np.zeros(len(ids), np.bool_)
    start = 0
    for each in every:
        yield each, wanted[start : start + len(each.ids)]
        start += len(each.ids)


def concatenate(ids: Iterable[Ids]) -> Ids:
    """Concatenate ids."""
    found = [*ids]
    return np.concatenate(found) if found else np.zeros(0, np.int64)
