"""What the calls about partitions have in common: their table, their names, and how one is made and replaced."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from hmstats.errors import MetaError, MetastoreError, NoSuchObject
from hmstats.model.catalog import Column, Partition, Storage, Table, TableName
from hmstats.model.names import partition_name
from hmstats.service.catalog.columns import kept_parameters, lost_columns, without_orders
from hmstats.service.catalog.table_rules import LAST_DDL, is_view
from hmstats.service.catalog.tables import missing_table
from hmstats.service.statistics.spark_statements import counted
from hmstats.service.warehouse import partition_location, qualified, same_place
from hmstats.store import column_statistics, partitions, tables
from hmstats.store.unit import Connection, Unit


def table_of(connection: Connection, name: TableName) -> Table:
    """The table of some partitions. Raises NoSuchObject."""
    found = tables.get(connection, name)
    if found is None:
        raise missing_table(name)
    return found


def locked(unit: Unit, name: TableName, error: type[MetastoreError] = NoSuchObject) -> Table:
    """The table, its row locked until the unit ends. Raises `error` when it is missing, MetaError without keys."""
    if tables.lock(unit, name) is None:
        raise error(f"{name} table not found")
    table = table_of(unit.connection, name)
    if not table.partition_keys:
        raise MetaError(f"table {name} has no partition keys")
    return table


def missing_partition(name: TableName, values: Sequence[str]) -> NoSuchObject:
    """The error for a partition that is not there."""
    return NoSuchObject(f"partition values={list(values)} of table {name} not found")


def keys_of(table: Table) -> list[str]:
    """The names of the partition keys."""
    return [key.name for key in table.partition_keys]


def id_of(stored: Table | Partition) -> int:
    """The id of what was read from the store."""
    if stored.id is None:
        raise MetaError(f"{stored} has no id: it was not read from the store")
    return stored.id


def named(table: Table, given: Sequence[Partition]) -> dict[str, Partition]:
    """The partitions by name. Raises MetaError when values do not fit the keys, or a partition is there twice."""
    keys = keys_of(table)
    found: dict[str, Partition] = {}
    for partition in given:
        name = partition_name(keys, partition.values)
        if name in found:
            raise MetaError(f"Duplicate partitions in the list: {name} of table {table.name}")
        found[name] = partition
    return found


def completed(table: Table, name: str, partition: Partition, now_seconds: int) -> Partition:
    """A new partition with its place and times. Raises MetaError without a storage, and for a place that is none.

    A partition of a view has no place, and needs no storage.
    """
    parameters = {LAST_DDL: str(now_seconds), **without_orders(partition.parameters)}
    storage = partition.storage
    if storage is None and not is_view(table):
        raise MetaError(f"partition {name} of table {table.name} must have a storage descriptor, found none")
    if storage is not None:
        storage = replace(storage, location=_place(table, name, storage))
    return replace(partition, storage=storage, parameters=parameters, created_seconds=now_seconds)


def _place(table: Table, name: str, storage: Storage) -> str | None:
    if not storage.location:
        return default_place(table, name)
    if is_view(table):
        raise MetaError(f"Cannot specify location for a view partition, found {storage.location}")
    if not urlsplit(storage.location).path.startswith("/") and "://" not in storage.location:
        raise MetaError(f"the location of partition {name} must be an absolute path, found {storage.location}")
    return qualified(storage.location)


def default_place(table: Table, name: str) -> str | None:
    """Where the partition of this name goes that names no place; None in a view."""
    parent = table.storage.location if table.storage else None
    return partition_location(parent, name) if parent else None


def location_of(partition: Partition) -> str | None:
    """Where a partition is; None in a view."""
    return partition.storage.location if partition.storage else None


def lies_at_default(table: Table, name: str, partition: Partition) -> bool:
    """Whether a partition lies where its name puts it."""
    return partition.storage is not None and same_place(partition.storage.location, default_place(table, name))


def replace_all(
    unit: Unit, table: Table, stored: Mapping[str, Partition], changed: Mapping[str, Partition]
) -> dict[str, Partition]:
    """Replace stored partitions by name; columns that are dropped or of another type lose their statistics."""
    replaced: dict[str, Partition] = {}
    losers: dict[tuple[str, ...], list[int]] = {}
    for name, partition in changed.items():
        old = stored[name]
        new = replace(partition, id=old.id, storage=_storage(table, old, partition))
        lost = tuple(lost_columns(_columns(old, table), _columns(new, table)))
        losers.setdefault(lost, []).append(id_of(old))
        parameters = counted(old.parameters, kept_parameters(old.parameters, partition.parameters, lost))
        replaced[name] = replace(new, parameters={LAST_DDL: str(unit.now_seconds), **parameters})
    for lost, partition_ids in losers.items():
        if lost:
            column_statistics.delete_partitions(unit, partition_ids, lost, None)
    partitions.replace_many(unit, id_of(table), table.columns, {id_of(each): each for each in replaced.values()})
    return replaced


def _storage(table: Table, old: Partition, new: Partition) -> Storage | None:
    """The new storage; columns and place that it leaves out are the table's and the old ones."""
    if new.storage is None or old.storage is None:
        return new.storage or old.storage
    location = qualified(new.storage.location) if new.storage.location else old.storage.location
    return replace(new.storage, columns=new.storage.columns or table.columns, location=location)


def _columns(partition: Partition, table: Table) -> Sequence[Column]:
    return partition.storage.columns if partition.storage else table.columns
