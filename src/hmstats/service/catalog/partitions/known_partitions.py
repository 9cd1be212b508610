"""Partitions in memory, so that a question about other partitions than the last one reads only those that are new.

What was read as of a version of the table holds as long as no write has touched the partition since
(touched_partitions.py). An answer is of the snapshot that its table was read in, as it is without the memory.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from hmstats.model.catalog.objects import Column, KeyedTable, Storage
from hmstats.model.partitions.key_columns import KeyColumns
from hmstats.model.partitions.partition_filter import PartitionFilter, asks_for_null
from hmstats.model.partitions.partitions_by_name import PartitionRow, PartitionsByColumn, PartitionsByName
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.store.changes import touched_partitions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Connection

_MOST_ASKED = 4_000
"""Partitions of a question; what a larger one reads would push out all that others ask for."""
_MOST_FILTERED = 50_000
"""Partitions of a table whose names are all read for a filter, though it may select few; reading more delays others."""
_ROW_BYTES, _PARAMETER_BYTES = 1_100, 150
"""Memory of a partition and of each of its parameters beside the characters of names, values and locations."""
_FORMAT_BYTES, _COLUMN_BYTES, _NAME_BYTES = 5_000, 400, 60
"""Memory of a format, of each of its columns, and of a name beside its characters."""
_MOST_FORMATS = 16
_NAME_IN = attrgetter("name")


class _Known(NamedTuple):
    """A partition as of a version of its table, and the bytes of memory that it takes."""

    version: int
    row: PartitionRow
    size: int


class _FormatsOf(NamedTuple):
    """The key of the formats of a table's partitions: equal ones are one object, though they were read apart."""

    table_id: int
    of: str = "formats"


class _NamesOf(NamedTuple):
    """The key of the names of all partitions of a table."""

    table_id: int
    of: str = "names"


class _Names(NamedTuple):
    """The sorted names of all partitions of a table as of a version of it; None if they would take too much memory."""

    version: int
    names: Sequence[str] | None


class _ValuesOf(NamedTuple):
    """The key of the values of all partitions of a table with these keys."""

    table_id: int
    keys: Sequence[Column]


class _Values(NamedTuple):
    """The values in these names, read when the names are asked for again; None before, and if the names tell none."""

    names: Sequence[str]
    columns: KeyColumns | None = None
    are_read: bool = False


class KnownPartitions:
    """Finds partitions in memory, and keeps those that it reads. Thread-safe."""

    def __init__(self, store: Store, memory: BoundedMemory) -> None:
        self._store = store
        self._memory = memory

    def by_names(self, connection: Connection, table: KeyedTable, names: Sequence[str]) -> PartitionsByName:
        """The named partitions by name, in name order; missing ones are skipped."""
        if len(names) > _MOST_ASKED or not self._can_keep(table):
            return partitions.get_many(connection, table.id, names)
        cleared, known = self._memory.cleared, self._find_known(connection, table, names)
        unknown = [each for each in names if each not in known]
        if not unknown:
            return _by_name(known.values())
        read = partitions.get_many(connection, table.id, unknown)
        rows = self._keep(table, read.columns, cleared)
        return _by_name((*known.values(), *rows)) if known else read

    def names(self, connection: Connection, table: KeyedTable) -> Sequence[str]:
        """The sorted names of all partitions of a table."""
        if not self._can_keep(table):
            return partitions.names(connection, table.id)
        key, version, cleared = _NamesOf(table.id), table.version or 0, self._memory.cleared
        known: _Names | None = self._memory.get(key)
        found = None if known is None else _names_since(connection, table, known)
        if found is None:
            found = partitions.names(connection, table.id)
        if known is None or known.version < version:
            size = _names_size(found)
            is_small = size <= self._memory.most_bytes // 2
            self._memory.put(key, _Names(version, found if is_small else None), size if is_small else 0, cleared)
        return found

    def filtered_names(
        self, connection: Connection, table: KeyedTable, wanted: PartitionFilter, limit: int | None
    ) -> Sequence[str]:
        """The names of the partitions that a filter selects, sorted, at most `limit`. Raises MetaError.

        They are found in memory if these names of the table were asked for before, unless nulls are asked for.
        """
        names = None if asks_for_null(wanted) else self._small_names(connection, table)
        columns = None if names is None else self._columns(table, names)
        if names is None or columns is None:
            return partitions.filtered_names(connection, table.id, table.partition_keys, wanted, limit)
        return [names[place] for place in columns.select(wanted)[:limit]]

    def _small_names(self, connection: Connection, table: KeyedTable) -> Sequence[str] | None:
        """The sorted names of all partitions; None if there are too many of them, or they cannot be kept."""
        if not self._can_keep(table):
            return None
        key, cleared = _NamesOf(table.id), self._memory.cleared
        known: _Names | None = self._memory.get(key)
        if known is None and partitions.count(connection, table.id) > _MOST_FILTERED:
            known = _Names(table.version or 0, None)
            self._memory.put(key, known, 0, cleared)
        if known is not None and (known.names is None or len(known.names) > _MOST_FILTERED):
            return None
        return self.names(connection, table)

    def _columns(self, table: KeyedTable, names: Sequence[str]) -> KeyColumns | None:
        """The values in a table's names; None if these names were not asked for before, or do not tell the values.

        Names that change between any two questions are left to the database, which takes less than reading them all.
        """
        key, cleared = _ValuesOf(table.id, tuple(table.partition_keys)), self._memory.cleared
        kept: _Values | None = self._memory.get(key)
        if kept is None or kept.names is not names:
            self._memory.put(key, _Values(names), _names_size(names), cleared)
            return None
        if not kept.are_read:
            kept = _Values(names, KeyColumns.of_names(table.partition_keys, names), are_read=True)
            size = 0 if kept.columns is None else kept.columns.size
            self._memory.put(key, kept, _names_size(names) + size, cleared)
        return kept.columns

    def find(
        self,
        connection: Connection,
        table: KeyedTable,
        names: Callable[[], Sequence[str]],
        read: Callable[[], PartitionsByName],
    ) -> PartitionsByName:
        """The partitions that `read` finds: by their `names`, if any partition of the table is known."""
        if not self._can_keep(table):
            return read()
        if self._memory.get(_FormatsOf(table.id)) is not None:
            found_names = names()
            small = len(found_names) <= _MOST_ASKED
            return self.by_names(connection, table, found_names) if small else read()
        cleared, found = self._memory.cleared, read()
        if 0 < len(found) <= _MOST_ASKED:
            self._keep(table, found.columns, cleared)
        return found

    def _can_keep(self, table: KeyedTable) -> bool:
        """Whether the table's version reflects each change of its partitions."""
        has_version = table.version is not None and not self._store.shape.beside_hive
        return has_version and self._memory.most_bytes > 0 and not self._store.is_trying

    def _find_known(self, connection: Connection, table: KeyedTable, names: Sequence[str]) -> dict[str, PartitionRow]:
        """The partitions among these that are known as of the table's version."""
        version, cleared = table.version or 0, self._memory.cleared
        found = self._memory.get_many([(table.id, each) for each in names])
        there = [each for each in found if each is not None and each.version <= version]
        first = min((each.version for each in there), default=version)
        if first == version:
            return {each.row.name: each.row for each in there}
        touched = touched_partitions.between(connection, table.id, first, version)
        if touched is None:
            return {each.row.name: each.row for each in there if each.version == version}
        clean = [each for each in there if each.version == version or each.row.name not in touched]
        newer = (((table.id, each.row.name), each._replace(version=version), each.size) for each in clean)
        self._memory.put_many(newer, cleared)
        return {each.row.name: each.row for each in clean}

    def _keep(self, table: KeyedTable, read: PartitionsByColumn, cleared: int) -> list[PartitionRow]:
        """Keep partitions that were read as of the table's version. Returns them, with the formats that are shared."""
        shared = self._shared_formats(table, read, cleared)
        rows = [*replace(read, formats=[shared.get(id(each), each) for each in read.formats]).rows()]
        known = [_Known(table.version or 0, each, _size(each)) for each in rows if id(each.format) in shared]
        self._memory.put_many((((table.id, each.row.name), each, each.size) for each in known), cleared)
        return rows

    def _shared_formats(self, table: KeyedTable, read: PartitionsByColumn, cleared: int) -> dict[int, Storage | None]:
        """The formats that the table's partitions share, by the ids of their objects and of equal objects just read.

        If partitions differ in more formats than _MOST_FORMATS, those of the others are left out.
        """
        key = _FormatsOf(table.id)
        kept: list[Storage | None] = [*(self._memory.get(key) or ())]
        shared = dict[int, Storage | None]()
        for each in {id(each): each for each in read.formats}.values():
            same = next((old for old in kept if old == each), None)
            if same is None and len(kept) < _MOST_FORMATS:
                kept.append(each)
                shared[id(each)] = each
            elif same is not None:
                shared[id(each)] = shared[id(same)] = same
        self._memory.put(key, tuple(kept), sum(map(_format_size, kept)), cleared)
        return shared


def _names_since(connection: Connection, table: KeyedTable, known: _Names) -> Sequence[str] | None:
    """The names of the table's version, from those as of an earlier one; None if it is not known what was touched."""
    if known.names is None or known.version > (table.version or 0):
        return None
    touched = touched_partitions.between(connection, table.id, known.version, table.version or 0)
    if not touched:
        return None if touched is None else known.names
    there = partitions.find_ids(connection, table.id, sorted(touched))
    found = sorted([*there, *(each for each in known.names if each not in touched)])
    return known.names if found == known.names else found  # what was read of them stays true


def _names_size(names: Sequence[str]) -> int:
    return _NAME_BYTES * len(names) + sum(map(len, names))


def _size(row: PartitionRow) -> int:
    characters = 3 * len(row.name) + len(row.location or "") + sum(map(len, row.parameters.values()))
    return _ROW_BYTES + _PARAMETER_BYTES * len(row.parameters) + characters


def _format_size(form: Storage | None) -> int:
    return _FORMAT_BYTES + _COLUMN_BYTES * (0 if form is None else len(form.columns))


def _by_name(rows: Iterable[PartitionRow]) -> PartitionsByName:
    return PartitionsByName(PartitionsByColumn.of_rows(sorted(rows, key=_NAME_IN)))
