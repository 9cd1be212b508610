"""Answers about many partitions from blocks of their statistics, which are kept in the database.

A question about many partitions asks for blocks; a chore builds them, and from then on such questions read the blocks
instead of the rows. A block is as of a version of the table. A partition that was touched since
(touched_partitions.py), is new, or has statistics of several engines is read by itself, so that a write makes no block
stale; after many writes the blocks of these partitions are built again, and all of them if the changes are not known.
A table that changes all the time is not built all the time: after building a process rests for many times as long.
"""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import attrgetter

import numpy as np

from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading import number_sums, vector_unions
from hmstats.service.statistics.reading.block_kind import BlockKind, concatenate
from hmstats.service.statistics.reading.known_ids import Since
from hmstats.service.statistics.reading.vector_unions import Union
from hmstats.store.changes import touched_partitions, versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import blocks, partitions
from hmstats.store.partitions.blocks import Ids, Index, NewBlock
from hmstats.store.statistics import aggregates
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.statistics.column_sums import ColumnSums
from hmstats.store.unit.unit import Connection, Unit

FEWEST_VECTORS = 2_000
"""The fewest partitions of a question that asks for blocks of bit vectors; fewer are read faster without blocks."""
FEWEST_NUMBERS, FEWEST_ROWS = 256, 10_000
"""The fewest partitions, and partitions times columns, of a question that asks for blocks of numbers."""
_MOST_TOUCHED_SHARE = 1 / 4
"""The share of a question's partitions that may be touched if blocks of numbers are to answer: they are read singly."""
_MOST_BEHIND, _MOST_TOUCHED = touched_partitions.SLOTS // 2, 200
"""An index with more versions or touched partitions since its build is brought up to date."""
_RESTS = 10
"""The pause of a process after building blocks, as a multiple of the time that it took."""
_BLOCKS_A_WRITE = 32
_MOST_WAITING = 1_000


class PartitionBlocks:
    """Answers from blocks, and builds them; keeps what it read in memory. Thread-safe."""

    def __init__(self, store: Store, memory: BoundedMemory) -> None:
        self._store = store
        self._memory = memory
        self._lock = threading.Lock()
        self._wanted: dict[tuple[BlockKind, int], dict[str, None]] = {}
        self._rests_until = -math.inf

    def unions(self, connection: Connection, scope: Scope, version: int | None) -> dict[str, Union]:
        """The unions of the scope's vectors by column, in a snapshot in which the table has this version.

        A column is left out if it has no blocks, or if they do not tell the answer for certain: its vectors must be
        read. Without blocks, the statements are as many for one column as for many.
        """
        if version is None or self._number(connection, scope) < FEWEST_VECTORS:
            return {}
        found: dict[str, Union] = {}
        for indexes, touched in self._usable(connection, vector_unions.KIND, scope, version):
            found |= vector_unions.unions(connection, scope, indexes, touched)
        return found

    def sums(self, connection: Connection, scope: Scope, version: int | None) -> list[ColumnSums]:
        """The sums of each column and type in the scope, in a snapshot in which the table has this version."""
        number = 0 if version is None else self._number(connection, scope)
        if version is None or number < FEWEST_NUMBERS or number * len(scope.columns) < FEWEST_ROWS:
            return aggregates.sums(connection, scope)
        found, answered = list[ColumnSums](), set[str]()
        for indexes, touched in self._usable(connection, number_sums.KIND, scope, version):
            if len(touched) > _MOST_TOUCHED_SHARE * number:
                continue
            columns, since = [each.column for each in indexes], Since(indexes[0].version, version, touched)
            some = number_sums.sums(connection, replace(scope, columns=columns), indexes, since, self._memory)
            if some is not None:
                found += some
                answered.update(columns)
        rest = [each for each in scope.columns if each not in answered]
        return found + aggregates.sums(connection, replace(scope, columns=rest)) if rest else found

    def run(self) -> None:
        """Build the blocks that were asked for, unless the last time was long; a chore calls it."""
        began = time.monotonic()
        if began < self._rests_until:
            return
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        try:
            for (kind, table_id), columns in wanted.items():
                self._build(kind, table_id, [*columns])
        finally:
            now = time.monotonic()
            self._rests_until = now + _RESTS * (now - began)

    def _number(self, connection: Connection, scope: Scope) -> int:
        """The number of partitions of a scope that blocks may answer; 0 for others."""
        if not scope.columns or self._store.shape.beside_hive or self._store.is_trying:
            return 0
        return partitions.count(connection, scope.table_id) if scope.partitions is None else len(scope.partitions)

    def _usable(
        self, connection: Connection, kind: BlockKind, scope: Scope, version: int
    ) -> Iterator[tuple[list[Index], frozenset[str]]]:
        """The indexes that may answer, those as of one version together, with the partitions touched since.

        Blocks that are missing, or far behind, are asked for.
        """
        indexes = kind.tables.find(connection, scope.table_id, scope.columns)
        self._want(kind, scope.table_id, [each for each in scope.columns if each not in indexes])
        for as_of, some in groupby(sorted(indexes.values(), key=_version), _version):
            of_version = list(some)
            touched = touched_partitions.between(connection, scope.table_id, as_of, version)
            if touched is None or len(touched) > _MOST_TOUCHED or version - as_of > _MOST_BEHIND:
                self._want(kind, scope.table_id, [each.column for each in of_version])
            usable = [each for each in of_version if not scope.only or each.engine == scope.engine]
            if touched is not None and usable:
                yield usable, touched

    def _want(self, kind: BlockKind, table_id: int, columns: Sequence[str]) -> None:
        if self._store.read_only or not columns:
            return
        with self._lock:
            if sum(map(len, self._wanted.values())) < _MOST_WAITING:
                self._wanted.setdefault((kind, table_id), {}).update(dict.fromkeys(columns))

    def _build(self, kind: BlockKind, table_id: int, columns: Sequence[str]) -> None:
        """Bring the blocks of columns up to date where it is known what was touched since, and build the others.

        Each column is built from a snapshot of its own, which may take seconds; then all are as of one version.
        """
        anew = self._bring_up_to_date(kind, table_id, columns)
        for column in anew:
            self._build_all(kind, table_id, column)
        if len(anew) > 1:
            self._bring_up_to_date(kind, table_id, columns)

    def _build_all(self, kind: BlockKind, table_id: int, column: str) -> None:
        with self._store.read() as connection:
            version = versions.read(connection, table_id)
            ids = blocks.partition_ids(connection, table_id, None)
            if version and len(ids) >= kind.fewest_partitions:
                self._build_column(connection, kind, table_id, column, version, ids)

    def _build_column(
        self, connection: Connection, kind: BlockKind, table_id: int, column: str, version: int, ids: Ids
    ) -> None:
        engine = blocks.usual_engine(connection, table_id, column)
        if engine is None:
            return
        index, waiting = Index(table_id, column, engine, blocks.new_build(), version), list[NewBlock]()
        for block in kind.make(connection, column, engine, ids):
            waiting.append(block)
            if len(waiting) == _BLOCKS_A_WRITE:
                self._store.write(partial(_add, kind, index, waiting))
                waiting = []
        self._store.write(partial(_finish, kind, index, waiting))

    def _bring_up_to_date(self, kind: BlockKind, table_id: int, columns: Sequence[str]) -> list[str]:
        """Bring indexes to the table's version; returns the columns that have none, or whose changes are not known."""
        with self._store.read() as connection:
            version = versions.read(connection, table_id)
            ids = blocks.partition_ids(connection, table_id, None)
            indexes = kind.tables.find(connection, table_id, columns)
            anew = [each for each in columns if each not in indexes]
            for as_of, some in groupby(sorted(indexes.values(), key=_version), _version):
                touched = touched_partitions.between(connection, table_id, as_of, version)
                if touched is None:
                    anew += [each.column for each in some]
                    continue
                dirty = blocks.partition_ids(connection, table_id, sorted(touched)) if touched else concatenate(())
                for index in some:
                    self._rebuild(connection, kind, index, version, dirty, ids)
        return anew

    def _rebuild(
        self, connection: Connection, kind: BlockKind, index: Index, version: int, dirty: Ids, ids: Ids
    ) -> None:
        """Build those blocks again in whose range a partition was touched, of all partitions of the table."""
        known = kind.tables.members(connection, [index])[index.build]
        # The first block also has what comes before it, the last what comes behind.
        lows = np.array([each.low_id for each in known[1:]], np.int64)
        stale = sorted({*np.searchsorted(lows, dirty, side="right").tolist()})
        new = list[NewBlock]()
        for place in stale:
            first = np.searchsorted(ids, lows[place - 1]) if place else 0
            last = np.searchsorted(ids, lows[place]) if place < len(lows) else len(ids)
            new += kind.make(connection, index.column, index.engine, ids[first:last])
        old = [known[place].low_id for place in stale] if known else []
        self._store.write(lambda unit: kind.tables.replace_blocks(unit, index, version, old, new))


_version = attrgetter("version")


def _add(kind: BlockKind, index: Index, new: Sequence[NewBlock], unit: Unit) -> None:
    kind.tables.add_blocks(unit, index.table_id, index.build, new)


def _finish(kind: BlockKind, index: Index, new: Sequence[NewBlock], unit: Unit) -> None:
    kind.tables.add_blocks(unit, index.table_id, index.build, new)
    kind.tables.put(unit, index)
