"""Sums of many partitions' numbers from blocks, and the making of such blocks.

The sums are exactly those that the database makes of the rows. Partitions of which few are in a block are read by
themselves.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from operator import attrgetter

import numpy as np
import structlog

from hmstats.errors import SketchError
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading import known_blocks, known_ids
from hmstats.service.statistics.reading.block_kind import BlockKind, chosen_members, concatenate
from hmstats.service.statistics.reading.known_ids import Since
from hmstats.store.partitions import blocks, number_blocks
from hmstats.store.partitions.blocks import Chosen, Ids, Index, Members, NewBlock
from hmstats.store.partitions.number_block import MOST_MEMBERS, NumberBlock
from hmstats.store.partitions.number_blocks import NUMBERS, TABLES, StoredRow
from hmstats.store.statistics import aggregates
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.statistics.column_sums import ColumnSums
from hmstats.store.unit.unit import Connection

_LEAST_SHARE = 1 / 16
"""The share of a block's members from which on reading the block is faster than reading their rows."""

_log = structlog.get_logger(__name__)


def sums(
    connection: Connection, scope: Scope, indexes: Sequence[Index], since: Since, memory: BoundedMemory
) -> list[ColumnSums] | None:
    """The sums of columns whose indexes are as of one version; None if blocks have less than half of the partitions.

    Blocks that cannot be read count as none. `since` tells what changed since that version.
    """
    members = known_blocks.members(connection, indexes, memory)
    then = max(sum(len(each.ids) for each in some) for some in members.values())
    asked, clean = known_ids.find(connection, scope, since, then, memory)
    groups = _groups(members, indexes, clean)
    if 2 * max(len(each.ids) for each in groups) < len(asked):
        return None
    try:
        found = [*_of_blocks(connection, groups, memory)]
    except SketchError as error:
        _log.warning("blocks_ignored", table=scope.table_id, reason=str(error))
        return None
    for each in groups:
        if len(each.ids) < len(asked):
            names = blocks.names_of(connection, np.setdiff1d(asked, each.ids, assume_unique=True))
            found += aggregates.sums(connection, replace(scope, partitions=names, columns=each.columns))
    return _add_by_column(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Columns whose blocks have the same members, and by a block's key which of them are taken (None: all).

    `ids` are those of all that are taken.
    """

    indexes: Sequence[Index]
    taken: Mapping[int, Chosen | None]
    ids: Ids

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [each.column for each in self.indexes]


def _groups(members: Mapping[int, Sequence[Members]], indexes: Sequence[Index], clean: Ids) -> list[_Group]:
    """The columns by their blocks' members, of which those among `clean` are taken where they are enough."""
    alike: dict[tuple[int, ...], list[Index]] = {}
    for index in indexes:  # equal ids of blocks that are read together are one array
        alike.setdefault(tuple(id(each.ids) for each in members[index.build]), []).append(index)
    found = []
    for some in alike.values():
        chosen = [
            (each, own)
            for each, own in chosen_members(members[some[0].build], clean)
            if np.count_nonzero(own) >= _LEAST_SHARE * len(own)
        ]
        taken = {each.low_id: None if own.all() else own for each, own in chosen}
        found.append(_Group(some, taken, concatenate(each.ids[own] for each, own in chosen)))
    return found


def _of_blocks(connection: Connection, groups: Sequence[_Group], memory: BoundedMemory) -> Iterator[ColumnSums]:
    """The sums of the members that are taken from blocks."""
    for group in groups:
        whole = [low_id for low_id, own in group.taken.items() if own is None]
        partly = [low_id for low_id, own in group.taken.items() if own is not None]
        yield from known_blocks.whole_sums(connection, group.indexes, whole, memory)
        for index, low_id, numbers in known_blocks.numbers(connection, group.indexes, partly, memory):
            found = numbers.sums(index.column, group.taken[low_id])
            if found is not None:
                yield found


def _add_by_column(every: Iterable[ColumnSums]) -> list[ColumnSums]:
    """Add up sums, to one for each column and type."""
    key = attrgetter("column", "column_type")
    return [reduce(ColumnSums.plus, some) for _, some in groupby(sorted(every, key=key), key)]


def _blocks(connection: Connection, column: str, engine: str, ids: Ids) -> Iterator[NewBlock]:
    """The blocks of a column's numbers in these partitions."""
    for start in range(0, len(ids), MOST_MEMBERS):
        part = ids[start : start + MOST_MEMBERS]
        found = number_blocks.rows(connection, column, part)
        types = Counter(some[0][1] for some in found.values() if len(some) == 1 and some[0][0] == engine)
        usual = types.most_common(1)[0][0] if types else ""
        alike = [each for each in part.tolist() if _is_usual(found.get(each, ()), engine, usual)]
        if alike:
            block = NumberBlock.of(usual, [found[each][0][2] if each in found else None for each in alike])
            yield NewBlock(Members(alike[0], np.array(alike, np.int64)), {NUMBERS: block.to_bytes()})


def _is_usual(some: Sequence[StoredRow], engine: str, column_type: str) -> bool:
    """Whether a partition has no statistics of a column, or only an engine's, in this type."""
    return not some or (len(some) == 1 and some[0][:2] == (engine, column_type))


KIND = BlockKind(TABLES, _blocks, fewest_partitions=128)
"""Of fewer partitions no question is long."""
