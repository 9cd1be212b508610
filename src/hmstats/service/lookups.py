"""Tables as the rules read and lock them, and the errors for missing tables and databases."""

from collections.abc import Collection

from hmstats.errors import MetaError, MetastoreError, NoSuchObject
from hmstats.model.catalog.objects import DatabaseName, KeyedTable, Partition, Table, TableName
from hmstats.store.catalog import tables
from hmstats.store.unit.unit import Connection, Unit


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a missing table, with the text of Hive's other calls than those for statistics."""
    return NoSuchObject(f"{name} table not found")


def missing_database(name: DatabaseName) -> NoSuchObject:
    """The error for a missing database."""
    return NoSuchObject(f"There is no database {name}")


def table_of(connection: Connection, name: TableName) -> Table:
    """The table. Raises NoSuchObject if it does not exist."""
    table = tables.get(connection, name)
    if table is None:
        raise missing_table(name)
    return table


def keyed_table_of(connection: Connection, name: TableName, partitions: Collection[str] | None = None) -> KeyedTable:
    """The part of a table that is needed to find its partitions, as tables.find_keyed. Raises NoSuchObject."""
    table = tables.find_keyed(connection, name, partitions)
    if table is None:
        raise missing_table(name)
    return table


def lock_partitioned(unit: Unit, name: TableName, error: type[MetastoreError] = NoSuchObject) -> Table:
    """The partitioned table, its row locked until the unit ends. Raises `error` if missing, MetaError without keys."""
    if tables.lock(unit, name) is None:
        raise error(f"{name} table not found")
    table = table_of(unit.connection, name)
    if not table.partition_keys:
        raise MetaError(f"table {name} has no partition keys")
    return table


def id_of(stored: Table | Partition) -> int:
    """The id of a table or partition that was read from the store. Raises MetaError if it has none."""
    if stored.id is None:
        raise MetaError(f"{stored} has no id: it was not read from the store")
    return stored.id
