"""Unions of many partitions' bit vectors from blocks, and the making of such blocks.

Every union is equal, bit for bit, to that of the partitions' own vectors; where that is not certain, there is none.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from hmstats.errors import SketchError
from hmstats.service.statistics.reading.block_kind import BlockKind, chosen_members, clean_ids, concatenate
from hmstats.sketch.distinct import bit_vector, hll_bytes
from hmstats.sketch.distinct.block_union import BlockUnion
from hmstats.sketch.distinct.vector_block import MOST_MEMBERS, VectorBlock
from hmstats.store.partitions import blocks, vector_blocks
from hmstats.store.partitions.blocks import Chosen, Ids, Index, Members, NewBlock
from hmstats.store.partitions.vector_blocks import LISTED, MERGED, TABLES
from hmstats.store.statistics import aggregates
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Connection

_FEW_OF_A_BLOCK = 5
"""Partitions whose vectors are together as long as what a block keeps of all of its own."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Union:
    """A merged bit vector, and the number of partitions whose vectors it has, of so many that were asked for."""

    vector: bytes
    partitions: int
    asked: int


def unions(
    connection: Connection, scope: Scope, indexes: Sequence[Index], touched: Collection[str]
) -> dict[str, Union]:
    """The unions of columns whose indexes are as of one version, by column, where they are certain.

    `touched` are the partitions that changed since that version.
    """
    asked = blocks.partition_ids(connection, scope.table_id, scope.partitions)
    clean = clean_ids(connection, scope.table_id, asked, touched)
    number = len(asked) if scope.partitions is None else len(scope.partitions)
    found: dict[str, Union] = {}
    for index in indexes:
        question = _Question(connection, replace(scope, columns=[index.column]), index, asked, clean)
        try:
            answer = question.answer()
        except SketchError as error:
            _log.warning("blocks_ignored", table=scope.table_id, column=index.column, reason=str(error))
            continue
        if answer is not None:
            found[index.column] = Union(*answer, asked=number)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _ChosenMembers:
    """The members of a block, and which of them are taken from it."""

    ids: Ids
    chosen: Chosen

    @property
    def chosen_ids(self) -> Ids:
        """The ids of the taken members."""
        return self.ids[self.chosen]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A question about a column: the partitions that it asks for, and those of them that nobody has touched since."""

    _connection: Connection
    _scope: Scope
    _index: Index
    _asked: Ids
    _clean: Ids

    def answer(self) -> tuple[bytes, int] | None:
        """The union, and of how many vectors it is; None if it is not certain."""
        union = BlockUnion[int]()
        whole, parts = self._divided()
        for rows in self._contents([each.low_id for each in whole], MERGED):
            union.add_vectors([data for _, _, data in rows])
        for rows in self._contents([*parts], LISTED):
            for _, low_id, data in rows:
                union.add(low_id, VectorBlock.from_bytes(data).subset(parts[low_id].chosen))
        taken = concatenate([*(each.ids for each in whole), *(each.chosen_ids for each in parts.values())])
        count = len(taken)
        for vectors in self._read(np.setdiff1d(self._asked, taken, assume_unique=True)):
            union.add_vectors(vectors)
            count += len(vectors)
        for vectors in self._read(concatenate([parts[low_id].chosen_ids for low_id in union.in_doubt()])):
            union.add_vectors(vectors)
        found = union.result()
        return None if found is None else (bit_vector.in_order(found.to_bytes()), count)

    def _divided(self) -> tuple[list[Members], dict[int, _ChosenMembers]]:
        """The blocks all of whose members are asked for and untouched, and by key those of which some are."""
        every = TABLES.members(self._connection, [self._index])[self._index.build]
        whole, parts = list[Members](), dict[int, _ChosenMembers]()
        for each, chosen in chosen_members(every, self._clean):
            count = np.count_nonzero(chosen)
            if count == len(chosen):
                whole.append(each)
            elif count > _FEW_OF_A_BLOCK:
                parts[each.low_id] = _ChosenMembers(each.ids, chosen)
        return whole, parts

    def _contents(self, low_ids: Sequence[int], content: str) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        return TABLES.contents(self._connection, [self._index], low_ids, content)

    def _read(self, ids: Ids) -> Iterator[list[bytes]]:
        """The vectors of partitions by themselves, in batches."""
        if not len(ids):
            return
        names = blocks.names_of(self._connection, ids)
        for rows in aggregates.bit_vectors(self._connection, replace(self._scope, partitions=names)):
            yield [data for _, _, data in rows]


def _blocks(connection: Connection, column: str, engine: str, ids: Ids) -> Iterator[NewBlock]:
    """The blocks of these partitions' vectors of an engine."""
    for start in range(0, len(ids), MOST_MEMBERS):
        found = vector_blocks.vectors(connection, column, ids[start : start + MOST_MEMBERS])
        block = _block([(part_id, data) for part_id, own, data in found if own == engine])
        if block is not None:
            yield block


def _block(found: Sequence[tuple[int, bytes]]) -> NewBlock | None:
    """The block of those HyperLogLog sketches that have one p, by partition id; None if there are none."""
    precisions = [_p_of(data) for _, data in found]
    p = next((each for each in precisions if each is not None), None)
    alike = [each for each, own in zip(found, precisions, strict=True) if own is not None and own == p]
    if not alike:
        return None
    try:
        block = VectorBlock.of([data for _, data in alike])
    except SketchError:
        sound = [each for each in alike if _is_sound(each[1])]
        return _block(sound) if len(sound) < len(alike) else None
    ids = np.array([part_id for part_id, _ in alike], np.int64)
    contents = {MERGED: block.union().to_bytes(), LISTED: block.to_bytes()}
    return NewBlock(Members(int(ids[0]), ids), contents)


def _p_of(data: bytes) -> int | None:
    """The precision of a HyperLogLog sketch; None for other bytes."""
    try:
        return hll_bytes.read_header(data).p
    except SketchError:
        return None


def _is_sound(data: bytes) -> bool:
    try:
        bit_vector.check(data)
    except SketchError:
        return False
    return True


KIND = BlockKind(TABLES, _blocks, fewest_partitions=2_000)
"""Fewer vectors are read faster by themselves."""
