"""Partitions renamed, or exchanged with another table. Both carry their statistics.

A managed table's directory moves with the commit. If it cannot move, nothing is changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.errors import InvalidOperation, MetaError
from hmstats.model.catalog.file_changes import Move
from hmstats.model.catalog.location import below, is_same_location
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Partition, Table, TableName
from hmstats.model.events import PartitionAltered, PartitionsAdded, PartitionsDropped
from hmstats.model.spark.spark_schema import data_columns
from hmstats.service.catalog.drops import check_unshared
from hmstats.service.catalog.partitions.partition_rules import (
    FileCounts,
    default_location,
    keys_of,
    lies_at_default,
    replace_all,
)
from hmstats.service.catalog.tables.changed_partitions import unmark_if_rows_changed, unmark_table
from hmstats.service.catalog.tables.columns import same_columns
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.catalog.tables.table_rules import owns_files
from hmstats.service.lookups import id_of, lock_partitioned
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_moves, partitions
from hmstats.store.unit.unit import Unit


class _Renamed(NamedTuple):
    """A renamed partition: the move of its directory, None if it does not move."""

    move: Move | None


class _Exchanged(NamedTuple):
    """Partitions handed over to another table, and the move of their common directory."""

    partitions: list[Partition]
    move: Move | None


class PartitionMoves:
    """Renames partitions, and exchanges them between tables."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)

    def rename(self, name: TableName, values: Sequence[str], partition: Partition) -> None:
        """Replace the partition with these values by one that may have other values.

        A managed table's directory moves to the default location of the new values. Raises InvalidOperation if the
        partition is missing, the new values are taken or the directory cannot be moved, MetaError for values that do
        not fit the keys.
        """
        self._files.move(lambda unit: self._rename(unit, name, values, partition))

    def _rename(self, unit: Unit, name: TableName, values: Sequence[str], partition: Partition) -> _Renamed:
        table = lock_partitioned(unit, name, InvalidOperation)
        old_name = partition_name(keys_of(table), values)
        new_name = partition_name(keys_of(table), partition.values)
        stored = partitions.get_many(unit.connection, id_of(table), [old_name, new_name])
        if old_name not in stored:
            raise InvalidOperation(f"Unable to rename partition because old partition {old_name} does not exist")
        if new_name in stored:
            raise InvalidOperation(f"Partition already exists: {name} values {list(partition.values)}")
        old = stored[old_name]
        move = self._move(unit, table, old, new_name)
        storage = partition.storage or old.storage
        if storage and old.storage:
            storage = replace(storage, location=move.target if move else old.storage.location)
        new = replace_all(unit, table, stored, {old_name: replace(partition, storage=storage)}, FileCounts())[old_name]
        partitions.rename(unit, id_of(old), new_name, partition.values)
        touches_table = unmark_if_rows_changed(unit, table, [old], [new])
        versions.bump(unit, id_of(table), {old_name, new_name}, own=touches_table)
        unit.record(PartitionAltered(table, old, new))
        return _Renamed(move)

    def _move(self, unit: Unit, table: Table, old: Partition, new_name: str) -> Move | None:
        """The move of a renamed partition's directory; None if it does not move.

        Raises InvalidOperation if the new location is outside of the warehouse roots, MetaError if the old one is
        shared with another object.
        """
        target = default_location(table, new_name)
        location = old.storage.location if old.storage else None
        if not owns_files(table) or not location or not target or is_same_location(location, target):
            return None
        move = Move(f"partition of table {table.name}", location, target)
        self._warehouse.check_move(*move)
        check_unshared(unit, f"a partition of table {table.name} cannot be renamed", [location], id_of(table))
        return move

    def exchange(self, spec: Mapping[str, str], source: TableName, target: TableName) -> list[Partition]:
        """Move the partitions whose first keys have these values to another table. Returns them in name order.

        Raises MetaError, and changes nothing, if a table is missing, no partition has the values, the tables differ in
        columns, the other table has one of the partitions, or the directory is shared or cannot be moved.
        """
        try:
            moved = self._files.move(lambda unit: self._exchange(unit, spec, source, target), must_be_there=True)
        except InvalidOperation as error:
            raise MetaError(str(error)) from error
        return moved.partitions

    def _exchange(self, unit: Unit, spec: Mapping[str, str], source: TableName, target: TableName) -> _Exchanged:
        from_table, to_table = _lock_both(unit, source, target)
        prefix = _prefix(from_table, spec)
        moved = partitions.matching(unit.connection, id_of(from_table), prefix)
        if not moved:
            raise MetaError(f"No partition is found with the values {dict(spec)} for the table {source}")
        existing = partitions.find_ids(unit.connection, id_of(to_table), list(moved))
        if existing:
            raise MetaError(f"The partition {min(existing)} already exists in the table {target}")
        ids = [id_of(each) for each in moved.values()]
        move = None
        if owns_files(from_table):
            move = _common_move(from_table, to_table, moved, prefix)
            self._warehouse.check_move(*move)
            refused = f"partitions of table {source} cannot be exchanged"
            check_unshared(unit, refused, [move.source], id_of(from_table))
            partition_moves.relocate(unit, ids, *_roots(from_table, to_table))
        partition_moves.move(unit, ids, id_of(to_table), target)
        for each in (from_table, to_table):
            unmark_table(unit, each)
        versions.bump_all(unit, [id_of(from_table), id_of(to_table)])
        added = list(partitions.get_many(unit.connection, id_of(to_table), list(moved)).values())
        unit.record(*PartitionsAdded.of(to_table, added), PartitionsDropped(from_table, list(moved.values())))
        return _Exchanged(added, move)


def _lock_both(unit: Unit, source: TableName, target: TableName) -> tuple[Table, Table]:
    """The two tables, locked in a fixed order so that two exchanges cannot deadlock."""
    if source.catalog != target.catalog:
        raise MetaError(f"You cannot move a partition across catalogs, found {source.catalog} and {target.catalog}")
    for name in sorted({source, target}, key=str):
        tables.lock(unit, name)
    of_target = tables.get(unit.connection, target)
    of_source = tables.get(unit.connection, source)
    if of_target is None:
        raise MetaError(f"The destination table {target} not found")
    if of_source is None:
        raise MetaError(f"The source table {source} not found")
    same_data_columns = same_columns(data_columns(of_source), data_columns(of_target))
    if not same_data_columns or not same_columns(of_source.partition_keys, of_target.partition_keys):
        raise MetaError("The tables have different schemas. Their partitions cannot be exchanged.")
    return of_source, of_target


def _prefix(table: Table, spec: Mapping[str, str]) -> list[str]:
    """The values of the first keys, which name one directory. Raises MetaError unless `spec` has them."""
    given = {key.lower(): value for key, value in spec.items()}
    values = [given.get(key.lower()) or "" for key in keys_of(table)]
    prefix = [value for value in values if value]
    if not prefix or values[: len(prefix)] != prefix:
        raise MetaError(f"table {table.name} must be given values of its first partition keys, found {dict(spec)}")
    return prefix


def _common_move(source: Table, target: Table, wanted: Mapping[str, Partition], prefix: Sequence[str]) -> Move:
    """The move of the directory that contains all the partitions."""
    for name, partition in wanted.items():
        if not lies_at_default(source, name, partition):
            raise MetaError(f"partition {name} of table {source.name} does not lie at its default location")
    old, new = _roots(source, target)
    path = partition_name(keys_of(source)[: len(prefix)], prefix)
    return Move(f"partition of table {source.name}", below(old, path), below(new, path))


def _roots(source: Table, target: Table) -> tuple[str, str]:
    """The locations of both tables, without a slash at the end. Raises MetaError if one has none."""
    locations = [table.storage.location if table.storage else None for table in (source, target)]
    if not locations[0] or not locations[1]:
        raise MetaError(
            f"tables {source.name} and {target.name} must have locations, found {locations[0]}, {locations[1]}"
        )
    return locations[0].rstrip("/"), locations[1].rstrip("/")
