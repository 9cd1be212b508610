"""Blocks of numbers in memory: a question about other partitions than the last one reads no block again.

A block is known by its build and the version that its index is as of, which tell its content for ever: who replaces a
block brings its index to another version. Columns that were not asked about for the longest time are forgotten first.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hmstats.store.partitions.blocks import Index, Members
from hmstats.store.partitions.number_block import NumberBlock
from hmstats.store.partitions.number_blocks import NUMBERS, TABLES
from hmstats.store.unit.unit import Connection

_BLOCK_BYTES = 3_000
"""Memory of a block and its arrays beside its own bytes."""


Block: TypeAlias = tuple[Index, int, NumberBlock]
"""A block of an index by its key."""


@dataclass(slots=True)
class _Column:
    """What is known of a column: all of its blocks' members, and the numbers of some by key."""

    members: Sequence[Members]
    numbers: dict[int, NumberBlock] = field(default_factory=dict)
    size: int = 0


class KnownBlocks:
    """An LRU cache of columns' blocks, of at most `most_bytes` together. Thread-safe."""

    def __init__(self, most_bytes: int) -> None:
        self._free_bytes = self._most_bytes = most_bytes
        self._columns: OrderedDict[Index, _Column] = OrderedDict()
        self._cleared = 0
        self._lock = threading.Lock()

    def members(self, connection: Connection, indexes: Sequence[Index]) -> Mapping[int, Sequence[Members]]:
        """The members of all blocks of some indexes of a table, by build, in the order of their ids."""
        with self._lock:
            cleared = self._cleared
            known = {each.build: column.members for each in indexes if (column := self._columns.get(each))}
            for each in indexes:
                if each.build in known:
                    self._columns.move_to_end(each)
        missing = [each for each in indexes if each.build not in known]
        if not missing:
            return known
        read = TABLES.members(connection, missing)
        with self._lock:
            counted = set[int]()
            for each in missing if cleared == self._cleared else ():
                self._columns[each] = _Column(read[each.build])
                own = {id(block.ids): block.ids.nbytes for block in read[each.build]}
                self._charge(each, sum(size for array, size in own.items() if array not in counted))
                counted |= own.keys()
        return known | read

    def numbers(self, connection: Connection, indexes: Sequence[Index], low_ids: Collection[int]) -> Iterator[Block]:
        """The blocks of some indexes of a table that have these keys. Raises SketchError if one cannot be read."""
        with self._lock:
            cleared = self._cleared
            known = {each: dict(column.numbers) for each in indexes if (column := self._columns.get(each))}
        for index, blocks in known.items():
            yield from ((index, low_id, blocks[low_id]) for low_id in low_ids if low_id in blocks)
        missing = {each: [low_id for low_id in low_ids if low_id not in known.get(each, ())] for each in indexes}
        unknown = {each.build: each for each, some in missing.items() if some}
        wanted = sorted({low_id for some in missing.values() for low_id in some})
        for rows in TABLES.contents(connection, [*unknown.values()], wanted, NUMBERS) if wanted else ():
            for build, low_id, data in rows:
                index = unknown[build]
                if low_id not in known.get(index, ()):
                    numbers = NumberBlock.from_bytes(data)
                    self._put(index, low_id, numbers, len(data) + _BLOCK_BYTES, cleared)
                    yield index, low_id, numbers

    def clear(self) -> None:
        """Forget all blocks, also those that are being read."""
        with self._lock:
            self._cleared += 1
            self._columns.clear()
            self._free_bytes = self._most_bytes

    def _put(self, index: Index, low_id: int, numbers: NumberBlock, size: int, cleared: int) -> None:
        """Keep a block that was read since the cache was cleared so many times."""
        with self._lock:
            column = self._columns.get(index)
            if column is not None and cleared == self._cleared and low_id not in column.numbers:
                column.numbers[low_id] = numbers
                self._charge(index, size)

    def _charge(self, index: Index, size: int) -> None:
        """Count the memory of a column, and forget others, or itself, if there is no more."""
        self._columns[index].size += size
        self._free_bytes -= size
        while self._free_bytes < 0:
            _, oldest = self._columns.popitem(last=False)
            self._free_bytes += oldest.size
