"""Partitions that get other values, or become another table's. Both carry their statistics.

A managed table's directory moves after the database has committed. Where it cannot, the change is undone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hmstats.errors import InvalidOperation, MetaError
from hmstats.model.catalog import Partition, Table, TableName
from hmstats.model.events import PartitionAltered, PartitionsAdded, PartitionsDropped
from hmstats.model.names import partition_name
from hmstats.service.catalog.columns import same_columns
from hmstats.service.catalog.partition_rules import (
    default_place,
    id_of,
    keys_of,
    lies_at_default,
    locked,
    replace_all,
)
from hmstats.service.catalog.table_rules import owns_files
from hmstats.service.warehouse import Warehouse, partition_location, same_place
from hmstats.store import partition_moves, partitions, tables, versions
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


class _Renamed(NamedTuple):
    """A partition before and after, by name, and from where to where its directory must go."""

    before: tuple[str, Partition]
    after: tuple[str, Partition]
    move: tuple[str, str] | None


class _Exchanged(NamedTuple):
    """Partitions that are another table's now, and from where to where their common directory must go."""

    source: Table
    target: Table
    partitions: list[Partition]
    move: tuple[str, str] | None


class PartitionMoves:
    """Renames partitions and hands them over."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def rename(self, name: TableName, values: Sequence[str], partition: Partition) -> None:
        """Replace the partition with these values by one that may have others.

        That of a managed table goes where its new values put it. Raises InvalidOperation when it is missing, its new
        values are taken or its directory cannot be moved, MetaError for values that do not fit the keys.
        """
        done = self._store.write(lambda unit: self._rename(unit, name, values, partition))
        if done.move is None:
            return
        try:
            self._warehouse.move_directory(*done.move)
        except InvalidOperation:
            self._store.write(lambda unit: _put_back(unit, name, done))
            raise

    def _rename(self, unit: Unit, name: TableName, values: Sequence[str], partition: Partition) -> _Renamed:
        table = locked(unit, name, InvalidOperation)
        old_name = partition_name(keys_of(table), values)
        new_name = partition_name(keys_of(table), partition.values)
        found = partitions.get_many(unit.connection, id_of(table), [old_name, new_name])
        if old_name not in found:
            raise InvalidOperation(f"Unable to rename partition because old partition {old_name} does not exist")
        if new_name in found:
            raise InvalidOperation(f"Partition already exists: {name} values {list(partition.values)}")
        old = found[old_name]
        move = self._move(table, old, new_name)
        storage = partition.storage or old.storage
        if storage and old.storage:
            storage = replace(storage, location=move[1] if move else old.storage.location)
        new = replace_all(unit, table, found, {old_name: replace(partition, storage=storage)})[old_name]
        partitions.rename(unit, id_of(old), new_name, partition.values)
        versions.bump(unit, id_of(table), {old_name, new_name})
        unit.record(PartitionAltered(table, old, new))
        return _Renamed((old_name, old), (new_name, new), move)

    def _move(self, table: Table, old: Partition, new_name: str) -> tuple[str, str] | None:
        """From where to where a renamed partition's directory goes; None when it is not the warehouse's to move."""
        place = default_place(table, new_name)
        location = old.storage.location if old.storage else None
        if not owns_files(table) or not location or not place or same_place(location, place):
            return None
        return (location, place) if self._warehouse.holds(location) and self._warehouse.holds(place) else None

    def exchange(self, spec: Mapping[str, str], source: TableName, target: TableName) -> list[Partition]:
        """Hand over the partitions whose first keys have these values; what the other table got, in name order.

        Raises MetaError when a table or every such partition is missing, the tables differ in columns, one is there
        already, or the directory cannot be moved; nothing is changed then.
        """
        done = self._store.write(lambda unit: self._exchange(unit, spec, source, target))
        if done.move:
            try:
                moved = self._warehouse.move_directory(*done.move)
            except InvalidOperation as error:
                self._store.write(lambda unit: _hand_back(unit, done))
                raise MetaError(str(error)) from error
            if not moved:
                self._store.write(lambda unit: _hand_back(unit, done))
                raise MetaError(f"{done.move[0]} of table {source} is not there: no partition was exchanged")
        return done.partitions

    def _exchange(self, unit: Unit, spec: Mapping[str, str], source: TableName, target: TableName) -> _Exchanged:
        from_table, to_table = _both(unit, source, target)
        prefix = _prefix(from_table, spec)
        wanted = partitions.matching(unit.connection, id_of(from_table), prefix)
        if not wanted:
            raise MetaError(f"No partition is found with the values {dict(spec)} for the table {source}")
        taken = partitions.find_ids(unit.connection, id_of(to_table), list(wanted))
        if taken:
            raise MetaError(f"The partition {min(taken)} already exists in the table {target}")
        ids = [id_of(each) for each in wanted.values()]
        move = None
        if owns_files(from_table):
            move = _common_move(from_table, to_table, wanted, prefix)
            partition_moves.relocate(unit, ids, *_roots(from_table, to_table))
        partition_moves.hand_over(unit, ids, id_of(to_table), target)
        versions.bump_all(unit, [id_of(from_table), id_of(to_table)])
        got = list(partitions.get_many(unit.connection, id_of(to_table), list(wanted)).values())
        unit.record(PartitionsAdded(to_table, got), PartitionsDropped(from_table, list(wanted.values())))
        return _Exchanged(from_table, to_table, got, move)


def _put_back(unit: Unit, name: TableName, done: _Renamed) -> None:
    """Undo a rename whose directory could not be moved."""
    (old_name, old), (new_name, _), _ = done
    table = locked(unit, name)
    stored = partitions.get_many(unit.connection, id_of(table), [new_name])
    if new_name not in stored:
        return
    partitions.rename(unit, id_of(old), old_name, old.values)
    partitions.replace_many(unit, id_of(table), table.columns, {id_of(old): old})
    versions.bump(unit, id_of(table), {old_name, new_name})
    unit.record(PartitionAltered(table, stored[new_name], old))


def _hand_back(unit: Unit, done: _Exchanged) -> None:
    """Undo an exchange whose directory could not be moved."""
    _both(unit, done.source.name, done.target.name)
    ids = [id_of(each) for each in done.partitions]
    partition_moves.relocate(unit, ids, *_roots(done.target, done.source))
    partition_moves.hand_over(unit, ids, id_of(done.source), done.source.name)
    versions.bump_all(unit, [id_of(done.source), id_of(done.target)])
    names = [partition_name(keys_of(done.source), each.values) for each in done.partitions]
    back = list(partitions.get_many(unit.connection, id_of(done.source), names).values())
    unit.record(PartitionsAdded(done.source, back), PartitionsDropped(done.target, done.partitions))


def _both(unit: Unit, source: TableName, target: TableName) -> tuple[Table, Table]:
    """The two tables, locked in one fixed order so that two exchanges never wait for each other in a circle."""
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
    alike = same_columns(of_source.columns, of_target.columns)
    if not alike or not same_columns(of_source.partition_keys, of_target.partition_keys):
        raise MetaError("The tables have different schemas. Their partitions cannot be exchanged.")
    return of_source, of_target


def _prefix(table: Table, spec: Mapping[str, str]) -> list[str]:
    """The values of the first keys: partitions that one directory leads to."""
    given = {key.lower(): value for key, value in spec.items()}
    values = [given.get(key.lower()) or "" for key in keys_of(table)]
    prefix = [value for value in values if value]
    if not prefix or values[: len(prefix)] != prefix:
        raise MetaError(f"values of the first partition keys of table {table.name} are needed, found {dict(spec)}")
    return prefix


def _common_move(
    source: Table, target: Table, wanted: Mapping[str, Partition], prefix: Sequence[str]
) -> tuple[str, str]:
    """From where to where the directory goes that all the partitions lie in."""
    for name, partition in wanted.items():
        if not lies_at_default(source, name, partition):
            raise MetaError(f"partition {name} of table {source.name} does not lie where its name puts it")
    old, new = _roots(source, target)
    path = partition_name(keys_of(source)[: len(prefix)], prefix)
    return partition_location(old, path), partition_location(new, path)


def _roots(source: Table, target: Table) -> tuple[str, str]:
    """The places of both tables."""
    places = [table.storage.location if table.storage else None for table in (source, target)]
    if not places[0] or not places[1]:
        raise MetaError(f"tables {source.name} and {target.name} must have locations, found {places[0]}, {places[1]}")
    return places[0].rstrip("/"), places[1].rstrip("/")
