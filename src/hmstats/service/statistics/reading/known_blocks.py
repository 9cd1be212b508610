"""Blocks of numbers in memory, and the sums of whole ones: a question about other partitions reads no block again.

A block is known by its build and the version that its index is as of, which tell its content for ever: who replaces a
block brings its index to another version.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from hmstats.service.bounded_memory import BoundedMemory
from hmstats.store.partitions.blocks import Index, Members
from hmstats.store.partitions.number_block import NumberBlock
from hmstats.store.partitions.number_blocks import NUMBERS, TABLES
from hmstats.store.statistics.column_sums import ColumnSums
from hmstats.store.unit.unit import Connection

_BLOCK_BYTES = 3_000
"""Memory of a block and its arrays beside its own bytes."""
_MEMBERS_BYTES = 100
"""Memory of a block's members beside their ids, which columns share that were built together."""
_SUMS_BYTES = 2_000
"""Memory of the sums of a block."""
Block: TypeAlias = tuple[Index, int, NumberBlock]
"""A block of an index by its key."""


class _SumsOf(NamedTuple):
    """The key of the sums of a whole block."""

    column: Index
    low_id: int
    of: str = "sums"


class _Sums(NamedTuple):
    """The sums of all members of a block; None if none of them has statistics."""

    found: ColumnSums | None


def members(connection: Connection, indexes: Sequence[Index], memory: BoundedMemory) -> Mapping[int, Sequence[Members]]:
    """The members of all blocks of some indexes of a table, by build, in the order of their ids."""
    cleared = memory.cleared
    known = {each.build: found for each in indexes if (found := memory.get(each)) is not None}
    missing = [each for each in indexes if each.build not in known]
    if not missing:
        return known
    read, counted = TABLES.members(connection, missing), set[int]()
    for each in missing:
        own = {id(block.ids): block.ids.nbytes for block in read[each.build]}
        shared = sum(size for array, size in own.items() if array not in counted)
        memory.put(each, read[each.build], _MEMBERS_BYTES * len(own) + shared, cleared)
        counted |= own.keys()
    return known | read


def whole_sums(
    connection: Connection, indexes: Sequence[Index], low_ids: Collection[int], memory: BoundedMemory
) -> Iterator[ColumnSums]:
    """The sums of all members of the blocks of some indexes that have these keys. Raises SketchError as `numbers`."""
    cleared, missing = memory.cleared, dict[Index, list[int]]()
    keys = [_SumsOf(index, low_id) for index in indexes for low_id in low_ids]
    for key, known in zip(keys, memory.get_many(keys), strict=True):
        if known is None:
            missing.setdefault(key.column, []).append(key.low_id)
        elif known.found is not None:
            yield known.found
    wanted = {low_id for some in missing.values() for low_id in some}
    for index, low_id, block in numbers(connection, [*missing], wanted, memory) if missing else ():
        if low_id in missing[index]:
            sums = block.sums(index.column)
            memory.put(_SumsOf(index, low_id), _Sums(sums), _SUMS_BYTES, cleared)
            if sums is not None:
                yield sums


def numbers(
    connection: Connection, indexes: Sequence[Index], low_ids: Collection[int], memory: BoundedMemory
) -> Iterator[Block]:
    """The blocks of some indexes of a table that have these keys. Raises SketchError if one cannot be read."""
    cleared, missing = memory.cleared, set[tuple[int, int]]()
    keys = [(index, low_id) for index in indexes for low_id in low_ids]
    for (index, low_id), known in zip(keys, memory.get_many(keys), strict=True):
        if known is None:
            missing.add((index.build, low_id))
        else:
            yield index, low_id, known
    builds = {build for build, _ in missing}
    unknown = {each.build: each for each in indexes if each.build in builds}
    wanted = sorted({low_id for _, low_id in missing})
    for rows in TABLES.contents(connection, [*unknown.values()], wanted, NUMBERS) if wanted else ():
        for build, low_id, data in rows:
            if (build, low_id) in missing:
                index, block = unknown[build], NumberBlock.from_bytes(data)
                memory.put((index, low_id), block, len(data) + _BLOCK_BYTES, cleared)
                yield index, low_id, block
