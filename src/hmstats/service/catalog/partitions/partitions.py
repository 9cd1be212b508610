"""Partitions: read and listed, always as sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hmstats.errors import InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.names import partition_name, partition_values, unescape
from hmstats.model.catalog.objects import KeyedTable, Partition, TableName
from hmstats.model.partitions.partitions_by_name import PartitionsByName
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.filter_text import parse
from hmstats.service.catalog.partitions.known_partitions import KnownPartitions
from hmstats.service.catalog.partitions.partition_rules import keys_of, missing_partition
from hmstats.service.lookups import keyed_table_of
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_values as stored_values
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Connection

ALL = -1
"""The limit of partition calls that means no limit."""
_FEW_NAMES = 1_000
"""The highest limit for which fewer names are read than the table has; all are read for a higher one, and kept."""


class TablePartitions(NamedTuple):
    """Partitions of a table by name, in name order."""

    table: KeyedTable
    partitions: PartitionsByName


@dataclass(frozen=True, slots=True)
class KeyValues:
    """A request for values of partition keys, of the partitions that a filter selects; `distinct` drops duplicates."""

    keys: Sequence[str]
    filter: str = ""
    distinct: bool = True
    ascending: bool = True
    limit: int = ALL


class Partitions:
    """The partitions of every table. Calls that would list more than `most_listed` partitions are refused."""

    def __init__(self, store: Store, known: KnownPartitions | None = None, *, most_listed: int | None = None) -> None:
        self._store = store
        self._known = known or KnownPartitions(store, BoundedMemory(0))
        self._most_listed = most_listed

    def get(self, name: TableName, values: Sequence[str]) -> Partition:
        """The partition with these values. Raises NoSuchObject."""
        return next(iter(self.with_values(name, values).partitions.values()))

    def with_values(self, name: TableName, values: Sequence[str]) -> TablePartitions:
        """The partition with these values, and its table. Raises NoSuchObject."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name, ())
            partition = partition_name(keys_of(table), values)
            versions.note_read(table.id, table.version, [partition])
            partitions_found = self._known.by_names(connection, table, [partition])
        if partition not in partitions_found:
            raise missing_partition(name, values)
        return TablePartitions(table, partitions_found)

    def by_names(self, name: TableName, names: Sequence[str]) -> TablePartitions:
        """The named partitions; missing ones are skipped. Raises NoSuchObject if the table does not exist."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name, names)
            return TablePartitions(table, self._known.by_names(connection, table, names))

    def by_name(self, name: TableName, partition: str) -> Partition:
        """The partition with this name. Its keys may be in any order but keep their case; values may be escaped or not.

        Raises NoSuchObject, and MetaError if the name is empty.
        """
        if not partition:
            raise MetaError(f"Partition name is invalid. {partition}")
        with self._store.read() as connection:
            table = keyed_table_of(connection, name, ())
            for key in keys_of(table):
                if not _names_key(partition, key):
                    raise NoSuchObject(f"partition {partition} of table {name} not found: it has no key {key}")
            try:
                wanted = partition_name(keys_of(table), partition_values(partition, keys_of(table)))
            except InvalidObject as error:
                raise NoSuchObject(f"partition {partition} of table {name} not found: {error}") from error
            versions.note_read(table.id, table.version, [wanted])
            found = self._known.by_names(connection, table, [wanted])
        if not found:
            raise NoSuchObject(f"partition {partition} of table {name} not found")
        return next(iter(found.values()))

    def all(self, name: TableName, limit: int = ALL) -> TablePartitions:
        """Every partition, or the first `limit` of them. Raises NoSuchObject if the table does not exist."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            most = self._limit(table, limit)
            found = self._known.find(
                connection,
                table,
                names=lambda: self._first_names(connection, table, most),
                read=lambda: partitions.get_all(connection, table.id, most),
            )
            return self._listed(table, found)

    def matching(self, name: TableName, values: Sequence[str], limit: int = ALL) -> TablePartitions:
        """The partitions whose values begin with these; an empty value matches any. Raises NoSuchObject, MetaError."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            wanted, most = _wildcards(table, values), self._limit(table, limit)
            found = self._known.find(
                connection,
                table,
                names=lambda: partitions.matching_names(connection, table.id, wanted, most),
                read=lambda: partitions.matching(connection, table.id, wanted, most),
            )
            return self._listed(table, found)

    def filtered(self, name: TableName, text: str, limit: int = ALL) -> TablePartitions:
        """The partitions that a filter selects; all if it is empty. Raises NoSuchObject, MetaError."""
        if not text.strip():
            return self.all(name, limit)
        with self._store.read() as connection:
            table = tables.find_keyed(connection, name)
            if table is None:
                raise NoSuchObject(f"Specified catalog.database.table does not exist : {name}")
            keys = table.partition_keys
            wanted, most = parse(text, keys_of(table)), self._limit(table, limit)
            found = self._known.find(
                connection,
                table,
                names=lambda: self._known.filtered_names(connection, table, wanted, most),
                read=lambda: partitions.filtered(connection, table.id, keys, wanted, most),
            )
            return self._listed(table, found)

    def count(self, name: TableName, text: str) -> int:
        """The number of partitions that a filter selects; all if it is empty. Raises NoSuchObject, MetaError."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            if not text.strip():
                return partitions.count(connection, table.id)
            wanted = parse(text, keys_of(table))
            return partitions.count_filtered(connection, table.id, table.partition_keys, wanted)

    def key_values(self, name: TableName, wanted: KeyValues) -> list[tuple[str, ...]]:
        """The combinations of values of some keys, sorted. Raises NoSuchObject, MetaError if a key does not exist."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            keys = [key.lower() for key in keys_of(table)]
            unknown = [key for key in wanted.keys if key.lower() not in keys]
            if unknown or not wanted.keys:
                raise MetaError(f"expected partition keys of table {name}, found {', '.join(wanted.keys) or 'none'}")
            restricted = parse(wanted.filter, keys_of(table)) if wanted.filter.strip() else None
            return stored_values.read(
                connection,
                table.id,
                table.partition_keys,
                [keys.index(key.lower()) for key in wanted.keys],
                stored_values.ValuesRequest(restricted, wanted.distinct, wanted.ascending, _limit(wanted.limit)),
            )

    def listable(self, table: KeyedTable, names: Sequence[str], limit: int) -> Sequence[str]:
        """The first `limit` of the names; all if there is no limit. Raises MetaError if more than `most_listed`."""
        if self._most_listed is not None and limit > self._most_listed:
            raise self._too_many(table, str(limit))
        listed = names if limit < 0 else names[:limit]
        if self._most_listed is not None and len(listed) > self._most_listed:
            raise self._too_many(table, f"more than {self._most_listed}")
        return listed

    def _limit(self, table: KeyedTable, limit: int) -> int | None:
        """The number of partitions to read: if the call sets no limit, one more than may be listed.

        Raises MetaError if the call's limit is higher than `most_listed`.
        """
        if self._most_listed is None:
            return _limit(limit)
        if limit > self._most_listed:
            raise self._too_many(table, str(limit))
        return self._most_listed + 1 if limit < 0 else limit

    def _listed(self, table: KeyedTable, found: PartitionsByName) -> TablePartitions:
        if self._most_listed is not None and len(found) > self._most_listed:
            raise self._too_many(table, f"more than {self._most_listed}")
        return TablePartitions(table, found)

    def _too_many(self, table: KeyedTable, count: str) -> MetaError:
        return MetaError(
            f"Number of partitions scanned (={count}) on table '{table.name.table}' exceeds limit "
            f"(={self._most_listed}), which the server's most_partitions_listed sets"
        )

    def all_names(self, name: TableName) -> tuple[KeyedTable, Sequence[str]]:
        """The table and the sorted names of all its partitions. Raises NoSuchObject if the table does not exist."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            return table, self._known.names(connection, table)

    def names(self, name: TableName, limit: int = ALL) -> list[str]:
        """The partitions' names, sorted; none if the table does not exist, as in Hive."""
        if not name.database or not name.table:
            raise MetaError(f"a table's database and name must not be empty, found {name}")
        with self._store.read() as connection:
            table = tables.find_keyed(connection, name)
            if table is None:
                return []
            return [*self._first_names(connection, table, _limit(limit))]

    def _first_names(self, connection: Connection, table: KeyedTable, limit: int | None) -> Sequence[str]:
        """The first names of a table's partitions, all without a limit."""
        if limit is not None and limit <= _FEW_NAMES:
            return partitions.names(connection, table.id, limit)
        return self._known.names(connection, table)[:limit]

    def names_matching(self, name: TableName, values: Sequence[str], limit: int = ALL) -> list[str]:
        """The names of the partitions whose values begin with these; an empty value matches any."""
        with self._store.read() as connection:
            table = keyed_table_of(connection, name)
            return partitions.matching_names(connection, table.id, _wildcards(table, values), _limit(limit))


def _wildcards(table: KeyedTable, values: Sequence[str]) -> list[str | None]:
    keys = keys_of(table)
    if len(values) > len(keys) or not values:
        raise MetaError(
            f"Incorrect number of partition values: table {table.name} has {len(keys)}, found {len(values)}"
        )
    return [value or None for value in values]


def _limit(limit: int) -> int | None:
    return None if limit < 0 else limit


def _names_key(partition: str, key: str) -> bool:
    """Whether a partition's name has a value for a key, which is compared with its case, as in Hive."""
    return any(unescape(element.partition("=")[0]) == key for element in partition.split("/"))
