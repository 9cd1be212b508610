"""A bounded cache of encoded statistics by table, form of the answer, partition and column.

All entries of a table belong to one version of it. Before they are used the current version is read: if only some
partitions have changed since (touched_partitions.py), their entries are dropped, if the table itself has, those of its
own statistics, else all of the table's.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hmstats.model.catalog.objects import TableName
from hmstats.server.cache.cached_answers import Versions
from hmstats.server.cache.recent_changes import Touched
from hmstats.store.statistics.table_facts import TableFacts

_TABLE_BYTES, _ENTRY_BYTES, _OBJECT_BYTES = 5_000, 500, 110
"""Memory of a table, of a partition and of an object beside the object's own bytes."""


class Form(NamedTuple):
    """The form of an answer: for which engine, for a client of Hive 4 or not, of the table itself or of partitions."""

    engine: str
    hive4: bool
    itself: bool


class Row(NamedTuple):
    """The bytes of an answer about these columns for one partition, with its name; empty without statistics."""

    columns: tuple[str, ...]
    encoded: bytes


@dataclass(slots=True)
class Entry:
    """The cached statistics of a partition: its encoded name, and an object by column, empty if there are none.

    `row` is that of the latest request.
    """

    key: bytes
    objects: Mapping[str, bytes]
    row: Row | None = None

    @property
    def size(self) -> int:
        """Memory in bytes, about: a row holds the bytes of its objects again."""
        encoded = 4 * len(self.key) + 2 * sum(map(len, self.objects.values()))
        return _ENTRY_BYTES + encoded + _OBJECT_BYTES * len(self.objects)


@dataclass(slots=True)
class CachedTable:
    """The cached statistics of a table, all of one version. `target` is None until it is needed.

    `columns` are those of the latest request: rows refer to this tuple, since `is` is faster than `==`.
    """

    name: TableName
    id: int
    version: int
    target: TableFacts | None
    forms: dict[Form, dict[str, Entry]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def shared_columns(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """A tuple equal to `columns`, which is the same object for repeated requests."""
        shared = self.columns
        if shared != columns:
            shared = self.columns = columns
        return shared


class TableCache:
    """An LRU cache of tables' statistics, of at most `max_bytes` together; thread-safe.

    `current` reads the current versions of tables by id, `touched` says what changed between two versions of a table.
    """

    def __init__(
        self,
        current: Callable[[Collection[int]], Versions],
        touched: Callable[[int, int, int], Touched | None],
        max_bytes: int,
    ) -> None:
        self._current = current
        self._touched = touched
        self._free_bytes = max_bytes
        self._tables: OrderedDict[TableName, CachedTable] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def is_empty(self) -> bool:
        """Whether the cache is empty."""
        return not self._tables

    def find_current(self, name: TableName) -> CachedTable | None:
        """The cached table at its current version, without stale entries; None if it is not cached."""
        table = self._tables.get(name)
        if table is None:
            return None
        old, current = table.version, self._current([table.id]).get(table.id)
        if current == old:
            return table
        touched = None if current is None else self._touched(table.id, old, current)
        with self._lock:
            if current is None or touched is None:
                self._drop_table(table)
                return None
            if table.version == old:
                self._drop_partitions(table, touched.partitions)
                if touched.own:
                    self._drop_own(table)
                table.version = current
            return table if table.version >= current else None

    def find(self, name: TableName) -> CachedTable | None:
        """The cached table, which may be stale."""
        return self._tables.get(name)

    def open(self, name: TableName, table_id: int, version: int, target: TableFacts | None = None) -> CachedTable:
        """The cached table at this version; adds it if it is not cached."""
        with self._lock:
            table = self._tables.get(name)
            if table is not None and (table.id, table.version) == (table_id, version):
                table.target = table.target or target
                return table
            if table is not None:
                self._drop_table(table)
            table = self._tables[name] = CachedTable(name, table_id, version, target)
            self._free_bytes -= _TABLE_BYTES
            return table

    def find_entries(self, table: CachedTable, form: Form, partitions: Sequence[str]) -> tuple[int, list[Entry | None]]:
        """The version, and the cached entries of these partitions in their order, read together under the lock."""
        with self._lock:
            if self._tables.get(table.name) is table:
                self._tables.move_to_end(table.name)
            return table.version, [*map(table.forms.get(form, {}).get, partitions)]

    def put(self, table: CachedTable, version: int, form: Form, new: Mapping[str, Entry]) -> None:
        """Cache entries by partition, unless the cached table has another version by now."""
        with self._lock:
            if table.version != version or self._tables.get(table.name) is not table:
                return
            entries = table.forms.setdefault(form, {})
            for name, entry in new.items():
                old = entries.pop(name, None)
                entries[name] = merged = entry if old is None else Entry(entry.key, {**old.objects, **entry.objects})
                self._free_bytes += (old.size if old else 0) - merged.size
            while self._free_bytes < 0:
                self._drop_oldest()

    def clear(self) -> None:
        """Clear the cache."""
        with self._lock:
            for table in [*self._tables.values()]:
                self._drop_table(table)

    def _drop_oldest(self) -> None:
        """Drop the oldest entries of the least recently used table."""
        table = next(iter(self._tables.values()))
        entries = next((each for each in table.forms.values() if each), None)
        if entries is None:
            self._drop_table(table)
        else:
            self._free_bytes += entries.pop(next(iter(entries))).size

    def _drop_partitions(self, table: CachedTable, names: Iterable[str]) -> None:
        for entries in table.forms.values():
            dropped = (entries.pop(name, None) for name in names)
            self._free_bytes += sum(each.size for each in dropped if each)

    def _drop_own(self, table: CachedTable) -> None:
        """Drop a table's own statistics and facts."""
        for form, entries in table.forms.items():
            if form.itself:
                self._free_bytes += sum(each.size for each in entries.values())
                entries.clear()
        table.target = None

    def _drop_table(self, table: CachedTable) -> None:
        if self._tables.get(table.name) is table:
            del self._tables[table.name]
            entries = (entry for each in table.forms.values() for entry in each.values())
            self._free_bytes += _TABLE_BYTES + sum(entry.size for entry in entries)
