"""Relayed calls that change mirrored tables, and the change that each makes.

The next question about a table notices most changes by itself, such as changed columns, so that they need nothing here.
Listed here are those that it would miss: before Hive 4, a table that is dropped and created again within a second looks
like the old one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.model.catalog.names import database_name, partition_name, table_name
from hmstats.model.catalog.objects import DatabaseName, TableName

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A table that is dropped."""

    table: TableName


@dataclass(frozen=True, slots=True)
class DatabaseDropped:
    """A database that is dropped together with its tables."""

    database: DatabaseName


@dataclass(frozen=True, slots=True)
class Renamed:
    """A table that is renamed."""

    table: TableName
    new: TableName


@dataclass(frozen=True, slots=True)
class Emptied:
    """A table that is truncated with all its partitions (None), or some partitions of it."""

    table: TableName
    names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class PartitionsGone:
    """Partitions of a table that are dropped or exchanged, by name or by values; the call may leave them unnamed."""

    table: TableName
    names: tuple[str, ...] = ()
    values: tuple[str, ...] | None = None
    unnamed: bool = False

    def names_with(self, keys: list[str]) -> list[str]:
        """The names of the partitions; `keys` are the table's partition keys. Raises MetaError."""
        of_values = () if self.values is None else (partition_name(keys, self.values),)
        return [*self.names, *of_values]


@dataclass(frozen=True, slots=True)
class PartitionRenamed:
    """A partition that gets other values."""

    table: TableName
    old: tuple[str, ...]
    new: tuple[str, ...]


Change = Dropped | DatabaseDropped | Renamed | Emptied | PartitionsGone | PartitionRenamed


def changes_of(name: str, arguments: Arguments) -> list[Change]:
    """The changes that a call of FOLLOWED makes to tables; none if a required argument is missing."""
    try:
        return _FINDERS[name](arguments)
    except (AttributeError, TypeError, KeyError):
        return []


def _drop_database(arguments: Arguments) -> list[Change]:
    if "req" in arguments:
        request = arguments["req"]
        return [DatabaseDropped(database_name(request.name, request.catalogName))]
    return [DatabaseDropped(database_name(arguments["name"]))]


def _drop_table(arguments: Arguments) -> list[Change]:
    if "dropTableReq" in arguments:
        request = arguments["dropTableReq"]
        return [Dropped(table_name(request.dbName, request.tableName, request.catalogName))]
    return [Dropped(table_name(arguments["dbname"], arguments["name"]))]


def _alter_table(arguments: Arguments) -> list[Change]:
    if "req" in arguments:
        request = arguments["req"]
        old, new = table_name(request.dbName, request.tableName, request.catName), request.table
    else:
        old, new = table_name(arguments["dbname"], arguments["tbl_name"]), arguments["new_tbl"]
    named = table_name(new.dbName or old.database, new.tableName or old.table, new.catName or old.catalog)
    return [] if named == old else [Renamed(old, named)]


def _truncate(arguments: Arguments) -> list[Change]:
    if "req" in arguments:
        request = arguments["req"]
        return [Emptied(table_name(request.dbName, request.tableName), _truncated_partitions(request.partNames))]
    return [
        Emptied(table_name(arguments["dbName"], arguments["tableName"]), _truncated_partitions(arguments["partNames"]))
    ]


def _truncated_partitions(names: list[str] | None) -> tuple[str, ...] | None:
    """The partitions that are truncated. An empty list truncates none: Hive then leaves the table as it is."""
    return None if names is None else tuple(names)


def _drop_partition(arguments: Arguments) -> list[Change]:
    request = arguments.get("dropPartitionReq")
    if request is not None:
        table = table_name(request.dbName, request.tblName, request.catName)
        return [PartitionsGone(table, (request.partName,) if request.partName else (), _values(request.partVals))]
    table = table_name(arguments["db_name"], arguments["tbl_name"])
    if "part_name" in arguments:
        return [PartitionsGone(table, (arguments["part_name"],))]
    return [PartitionsGone(table, values=_values(arguments["part_vals"]))]


def _values(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def _drop_partitions(arguments: Arguments) -> list[Change]:
    request = arguments["req"]
    table = table_name(request.dbName, request.tblName, request.catName)
    names = request.parts.names
    return [PartitionsGone(table, tuple(names)) if names else PartitionsGone(table, unnamed=True)]


def _rename_partition(arguments: Arguments) -> list[Change]:
    if "req" in arguments:
        request = arguments["req"]
        table, old, new = (
            table_name(request.dbName, request.tableName, request.catName),
            request.partVals,
            request.newPart,
        )
    else:
        table = table_name(arguments["db_name"], arguments["tbl_name"])
        old, new = arguments["part_vals"], arguments["new_part"]
    return [PartitionRenamed(table, tuple(old), tuple(new.values))]


def _exchange(arguments: Arguments) -> list[Change]:
    source = table_name(arguments["source_db"], arguments["source_table_name"])
    target = table_name(arguments["dest_db"], arguments["dest_table_name"])
    return [PartitionsGone(source, unnamed=True), PartitionsGone(target, unnamed=True)]


_FINDERS: Mapping[str, Callable[[Arguments], list[Change]]] = {
    "drop_database": _drop_database,
    "drop_database_req": _drop_database,
    "drop_table": _drop_table,
    "drop_table_req": _drop_table,
    "drop_table_with_environment_context": _drop_table,
    "alter_table": _alter_table,
    "alter_table_req": _alter_table,
    "alter_table_with_cascade": _alter_table,
    "alter_table_with_environment_context": _alter_table,
    "truncate_table": _truncate,
    "truncate_table_req": _truncate,
    "drop_partition": _drop_partition,
    "drop_partition_by_name": _drop_partition,
    "drop_partition_by_name_with_environment_context": _drop_partition,
    "drop_partition_req": _drop_partition,
    "drop_partition_with_environment_context": _drop_partition,
    "drop_partitions_req": _drop_partitions,
    "rename_partition": _rename_partition,
    "rename_partition_req": _rename_partition,
    "exchange_partition": _exchange,
    "exchange_partitions": _exchange,
}
FOLLOWED = frozenset(_FINDERS)
"""The relayed calls whose changes are followed."""


def altered_by(name: str, arguments: Arguments) -> TableName | None:
    """The table that a call of ALTERING is about; None if a required argument is missing."""
    try:
        if "req" in arguments:
            request = arguments["req"]
            return table_name(request.dbName, request.tableName, request.catName)
        return table_name(arguments["dbname" if name.startswith("alter_table") else "db_name"], arguments["tbl_name"])
    except (AttributeError, TypeError):
        return None


ALTERING = frozenset(
    {
        *("alter_table", "alter_table_req", "alter_table_with_cascade", "alter_table_with_environment_context"),
        *("alter_partition", "alter_partition_with_environment_context"),
        *("alter_partitions", "alter_partitions_req", "alter_partitions_with_environment_context"),
    }
)
"""Calls that change parameters of tables or partitions, by which columns may lose their marks of accuracy."""
