"""Partitions: added, listed, altered and dropped, always as sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.errors import (
    AlreadyExists,
    InvalidObject,
    InvalidOperation,
    MetaError,
    MetastoreError,
    NoSuchObject,
)
from hmstats.model.catalog import MANAGED_TABLE, Column, Partition, Storage, Table, TableName
from hmstats.model.names import partition_name
from hmstats.service.catalog.columns import kept_parameters, lost_columns
from hmstats.service.catalog.filter_text import parse
from hmstats.service.catalog.tables import missing_table
from hmstats.service.warehouse import Warehouse
from hmstats.store import column_statistics, partitions, tables, versions
from hmstats.store.engine import Store
from hmstats.store.unit import Connection, Unit

_LAST_DDL = "transient_lastDdlTime"
ALL = -1
"""A limit that is none, as every partition call takes it."""


class Found(NamedTuple):
    """Partitions of a table by name, in name order."""

    table: Table
    partitions: Mapping[str, Partition]


class Partitions:
    """The partitions of every table. `most_listed`: a call that lists more partitions is refused."""

    def __init__(self, store: Store, warehouse: Warehouse, *, most_listed: int | None = None) -> None:
        self._store = store
        self._warehouse = warehouse
        self._most_listed = most_listed

    def get(self, name: TableName, values: Sequence[str]) -> Partition:
        """The partition with these values. Raises NoSuchObject."""
        with self._store.read() as connection:
            table = _table(connection, name)
            wanted = partition_name(_keys(table), values)
            found = partitions.get_many(connection, _id(table), [wanted])
        if wanted not in found:
            raise missing_partition(name, values)
        return found[wanted]

    def by_names(self, name: TableName, names: Sequence[str]) -> Found:
        """Those of the named partitions that exist. Raises NoSuchObject without the table."""
        with self._store.read() as connection:
            table = _table(connection, name)
            return Found(table, partitions.get_many(connection, _id(table), list(names)))

    def by_name(self, name: TableName, partition: str) -> Partition:
        """The partition of this name. Raises NoSuchObject, and MetaError when the name is empty."""
        if not partition:
            raise MetaError(f"Partition name is invalid. {partition}")
        found = self.by_names(name, [partition]).partitions
        if not found:
            raise NoSuchObject(f"partition {partition} of table {name} not found")
        return next(iter(found.values()))

    def all(self, name: TableName, limit: int = ALL) -> Found:
        """Every partition, or the first `limit` of them. Raises NoSuchObject without the table."""
        with self._store.read() as connection:
            table = _table(connection, name)
            return self._listed(table, partitions.get_all(connection, _id(table), self._limit(table, limit)))

    def matching(self, name: TableName, values: Sequence[str], limit: int = ALL) -> Found:
        """The partitions whose values begin with these; an empty value matches any. Raises NoSuchObject, MetaError."""
        with self._store.read() as connection:
            table = _table(connection, name)
            wanted = _wildcards(table, values)
            found = partitions.matching(connection, _id(table), wanted, self._limit(table, limit))
            return self._listed(table, found)

    def filtered(self, name: TableName, text: str, limit: int = ALL) -> Found:
        """The partitions that a filter wants, every one when it is empty. Raises NoSuchObject, MetaError."""
        if not text.strip():
            return self.all(name, limit)
        with self._store.read() as connection:
            table = _table(connection, name)
            wanted = parse(text, _keys(table))
            most = self._limit(table, limit)
            return self._listed(table, partitions.filtered(connection, _id(table), table.partition_keys, wanted, most))

    def count(self, name: TableName, text: str) -> int:
        """How many partitions a filter wants; all when it is empty. Raises NoSuchObject, MetaError."""
        with self._store.read() as connection:
            table = _table(connection, name)
            if not text.strip():
                return partitions.count(connection, _id(table))
            wanted = parse(text, _keys(table))
            return partitions.count_filtered(connection, _id(table), table.partition_keys, wanted)

    def _limit(self, table: Table, limit: int) -> int | None:
        """How many partitions to read: one more than may be listed where the call sets no limit."""
        if self._most_listed is None:
            return _limit(limit)
        if limit > self._most_listed:
            raise self._too_many(table, str(limit))
        return self._most_listed + 1 if limit < 0 else limit

    def _listed(self, table: Table, found: Mapping[str, Partition]) -> Found:
        if self._most_listed is not None and len(found) > self._most_listed:
            raise self._too_many(table, f"more than {self._most_listed}")
        return Found(table, found)

    def _too_many(self, table: Table, number: str) -> MetaError:
        return MetaError(
            f"Number of partitions scanned (={number}) on table '{table.name.table}' exceeds limit "
            f"(={self._most_listed}), which the server's most_partitions_listed sets"
        )

    def names(self, name: TableName, limit: int = ALL) -> list[str]:
        """The partitions' names, sorted. A table that does not exist has none, as in Hive."""
        if not name.database or not name.table:
            raise MetaError(f"a table's database and name must not be empty, found {name}")
        with self._store.read() as connection:
            table_id = tables.find_id(connection, name)
            return [] if table_id is None else partitions.names(connection, table_id, _limit(limit))

    def names_matching(self, name: TableName, values: Sequence[str], limit: int = ALL) -> list[str]:
        """The names of the partitions whose values begin with these; an empty value matches any."""
        with self._store.read() as connection:
            table = _table(connection, name)
            return partitions.matching_names(connection, _id(table), _wildcards(table, values), _limit(limit))

    def add(self, name: TableName, new: Sequence[Partition], *, if_not_exists: bool = False) -> list[Partition]:
        """Add partitions, all or none; with `if_not_exists` those that are there already are left as they are.

        Returns what was added. Raises AlreadyExists, InvalidObject without the table, MetaError for values that do not
        fit the keys or are there twice.
        """

        def insert(unit: Unit) -> tuple[Table, list[Partition]]:
            table = _locked(unit, name, InvalidObject)
            named = _named(table, new)
            taken = partitions.find_ids(unit.connection, _id(table), list(named))
            if taken and not if_not_exists:
                first = named[min(taken)]
                raise AlreadyExists(f"Partition already exists: {name} values {list(first.values)}")
            fresh = {
                each: self._completed(table, each, partition, unit.now_seconds)
                for each, partition in named.items()
                if each not in taken
            }
            partitions.insert_many(unit, _id(table), table.columns, fresh)
            versions.bump(unit, _id(table))
            return table, list(fresh.values())

        table, added = self._store.write(insert)
        if table.table_type == MANAGED_TABLE:
            for partition in added:
                self._warehouse.make_directory(partition.storage.location if partition.storage else None)
        return added

    def alter(self, name: TableName, changed: Sequence[Partition]) -> None:
        """Replace partitions by their values, all or none. Raises InvalidOperation when one is missing."""

        def update(unit: Unit) -> None:
            table = _locked(unit, name, InvalidOperation)
            named = _named(table, changed)
            stored = partitions.get_many(unit.connection, _id(table), list(named))
            absent = [each for each in named if each not in stored]
            if absent:
                raise InvalidOperation(f"alter is not possible: partition {absent[0]} of table {name} does not exist")
            self._replace(unit, table, stored, named)
            versions.bump(unit, _id(table))

        self._store.write(update)

    def drop(self, name: TableName, values: Sequence[str], *, delete_data: bool) -> None:
        """Drop one partition with its statistics; a managed table's directory goes when `delete_data`.

        Raises NoSuchObject.
        """

        def delete(unit: Unit) -> tuple[Table, Partition]:
            table = _locked(unit, name)
            wanted = partition_name(_keys(table), values)
            stored = partitions.get_many(unit.connection, _id(table), [wanted]).get(wanted)
            if stored is None or stored.id is None:
                raise missing_partition(name, values)
            partitions.remove_many(unit, [stored.id])
            versions.bump(unit, _id(table))
            return table, stored

        table, dropped = self._store.write(delete)
        if delete_data and table.table_type == MANAGED_TABLE and dropped.storage:
            self._warehouse.remove_directory(dropped.storage.location)

    def _replace(
        self, unit: Unit, table: Table, stored: Mapping[str, Partition], named: Mapping[str, Partition]
    ) -> None:
        replaced: dict[int, Partition] = {}
        losers: dict[tuple[str, ...], list[int]] = {}
        for each, partition in named.items():
            old = stored[each]
            lost = tuple(lost_columns(_columns(old, table), _columns(partition, table)))
            losers.setdefault(lost, []).append(_id(old))
            parameters = kept_parameters(old.parameters, partition.parameters, lost)
            replaced[_id(old)] = replace(partition, id=old.id, parameters=parameters)
        for lost, partition_ids in losers.items():
            if lost:
                column_statistics.delete_partitions(unit, partition_ids, lost, None)
        partitions.replace_many(unit, _id(table), table.columns, replaced)

    def _completed(self, table: Table, name: str, partition: Partition, now_seconds: int) -> Partition:
        parent = table.storage or Storage()
        storage = partition.storage or parent
        if not storage.location and parent.location:
            storage = replace(storage, location=self._warehouse.partition_location(parent.location, name))
        parameters = {_LAST_DDL: str(now_seconds), **partition.parameters}
        return replace(partition, storage=storage, parameters=parameters, created_seconds=now_seconds)


def missing_partition(name: TableName, values: Sequence[str]) -> NoSuchObject:
    """The error for a partition that is not there."""
    return NoSuchObject(f"partition values={list(values)} of table {name} not found")


def _table(connection: Connection, name: TableName) -> Table:
    found = tables.get(connection, name)
    if found is None:
        raise missing_table(name)
    return found


def _locked(unit: Unit, name: TableName, error: type[MetastoreError] = NoSuchObject) -> Table:
    if tables.lock(unit, name) is None:
        raise error(f"{name} table not found")
    table = _table(unit.connection, name)
    if not table.partition_keys:
        raise InvalidObject(f"table {name} has no partition keys")
    return table


def _named(table: Table, given: Sequence[Partition]) -> dict[str, Partition]:
    """The partitions by name. Raises MetaError when values do not fit the keys, or a partition is there twice."""
    keys = _keys(table)
    named: dict[str, Partition] = {}
    for partition in given:
        name = partition_name(keys, partition.values)
        if name in named:
            raise MetaError(f"Duplicate partitions in the list: {name} of table {table.name}")
        named[name] = partition
    return named


def _wildcards(table: Table, values: Sequence[str]) -> list[str | None]:
    keys = _keys(table)
    if len(values) > len(keys) or not values:
        raise MetaError(
            f"Incorrect number of partition values: table {table.name} has {len(keys)}, found {len(values)}"
        )
    return [value or None for value in values]


def _columns(partition: Partition, table: Table) -> Sequence[Column]:
    return partition.storage.columns if partition.storage else table.columns


def _keys(table: Table) -> list[str]:
    return [key.name for key in table.partition_keys]


def _id(stored: Table | Partition) -> int:
    if stored.id is None:
        raise MetaError(f"{stored} has no id: it was not read from the store")
    return stored.id


def _limit(limit: int) -> int | None:
    return None if limit < 0 else limit
