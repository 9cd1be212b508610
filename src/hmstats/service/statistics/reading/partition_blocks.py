"""Unions of many partitions' bit vectors from blocks, which are kept in the database.

A question about thousands of partitions asks for blocks; a chore builds them, and from then on such questions read the
blocks instead of the vectors. A block is as of a version of the table. A partition that was touched since
(touched_partitions.py), is new, or has statistics of several engines is read by itself, so that a write makes no block
stale; after many writes the blocks of these partitions are built again, and all of them if the changes are not known.
Every union is equal, bit for bit, to that of the partitions' own vectors; where that is not certain, there is none.
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter

import numpy as np
import structlog

from hmstats.errors import SketchError
from hmstats.sketch.distinct import bit_vector, hll_bytes
from hmstats.sketch.distinct.block_union import BlockUnion
from hmstats.sketch.distinct.vector_block import MOST_MEMBERS, Chosen, VectorBlock
from hmstats.store.changes import touched_partitions, versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions, vector_blocks
from hmstats.store.partitions.vector_blocks import Ids, Index, Members, NewBlock
from hmstats.store.statistics import aggregates
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Connection, Unit

FEWEST = 2_000
"""Partitions of a question that asks for blocks; fewer are read faster by themselves."""
_FEW_OF_A_BLOCK = 5
"""Partitions whose vectors are together as long as what a block keeps of all of its own."""
_MOST_BEHIND, _MOST_TOUCHED = touched_partitions.SLOTS // 2, 200
"""Versions and touched partitions since its build with which an index is brought up to date."""
_BLOCKS_A_WRITE = 32
_MOST_WAITING = 1_000

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Union:
    """A merged bit vector, and the number of partitions whose vectors it has, of so many that were asked for."""

    vector: bytes
    partitions: int
    asked: int


class PartitionBlocks:
    """Answers from blocks, and builds them. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._wanted: dict[tuple[int, str], None] = {}

    def unions(self, connection: Connection, scope: Scope, version: int | None) -> dict[str, Union]:
        """The unions of the scope's vectors by column, in a snapshot in which the table has this version.

        A column is left out if it has no blocks, or if they do not tell the answer for certain: its vectors must be
        read. Without blocks, the statements are as many for one column as for many.
        """
        if not scope.columns or self._store.shape.beside_hive or self._store.is_trying or version is None:
            return {}
        number = partitions.count(connection, scope.table_id) if scope.partitions is None else len(scope.partitions)
        if number < FEWEST:
            return {}
        indexes = vector_blocks.find(connection, scope.table_id, scope.columns)
        self._want(scope.table_id, [each for each in scope.columns if each not in indexes])
        found: dict[str, Union] = {}
        for as_of, some in groupby(sorted(indexes.values(), key=_version), _version):
            of_version = list(some)
            columns = [each.column for each in of_version]
            touched = touched_partitions.between(connection, scope.table_id, as_of, version)
            if touched is None or len(touched) > _MOST_TOUCHED or version - as_of > _MOST_BEHIND:
                self._want(scope.table_id, columns)
            usable = [each for each in of_version if not scope.only or each.engine == scope.engine]
            if touched is not None and usable:
                found |= _unions(connection, scope, usable, touched, number)
        return found

    def run(self) -> None:
        """Build the blocks that were asked for; a chore calls it."""
        while True:
            with self._lock:
                if not self._wanted:
                    return
                table_id, column = next(iter(self._wanted))
            try:
                self._build(table_id, column)
            finally:
                with self._lock:
                    self._wanted.pop((table_id, column), None)

    def _want(self, table_id: int, columns: Iterable[str]) -> None:
        if self._store.read_only:
            return
        with self._lock:
            for column in columns:
                if len(self._wanted) < _MOST_WAITING:
                    self._wanted[table_id, column] = None

    def _build(self, table_id: int, column: str) -> None:
        with self._store.read() as connection:
            version = versions.read(connection, table_id)
            index = vector_blocks.find(connection, table_id, [column]).get(column)
            touched = None
            if index is not None:
                touched = touched_partitions.between(connection, table_id, index.version, version)
            if index is not None and touched is not None:
                self._bring_up_to_date(connection, index, version, touched)
            elif version:
                self._build_all(connection, table_id, column, version)

    def _build_all(self, connection: Connection, table_id: int, column: str, version: int) -> None:
        ids = vector_blocks.partition_ids(connection, table_id, None)
        if len(ids) < FEWEST:
            return
        engine = vector_blocks.first_engine(connection, table_id, column)
        if engine is None:
            return
        build, waiting = vector_blocks.new_build(), list[NewBlock]()
        for block in _blocks(connection, column, engine, ids):
            waiting.append(block)
            if len(waiting) == _BLOCKS_A_WRITE:
                self._store.write(partial(_add, table_id, build, waiting))
                waiting = []
        index = Index(table_id, column, engine, build, version)
        self._store.write(partial(_finish, index, waiting))

    def _bring_up_to_date(self, connection: Connection, index: Index, version: int, touched: Collection[str]) -> None:
        """Build those blocks again in whose range a partition was touched."""
        dirty = vector_blocks.partition_ids(connection, index.table_id, sorted(touched)) if touched else _NO_IDS
        ids = vector_blocks.partition_ids(connection, index.table_id, None)
        known = vector_blocks.members(connection, index)
        # The first block also has what comes before it, the last what comes behind.
        lows = np.array([each.low_id for each in known[1:]], np.int64)
        stale = sorted({*np.searchsorted(lows, dirty, side="right").tolist()})
        new = list[NewBlock]()
        for place in stale:
            first = np.searchsorted(ids, lows[place - 1]) if place else 0
            last = np.searchsorted(ids, lows[place]) if place < len(lows) else len(ids)
            new += _blocks(connection, index.column, index.engine, ids[first:last])
        old = [known[place].low_id for place in stale] if known else []
        self._store.write(lambda unit: vector_blocks.replace_blocks(unit, index, version, old, new))


@dataclass(frozen=True, slots=True, eq=False)
class _ChosenMembers:
    """The members of a block, and which of them are taken from it."""

    ids: Ids
    chosen: Chosen

    @property
    def chosen_ids(self) -> Ids:
        """The ids of the taken members."""
        return self.ids[self.chosen]


def _unions(
    connection: Connection, scope: Scope, indexes: Sequence[Index], touched: frozenset[str], number: int
) -> dict[str, Union]:
    """The unions of columns whose indexes are as of one version, by column, where they are certain."""
    asked = vector_blocks.partition_ids(connection, scope.table_id, scope.partitions)
    known = partitions.find_ids(connection, scope.table_id, sorted(touched)) if touched else {}
    clean = np.setdiff1d(asked, np.array(sorted(known.values()), np.int64), assume_unique=True)
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
        for vectors in vector_blocks.merged_vectors(self._connection, self._index, [each.low_id for each in whole]):
            union.add_vectors(vectors)
        for blocks in vector_blocks.listed(self._connection, self._index, [*parts]):
            for low_id, data in blocks:
                union.add(low_id, VectorBlock.from_bytes(data).subset(parts[low_id].chosen))
        taken = _together([*(each.ids for each in whole), *(each.chosen_ids for each in parts.values())])
        count = len(taken)
        for vectors in self._read(np.setdiff1d(self._asked, taken, assume_unique=True)):
            union.add_vectors(vectors)
            count += len(vectors)
        for vectors in self._read(_together([parts[low_id].chosen_ids for low_id in union.in_doubt()])):
            union.add_vectors(vectors)
        found = union.result()
        return None if found is None else (bit_vector.in_order(found.to_bytes()), count)

    def _divided(self) -> tuple[list[Members], dict[int, _ChosenMembers]]:
        """The blocks all of whose members are asked for and untouched, and by key those of which some are."""
        every = vector_blocks.members(self._connection, self._index)
        ids = _together([each.ids for each in every])
        places = np.minimum(np.searchsorted(self._clean, ids), len(self._clean) - 1)
        wanted = self._clean[places] == ids if len(self._clean) else np.zeros(len(ids), np.bool_)
        whole, parts, start = list[Members](), dict[int, _ChosenMembers](), 0
        for each in every:
            chosen = wanted[start : start + len(each.ids)]
            start += len(each.ids)
            count = np.count_nonzero(chosen)
            if count == len(chosen):
                whole.append(each)
            elif count > _FEW_OF_A_BLOCK:
                parts[each.low_id] = _ChosenMembers(each.ids, chosen)
        return whole, parts

    def _read(self, ids: Ids) -> Iterator[list[bytes]]:
        """The vectors of partitions by themselves, in batches."""
        if not len(ids):
            return
        names = vector_blocks.names_of(self._connection, ids)
        for rows in aggregates.bit_vectors(self._connection, replace(self._scope, partitions=names)):
            yield [data for _, _, data in rows]


_version = attrgetter("version")
_NO_IDS: Ids = np.zeros(0, np.int64)


def _together(ids: Sequence[Ids]) -> Ids:
    return np.concatenate(ids) if ids else _NO_IDS


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
    return NewBlock(Members(int(ids[0]), ids), block.union().to_bytes(), block.to_bytes())


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


def _add(table_id: int, build: int, blocks: Sequence[NewBlock], unit: Unit) -> None:
    vector_blocks.add_blocks(unit, table_id, build, blocks)


def _finish(index: Index, blocks: Sequence[NewBlock], unit: Unit) -> None:
    vector_blocks.add_blocks(unit, index.table_id, index.build, blocks)
    vector_blocks.put(unit, index)
