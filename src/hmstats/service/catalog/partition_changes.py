"""Partitions added, altered and dropped, always as sets."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError, MetastoreError, NoSuchObject
from hmstats.model.catalog import Partition, Table, TableName
from hmstats.model.events import PartitionAltered, PartitionsAdded, PartitionsDropped
from hmstats.model.names import partition_name, partition_values
from hmstats.service.access.privileges import are_on_partitions
from hmstats.service.catalog.partition_rules import (
    completed,
    id_of,
    keys_of,
    location_of,
    locked,
    missing_partition,
    named,
    replace_all,
)
from hmstats.service.catalog.table_rules import drops_files, is_view
from hmstats.service.warehouse import Warehouse
from hmstats.store import partition_privileges, partitions, tables, versions
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


class _Dropped(NamedTuple):
    """What was dropped of a table."""

    table: Table
    partitions: list[Partition]


class PartitionChanges:
    """Adds, alters and drops partitions."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def add(self, name: TableName, new: Sequence[Partition], *, if_not_exists: bool = False) -> list[Partition]:
        """Add partitions, all or none; with `if_not_exists` those that are there already are left as they are.

        Returns what was added. Raises AlreadyExists, InvalidObject without the table, MetaError for values that do not
        fit the keys or are there twice, and for a place that is none.
        """

        def insert(unit: Unit) -> tuple[Table, list[Partition]]:
            table = locked(unit, name, InvalidObject)
            return table, self._insert(unit, table, new, if_not_exists=if_not_exists)

        return self._with_directories(*self._store.write(insert))

    def append(self, name: TableName, values: Sequence[str]) -> Partition:
        """Add a partition with the table's storage. Raises as `add` does, and MetaError for a view."""

        def insert(unit: Unit) -> tuple[Table, list[Partition]]:
            table = locked(unit, name, InvalidObject)
            return table, self._insert(unit, table, [_appended(table, values)], if_not_exists=False)

        return self._with_directories(*self._store.write(insert))[0]

    def append_by_name(self, name: TableName, partition: str) -> Partition:
        """The same for the partition of this name. Raises InvalidObject too when a key is missing in the name."""

        def insert(unit: Unit) -> tuple[Table, list[Partition]]:
            table = locked(unit, name, InvalidObject)
            values = partition_values(partition, keys_of(table))
            return table, self._insert(unit, table, [_appended(table, values)], if_not_exists=False)

        return self._with_directories(*self._store.write(insert))[0]

    def _insert(self, unit: Unit, table: Table, new: Sequence[Partition], *, if_not_exists: bool) -> list[Partition]:
        given = named(table, new)
        taken = partitions.find_ids(unit.connection, id_of(table), list(given))
        if taken and not if_not_exists:
            first = given[min(taken)]
            raise AlreadyExists(f"Partition already exists: {table.name} values {list(first.values)}")
        fresh = {
            each: completed(table, each, partition, unit.now_seconds)
            for each, partition in given.items()
            if each not in taken
        }
        partitions.insert_many(unit, id_of(table), table.columns, fresh)
        if are_on_partitions(table):
            partition_privileges.inherit(unit, id_of(table), list(fresh))
        versions.bump(unit, id_of(table), fresh)
        added = list(fresh.values())
        if added:
            unit.record(PartitionsAdded(table, added))
        return added

    def _with_directories(self, table: Table, added: list[Partition]) -> list[Partition]:
        if not is_view(table):
            self._warehouse.make_directories(map(location_of, added))
        return added

    def require(self, name: TableName, error: type[MetastoreError]) -> None:
        """Raises `error` when there is no such table."""
        with self._store.read() as connection:
            if tables.find_id(connection, name) is None:
                raise error(f"{name} table not found")

    def alter(self, name: TableName, changed: Sequence[Partition]) -> None:
        """Replace partitions by their values, all or none. Raises InvalidOperation when one is missing."""

        def update(unit: Unit) -> None:
            table = locked(unit, name, InvalidOperation)
            given = named(table, changed)
            stored = partitions.get_many(unit.connection, id_of(table), list(given))
            absent = [each for each in given if each not in stored]
            if absent:
                raise InvalidOperation(f"alter is not possible: partition {absent[0]} of table {name} does not exist")
            altered = replace_all(unit, table, stored, given)
            versions.bump(unit, id_of(table), given)
            unit.record(*(PartitionAltered(table, stored[each], new) for each, new in altered.items()))

        self._store.write(update)

    def drop(self, name: TableName, values: Sequence[str], *, delete_data: bool) -> None:
        """Drop one partition with its statistics; a managed table's directory goes when `delete_data`.

        Raises NoSuchObject.
        """

        def delete(unit: Unit) -> _Dropped:
            table = locked(unit, name)
            wanted = partition_name(keys_of(table), values)
            return self._delete(unit, table, [wanted], missing_partition(name, values))

        self._without_directories(self._store.write(delete), delete_data=delete_data)

    def drop_by_name(self, name: TableName, partition: str, *, delete_data: bool) -> None:
        """The same for the partition of this name, its keys in any order."""
        absent = NoSuchObject(f"partition {partition} of table {name} not found")

        def delete(unit: Unit) -> _Dropped:
            table = locked(unit, name)
            try:
                values = partition_values(partition, keys_of(table))
            except InvalidObject as error:
                raise absent from error
            return self._delete(unit, table, [partition_name(keys_of(table), values)], absent)

        self._without_directories(self._store.write(delete), delete_data=delete_data)

    def drop_many(
        self, name: TableName, names: Sequence[str], *, if_exists: bool, delete_data: bool, whole: bool = True
    ) -> list[Partition]:
        """Drop the named partitions, all or none; what was dropped, in name order, with values and place if not whole.

        Raises NoSuchObject without the table, and for a missing partition unless `if_exists`.
        """

        def delete(unit: Unit) -> _Dropped:
            table = locked(unit, name)
            absent = None if if_exists else NoSuchObject(f"Some partitions to drop are missing in table {name}")
            return self._delete(unit, table, names, absent, whole=whole)

        dropped = self._store.write(delete)
        self._without_directories(dropped, delete_data=delete_data)
        return dropped.partitions

    def _delete(
        self, unit: Unit, table: Table, names: Sequence[str], absent: NoSuchObject | None, *, whole: bool = False
    ) -> _Dropped:
        """Delete the named partitions. Raises `absent`, unless it is None, when one is not there."""
        read = partitions.get_many if whole else partitions.get_placed
        found = read(unit.connection, id_of(table), names)
        if absent and len(found) < len(set(names)):
            raise absent
        partitions.remove_many(unit, list(map(id_of, found.values())))
        versions.bump(unit, id_of(table), found)
        dropped = list(found.values())
        if dropped:
            unit.record(PartitionsDropped(table, dropped))
        return _Dropped(table, dropped)

    def _without_directories(self, dropped: _Dropped, *, delete_data: bool) -> None:
        if delete_data and drops_files(dropped.table):
            keys = len(dropped.table.partition_keys)
            self._warehouse.remove_partition_directories(map(location_of, dropped.partitions), keys)


def _appended(table: Table, values: Sequence[str]) -> Partition:
    if table.storage is None or table.storage.location is None:
        raise MetaError(f"Cannot append a partition to a view, and table {table.name} has no location")
    return Partition(values=tuple(values), storage=replace(table.storage, location=None))
