"""Encoded statistics that are kept one by one: by table, who asks, partition and column, in a bounded memory.

All that is kept of a table was true at one version of it. Before it is used the version that the table has now is read:
where nothing changed since but some partitions (store/changes.py), these are dropped, else all of the table.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hmstats.model.catalog import TableName
from hmstats.server.answers import Between, Versions
from hmstats.store.targets import Target

_TABLE_BYTES, _ENTRY_BYTES, _OBJECT_BYTES = 5_000, 500, 110
"""What a table, a partition and an object cost beside the objects' bytes."""


class Form(NamedTuple):
    """Who asks: for which engine, whether as a client of Hive 4, and whether for the table's own statistics."""

    engine: str
    hive4: bool
    itself: bool


class Row(NamedTuple):
    """What an answer about these columns says of a partition, its encoded name included; empty without any object."""

    columns: tuple[str, ...]
    encoded: bytes


@dataclass(slots=True)
class Entry:
    """What is kept of a partition: its encoded name and, by column, the object; empty where there is none.

    `row` is what was asked for last.
    """

    key: bytes
    objects: Mapping[str, bytes]
    row: Row | None = None

    @property
    def size(self) -> int:
        """Bytes of memory, about: those of the objects are there twice once there is a row."""
        encoded = 4 * len(self.key) + 2 * sum(map(len, self.objects.values()))
        return _ENTRY_BYTES + encoded + _OBJECT_BYTES * len(self.objects)


@dataclass(slots=True)
class KeptTable:
    """What is kept of a table, all of it true at one version. `target` is None until somebody needed it.

    `columns` were asked for last: rows are of the same tuple then, which costs less to find out than that it is equal.
    """

    name: TableName
    id: int
    version: int
    target: Target | None
    forms: dict[Form, dict[str, Entry]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def same(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """These columns, as the same tuple when they are asked for again and again."""
        known = self.columns
        if known != columns:
            known = self.columns = columns
        return known


class KeptTables:
    """The tables that were asked for last, of at most `max_bytes` together; used by many threads at once.

    `current` and `between` are those of `Answers`.
    """

    def __init__(self, current: Callable[[Collection[int]], Versions], between: Between, max_bytes: int) -> None:
        self._current = current
        self._between = between
        self._free_bytes = max_bytes
        self._tables: OrderedDict[TableName, KeptTable] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def empty(self) -> bool:
        """Whether nothing is kept."""
        return not self._tables

    def find(self, name: TableName) -> KeptTable | None:
        """What is kept of the table and still true; None when that may be nothing."""
        table = self._tables.get(name)
        if table is None:
            return None
        old, now = table.version, self._current([table.id]).get(table.id)
        if now == old:
            return table
        changed = None if now is None else self._between(table.id, old, now)
        with self._lock:
            if now is None or changed is None:
                self._drop_table(table)
                return None
            if table.version == old:
                self._drop_partitions(table, changed)
                table.version = now
            return table if table.version >= now else None

    def look(self, name: TableName) -> KeptTable | None:
        """What is kept of the table; it may not be true any more."""
        return self._tables.get(name)

    def open(self, name: TableName, table_id: int, version: int, target: Target | None = None) -> KeptTable:
        """The kept table at this version, made unless it is there."""
        with self._lock:
            table = self._tables.get(name)
            if table is not None and (table.id, table.version) == (table_id, version):
                table.target = table.target or target
                return table
            if table is not None:
                self._drop_table(table)
            table = self._tables[name] = KeptTable(name, table_id, version, target)
            self._free_bytes -= _TABLE_BYTES
            return table

    def held(self, table: KeptTable, form: Form, wanted: Sequence[str]) -> tuple[int, list[Entry | None]]:
        """What is kept of these partitions at one moment, in their order, and the version at which it is true."""
        with self._lock:
            if self._tables.get(table.name) is table:
                self._tables.move_to_end(table.name)
            return table.version, [*map(table.forms.get(form, {}).get, wanted)]

    def keep(self, table: KeptTable, version: int, form: Form, new: Mapping[str, Entry]) -> None:
        """Keep what was true at a version, by partition, unless the table is at another by now."""
        with self._lock:
            if table.version != version or self._tables.get(table.name) is not table:
                return
            entries = table.forms.setdefault(form, {})
            for name, entry in new.items():
                old = entries.pop(name, None)
                entries[name] = together = entry if old is None else Entry(entry.key, {**old.objects, **entry.objects})
                self._free_bytes += (old.size if old else 0) - together.size
            while self._free_bytes < 0:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Drop what was kept first of the table that was asked for last of all."""
        table = next(iter(self._tables.values()))
        entries = next((each for each in table.forms.values() if each), None)
        if entries is None:
            self._drop_table(table)
        else:
            self._free_bytes += entries.pop(next(iter(entries))).size

    def _drop_partitions(self, table: KeptTable, names: Iterable[str]) -> None:
        for entries in table.forms.values():
            dropped = (entries.pop(name, None) for name in names)
            self._free_bytes += sum(each.size for each in dropped if each)

    def _drop_table(self, table: KeptTable) -> None:
        if self._tables.get(table.name) is table:
            del self._tables[table.name]
            entries = (entry for each in table.forms.values() for entry in each.values())
            self._free_bytes += _TABLE_BYTES + sum(entry.size for entry in entries)
