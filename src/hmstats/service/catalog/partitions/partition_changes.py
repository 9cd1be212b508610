"""Partitions: added, altered and dropped, always as sets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.errors import (
    AccessDenied,
    AlreadyExists,
    InvalidObject,
    InvalidOperation,
    MetaError,
    MetastoreError,
    NoSuchObject,
)
from hmstats.model.catalog.file_changes import Removal
from hmstats.model.catalog.names import partition_name, partition_values
from hmstats.model.catalog.objects import Partition, Table, TableName, is_view
from hmstats.model.events import PartitionAltered, PartitionsAdded, PartitionsDropped
from hmstats.model.parameters.basic_statistics import StatisticsSource
from hmstats.model.parameters.shared_parameters import SharedParameters
from hmstats.service.access.privileges import are_on_partitions
from hmstats.service.catalog.drops import Directories, divide_of_partitions
from hmstats.service.catalog.partitions.partition_counts import PartitionCounts
from hmstats.service.catalog.partitions.partition_rules import (
    FileCounts,
    keys_of,
    location_of,
    missing_partition,
    partitions_by_name,
    replace_all,
    with_defaults,
)
from hmstats.service.catalog.tables.altered_statistics import differ_in_statistics_only
from hmstats.service.catalog.tables.basic_statistics import of_new
from hmstats.service.catalog.tables.changed_partitions import unmark_if_rows_changed, unmark_table
from hmstats.service.catalog.tables.file_changes import DroppedDirectories, FileChanges
from hmstats.service.catalog.tables.locked_statistics import NEW, with_locked_values
from hmstats.service.catalog.tables.table_rules import drops_files, is_purged, owns_files
from hmstats.service.lookups import id_of, lock_partitioned
from hmstats.service.warehouse.file_listing import FileListing
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_privileges, partitions
from hmstats.store.statistics import statistics_locks
from hmstats.store.storage import file_changes
from hmstats.store.unit.unit import Unit

Also = Callable[[Unit, Mapping[str, Partition]], object]
"""Writes what else belongs to partitions, which it is given by name."""


class _Dropped(NamedTuple):
    """Partitions dropped from a table, and their directories."""

    table: Table
    partitions: list[Partition]
    directories: Directories


class PartitionChanges:
    """Adds, alters and drops partitions."""

    def __init__(self, store: Store, warehouse: Warehouse, listing: FileListing | None = None) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)
        self._counts = PartitionCounts(store, listing)

    def add(
        self,
        name: TableName,
        new: Sequence[Partition],
        *,
        if_not_exists: bool = False,
        table_columns: bool = False,
        source: StatisticsSource = StatisticsSource.UNSAID,
        also: Also | None = None,
    ) -> list[Partition]:
        """Add partitions, all or none; with `if_not_exists` skip those that exist.

        With `table_columns` those without columns get the table's. Counts the files at their locations, unless a
        partition states number and size of its files. `also` writes what else belongs to the given partitions, those
        too that exist. Returns the partitions added. Raises AlreadyExists, InvalidObject if the table does not exist,
        MetaError if values do not fit the keys or occur twice, and if a location is not absolute.
        """

        def complete(table: Table) -> Sequence[Partition]:
            return _with_columns(table, new) if table_columns else new

        return self._add(name, complete, source, if_not_exists=if_not_exists, also=also)

    def append(self, name: TableName, values: Sequence[str]) -> Partition:
        """Add the partition with these values and the table's storage. Raises as `add`, and MetaError for a view."""
        return self._add(name, lambda table: [_with_table_storage(table, values)])[0]

    def append_by_name(self, name: TableName, partition: str) -> Partition:
        """Add the partition with this name and the table's storage.

        Raises as `append`, and InvalidObject if the name lacks a key.
        """
        return self._add(name, lambda table: [_with_table_storage(table, partition_values(partition, keys_of(table)))])[
            0
        ]

    def _add(
        self,
        name: TableName,
        new: Callable[[Table], Sequence[Partition]],
        source: StatisticsSource = StatisticsSource.UNSAID,
        *,
        if_not_exists: bool = False,
        also: Also | None = None,
    ) -> list[Partition]:
        """Add the partitions that `new` makes from their table. Raises as `add`."""

        def attempt() -> list[Partition]:
            counted = self._counts.of_new(name, new, source)

            def insert(unit: Unit) -> list[Partition]:
                table = lock_partitioned(unit, name, InvalidObject)
                given = partitions_by_name(table, new(table))
                added = self._insert(unit, table, given, counted, if_not_exists=if_not_exists)
                if also is not None:
                    also(unit, given)
                return added

            return self._store.write(insert)

        return self._files.add(attempt)

    def _insert(
        self, unit: Unit, table: Table, by_name: Mapping[str, Partition], counted: FileCounts, *, if_not_exists: bool
    ) -> list[Partition]:
        missing = self._missing(unit, table, by_name, counted, if_not_exists=if_not_exists)
        file_changes.check_stays(unit.connection, [each for each in map(location_of, missing.values()) if each])
        partitions.insert_many(unit, id_of(table), table.columns, missing)
        if are_on_partitions(table):
            partition_privileges.inherit(unit, id_of(table), list(missing))
        _bump(unit, table, missing)
        added = list(missing.values())
        unit.record(*PartitionsAdded.of(table, added))
        if not is_view(table):
            self._warehouse.make_directories(map(location_of, added), may_be_files=not owns_files(table))
        return added

    def _missing(
        self, unit: Unit, table: Table, by_name: Mapping[str, Partition], counted: FileCounts, *, if_not_exists: bool
    ) -> dict[str, Partition]:
        """The partitions to insert by name, as they are stored. Raises AlreadyExists."""
        existing = partitions.find_ids(unit.connection, id_of(table), list(by_name))
        if existing and not if_not_exists:
            first = by_name[min(existing)]
            raise AlreadyExists(f"Partition already exists: {table.name} values {list(first.values)}")
        shared = SharedParameters()
        missing = {
            each: _with_sizes(with_defaults(table, each, partition, unit.now_seconds), counted, shared)
            for each, partition in by_name.items()
            if each not in existing
        }
        locks = statistics_locks.of_table(unit, id_of(table))
        if locks:
            for name, each in missing.items():
                parameters = with_locked_values(unit, locks, NEW, {}, each.parameters)
                missing[name] = replace(each, parameters=parameters)
        return missing

    def require(self, name: TableName, error: type[MetastoreError]) -> None:
        """Raise `error` if the table does not exist."""
        with self._store.read() as connection:
            if tables.find_id(connection, name) is None:
                raise error(f"{name} table not found")

    def alter(
        self,
        name: TableName,
        changed: Sequence[Partition],
        source: StatisticsSource = StatisticsSource.UNSAID,
        *,
        table_columns: bool = False,
        statistics_only: bool = False,
    ) -> None:
        """Replace the partitions with the same values, all or none. `source` states the origin of row and file counts.

        With `table_columns` those without columns get the table's.
        Raises InvalidOperation if the table or a partition does not exist; AccessDenied with `statistics_only` if
        anything but statistics differs.
        """
        counted = self._counts.of_altered(name, changed, source)

        def update(unit: Unit) -> None:
            table = lock_partitioned(unit, name, InvalidOperation)
            by_name = partitions_by_name(table, _with_columns(table, changed) if table_columns else changed)
            stored = partitions.get_many(unit.connection, id_of(table), list(by_name))
            absent = [each for each in by_name if each not in stored]
            if absent:
                raise InvalidOperation(f"partition {absent[0]} of table {name} cannot be altered: it does not exist")
            if statistics_only:
                _check_statistics_only(name, stored, by_name)
            altered = replace_all(unit, table, stored, by_name, counted)
            touches_table = unmark_if_rows_changed(unit, table, [stored[each] for each in altered], altered.values())
            versions.bump(unit, id_of(table), by_name, own=touches_table)
            unit.record(*(PartitionAltered(table, stored[each], new) for each, new in altered.items()))

        self._store.write(update)

    def drop(self, name: TableName, values: Sequence[str], *, delete_data: bool, purge: bool = False) -> None:
        """Drop the partition with these values and its statistics; with `delete_data` also a managed table's directory.

        The directory moves to the trash, if there is one, unless the caller or the table asks for a `purge`.

        Raises NoSuchObject.
        """

        def delete(unit: Unit) -> _Dropped:
            table = lock_partitioned(unit, name)
            wanted = partition_name(keys_of(table), values)
            return self._delete(unit, table, [wanted], missing_partition(name, values))

        self._drop_directories(delete, delete_data=delete_data, purge=purge)

    def drop_by_name(self, name: TableName, partition: str, *, delete_data: bool, purge: bool = False) -> None:
        """Drop the partition with this name, its keys in any order, as `drop` does. Raises NoSuchObject."""
        absent = NoSuchObject(f"partition {partition} of table {name} not found")

        def delete(unit: Unit) -> _Dropped:
            table = lock_partitioned(unit, name)
            try:
                values = partition_values(partition, keys_of(table))
            except InvalidObject as error:
                raise absent from error
            return self._delete(unit, table, [partition_name(keys_of(table), values)], absent)

        self._drop_directories(delete, delete_data=delete_data, purge=purge)

    def drop_many(
        self,
        name: TableName,
        names: Sequence[str],
        *,
        if_exists: bool,
        delete_data: bool,
        whole: bool = True,
        purge: bool = False,
    ) -> list[Partition]:
        """Drop the named partitions, all or none. Returns them in name order, with values and location unless `whole`.

        Raises NoSuchObject if the table does not exist, and if a partition is missing unless `if_exists`.
        """

        def delete(unit: Unit) -> _Dropped:
            table = lock_partitioned(unit, name)
            absent = None if if_exists else NoSuchObject(f"Some partitions to drop are missing in table {name}")
            return self._delete(unit, table, names, absent, whole=whole)

        return self._drop_directories(delete, delete_data=delete_data, purge=purge).partitions

    def _delete(
        self, unit: Unit, table: Table, names: Sequence[str], absent: NoSuchObject | None, *, whole: bool = False
    ) -> _Dropped:
        """Delete the named partitions from the database. Raises `absent`, unless it is None, if one does not exist."""
        read = partitions.get_many if whole else partitions.get_with_location
        stored = read(unit.connection, id_of(table), names)
        if absent and len(stored) < len(set(names)):
            raise absent
        partitions.remove_many(unit, list(map(id_of, stored.values())))
        _bump(unit, table, stored)
        dropped = list(stored.values())
        if dropped:
            unit.record(PartitionsDropped(table, dropped))
        locations = [each for each in map(location_of, dropped) if each] if drops_files(table) else []
        return _Dropped(table, dropped, divide_of_partitions(unit, table, locations))

    def _drop_directories(self, delete: Callable[[Unit], _Dropped], *, delete_data: bool, purge: bool) -> _Dropped:
        """Drop partitions; with `delete_data` also their directories."""

        def leaving(unit: Unit) -> tuple[_Dropped, DroppedDirectories | None]:
            dropped = delete(unit)
            return dropped, _directories_to_remove(dropped, purge=purge) if delete_data else None

        return self._files.drop(leaving)


def _bump(unit: Unit, table: Table, partitions_by_name: Mapping[str, Partition]) -> None:
    """Note that a table gets or loses these partitions: it is not marked as accurate any more."""
    touches_table = bool(partitions_by_name) and unmark_table(unit, table)
    versions.bump(unit, id_of(table), partitions_by_name, own=touches_table)


def _directories_to_remove(dropped: _Dropped, *, purge: bool) -> DroppedDirectories:
    table, (own, shared) = dropped.table, dropped.directories
    removal = Removal(
        tuple(own),
        purge=purge or is_purged(table),
        keys=len(table.partition_keys),
        within=table.storage.location if table.storage else None,
        table_id=id_of(table),
    )
    return DroppedDirectories(f"partitions of table {table.name}", removal, shared)


def _with_sizes(partition: Partition, counted: FileCounts, shared: SharedParameters) -> Partition:
    sizes = counted.sizes.get(location_of(partition) or "")
    return replace(partition, parameters=shared(of_new(partition.parameters, counted.source, sizes)))


def _with_table_storage(table: Table, values: Sequence[str]) -> Partition:
    if table.storage is None or table.storage.location is None:
        raise MetaError(f"Cannot append a partition to a view, and table {table.name} has no location")
    return Partition(values=tuple(values), storage=replace(table.storage, location=None))


def _with_columns(table: Table, given: Sequence[Partition]) -> list[Partition]:
    """The partitions, of which those without columns have the table's."""
    return [
        replace(each, storage=replace(each.storage, columns=table.columns))
        if each.storage is not None and not each.storage.columns
        else each
        for each in given
    ]


def _check_statistics_only(name: TableName, stored: Mapping[str, Partition], altered: Mapping[str, Partition]) -> None:
    others = [each for each in altered if not differ_in_statistics_only(stored[each], altered[each])]
    if others:
        raise AccessDenied(
            f"partition {others[0]} of table {name} may be altered in its statistics only, found another change"
        )
