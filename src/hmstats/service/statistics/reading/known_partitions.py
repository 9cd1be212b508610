"""Ids of partitions by name in memory, for questions about many partitions of a table.

The names of a table are read once, as of a version. They hold for every partition that was not touched since, by which
renamed, new and dropped ones are meant too. Tables that were not asked about for the longest time are forgotten first.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hmstats.service.statistics.reading.block_kind import clean_ids
from hmstats.store.partitions import blocks, partitions
from hmstats.store.partitions.blocks import Ids
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Connection

_NAME_BYTES = 200
"""Memory of a name and its id beside the characters."""
_MOST_OF_EACH = 8
"""Partitions of a table for each that is asked for, up to which all names are read at once."""


class AskedIds(NamedTuple):
    """The ids of the partitions that a question asks for, and of those among them that were not touched."""

    asked: Ids
    clean: Ids


class Since(NamedTuple):
    """The partitions that were touched between two versions of a table."""

    as_of: int
    version: int
    touched: Collection[str]


@dataclass(frozen=True, slots=True)
class _Names:
    version: int
    ids: Mapping[str, int]
    size: int


class KnownPartitions:
    """An LRU cache of tables' names, of at most `most_bytes` together. Thread-safe."""

    def __init__(self, most_bytes: int) -> None:
        self._free_bytes = self._most_bytes = most_bytes
        self._tables: OrderedDict[int, _Names] = OrderedDict()
        self._cleared = 0
        self._lock = threading.Lock()

    def find(self, connection: Connection, scope: Scope, since: Since, partitions_then: int) -> AskedIds:
        """The ids of the scope's partitions in a table that has the version of `since`; names of none are skipped.

        `partitions_then` is about how many partitions the table has.
        """
        known = self._ids_by_name(connection, scope, since, partitions_then)
        if known is None or scope.partitions is None:
            asked = blocks.partition_ids(connection, scope.table_id, scope.partitions)
            return AskedIds(asked, clean_ids(connection, scope.table_id, asked, since.touched))
        touched = [each for each in scope.partitions if each in since.touched]
        there = map(known.get, set(scope.partitions).difference(touched))
        clean: Ids = np.sort(np.array([each for each in there if each is not None], np.int64))
        if not touched:
            return AskedIds(clean, clean)
        return AskedIds(np.union1d(clean, blocks.partition_ids(connection, scope.table_id, touched)), clean)

    def clear(self) -> None:
        """Forget all names, also those that are being read."""
        with self._lock:
            self._cleared += 1
            self._tables.clear()
            self._free_bytes = self._most_bytes

    def _ids_by_name(
        self, connection: Connection, scope: Scope, since: Since, partitions_then: int
    ) -> Mapping[str, int] | None:
        """The ids by name, which hold for partitions that were not touched; None if the names are not kept."""
        with self._lock:
            cleared, known = self._cleared, self._tables.get(scope.table_id)
            if known is not None:
                self._tables.move_to_end(scope.table_id)
        if known is not None and since.as_of <= known.version <= since.version:
            return known.ids
        most = min(_MOST_OF_EACH * len(scope.partitions or ()), self._most_bytes // _NAME_BYTES)
        if partitions_then > most:
            return None
        ids = partitions.ids_by_name(connection, scope.table_id)
        size = _NAME_BYTES * len(ids) + sum(map(len, ids))
        self._put(scope.table_id, _Names(since.version, ids, size), cleared)
        return ids

    def _put(self, table_id: int, names: _Names, cleared: int) -> None:
        """Keep names that were read since the cache was cleared so many times."""
        with self._lock:
            if cleared != self._cleared:
                return
            old = self._tables.pop(table_id, None)
            self._tables[table_id] = names
            self._free_bytes += (old.size if old else 0) - names.size
            while self._free_bytes < 0:
                _, oldest = self._tables.popitem(last=False)
                self._free_bytes += oldest.size
