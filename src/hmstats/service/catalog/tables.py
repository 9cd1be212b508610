"""Tables and views: made, read, altered and dropped, with what that means for their statistics."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError, NoSuchObject
from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import (
    EXTERNAL_TABLE,
    MANAGED_TABLE,
    VIRTUAL_VIEW,
    Column,
    Database,
    DatabaseName,
    Table,
    TableName,
    TableSummary,
)
from hmstats.model.constraints import ColumnConstraint
from hmstats.model.privileges import Privilege, SecuredKind
from hmstats.service.catalog.constraints import add as add_constraints
from hmstats.service.catalog.patterns import matching
from hmstats.service.transactions.acid import check_transactional
from hmstats.service.warehouse import Warehouse, qualified, same_place
from hmstats.store import column_statistics, databases, partitions, tables, versions, write_ids
from hmstats.store.engine import Store
from hmstats.store.privileges import insert_many as insert_privileges
from hmstats.store.unit import Unit

_VALID_NAME = re.compile(r"[\w\-.$ /]+")
_WILDCARDS = frozenset("*|")
_LAST_DDL = "transient_lastDdlTime"
_SIZES = ("numFiles", "totalSize", "rawDataSize")
"""Counted by whoever writes files. An alter that leaves them out keeps the stored ones: no directory is listed here."""


class Tables:
    """The tables of every database."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def get(self, name: TableName) -> Table:
        """The table. Raises NoSuchObject."""
        with self._store.read() as connection:
            found = tables.get(connection, name)
        if found is None:
            raise missing_table(name)
        return found

    def get_many(self, database: DatabaseName, names: Sequence[str]) -> list[Table]:
        """Those of the named tables that exist. Raises NoSuchObject without the database."""
        with self._store.read() as connection:
            if databases.find_id(connection, database) is None:
                raise NoSuchObject(f"Could not find database {database}")
            return tables.get_many(connection, database, [name.lower() for name in names])

    def get_matching(self, database: DatabaseName, pattern: str) -> list[Table]:
        """The tables that the pattern matches; the database may be a pattern too. Raises NoSuchObject for a name."""
        if _WILDCARDS.isdisjoint(database.database):
            return self.get_many(database, self.names(database, pattern))
        with self._store.read() as connection:
            inside = matching(databases.names(connection, database.catalog), database.database)
        parents = [DatabaseName(database.catalog, each) for each in inside]
        return [table for parent in parents for table in self.get_many(parent, self.names(parent, pattern))]

    def names(self, database: DatabaseName, pattern: str | None, table_type: str | None = None) -> list[str]:
        """The names of a database's tables that the pattern matches, sorted. An empty pattern matches none."""
        if pattern == "":
            return []
        with self._store.read() as connection:
            types = None if table_type is None else [table_type]
            return matching(tables.names(connection, database, types), pattern)

    def summaries(
        self, catalog: str, databases: str | None, names: str | None, table_types: Sequence[str]
    ) -> list[TableSummary]:
        """Summaries of the tables whose database and name match the patterns, of these types or, when empty, of all."""
        with self._store.read() as connection:
            found = tables.summaries(connection, catalog)
        wanted_databases = set(matching({each.name.database for each in found}, databases))
        wanted_names = set(matching({each.name.table for each in found}, names))
        return [
            each
            for each in found
            if each.name.database in wanted_databases
            and each.name.table in wanted_names
            and (not table_types or each.table_type in table_types)
        ]

    def create(
        self, table: Table, constraints: Sequence[ColumnConstraint] = (), privileges: Sequence[Privilege] = ()
    ) -> None:
        """Make a table with its constraints and the privileges on it, and its directory when it is managed.

        Raises AlreadyExists, InvalidObject without the database and when a name, a column or a constraint is malformed,
        MetaError for a key that cannot be.
        """
        _check(table)

        def insert(unit: Unit) -> Table:
            database = databases.get(unit.connection, table.name.parent)
            if database is None:
                raise InvalidObject(f"Database {table.name.parent} doesn't exist")
            if tables.find_id(unit.connection, table.name) is not None:
                raise AlreadyExists(f"Table {table.name} already exists")
            new = self._completed(table, database, unit.now_seconds)
            table_id = tables.insert_one(unit, new)
            add_constraints(unit, constraints)
            insert_privileges(unit, SecuredKind.TABLE, table_id, privileges)
            return new

        made = self._store.write(insert)
        if made.table_type == MANAGED_TABLE and made.storage:
            self._warehouse.make_directory(made.storage.location)

    def alter(self, name: TableName, table: Table) -> None:
        """Replace a table; its new name and columns carry the statistics that still hold.

        A managed table that lies where its name puts it moves with its name. Raises InvalidOperation when the table is
        missing, its new name is taken, or its directory cannot be moved; nothing is changed then.
        """
        _check(table)
        before, after = self._store.write(self._alter(name, table))
        if table.name == name or not (before.storage and after.storage):
            return
        old, new = before.storage.location, after.storage.location
        if old is None or new is None or old == new:
            return
        try:
            self._warehouse.move_directory(old, new)
        except InvalidOperation:
            self._store.write(lambda unit: _put_back(unit, before, after, new, old))
            raise

    def _alter(self, name: TableName, table: Table) -> Callable[[Unit], tuple[Table, Table]]:
        """The work of an alter: the table before and after."""

        def update(unit: Unit) -> tuple[Table, Table]:
            table_id = tables.lock(unit, name)
            stored = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or stored is None:
                raise InvalidOperation(f"table {name} doesn't exist")
            if table.name != name:
                self._check_free(unit, table.name)
            lost = lost_columns(stored.columns, table.columns)
            altered = self._moved(unit, stored, _altered(stored, table, lost))
            tables.replace(unit, table_id, altered)
            if lost:
                column_statistics.delete_tables(unit, [table_id], lost, None)
            if table.name != name:
                column_statistics.rename_table(unit, table_id, table.name)
                write_ids.rename_table(unit, name, table.name)
            versions.bump(unit, table_id)
            return stored, altered

        return update

    def _moved(self, unit: Unit, stored: Table, altered: Table) -> Table:
        """The altered table at the place that its new name gives it, if the old name gave it the old one."""
        old = stored.storage.location if stored.storage else None
        if altered.name == stored.name or stored.table_type != MANAGED_TABLE or not (old and altered.storage):
            return altered
        parents = [databases.get(unit.connection, each.name.parent) for each in (stored, altered)]
        places = [
            self._warehouse.table_location(parent.location, each.name.table) if parent else None
            for parent, each in zip(parents, (stored, altered), strict=True)
        ]
        wanted = altered.storage.location
        if places[1] is None or not same_place(old, places[0]) or not same_place(wanted or old, old):
            return altered
        partitions.relocate(unit, stored.id or 0, old, places[1])
        return replace(altered, storage=replace(altered.storage, location=places[1]))

    def drop(self, name: TableName, *, delete_data: bool) -> None:
        """Drop a table with its partitions and statistics; a managed table's directory goes when `delete_data`.

        Raises NoSuchObject.
        """

        def delete(unit: Unit) -> Table:
            table_id = tables.lock(unit, name)
            stored = None if table_id is None else tables.get(unit.connection, name)
            if table_id is None or stored is None:
                raise missing_table(name)
            tables.remove_many(unit, [table_id])
            write_ids.forget_table(unit, name)
            return stored

        dropped = self._store.write(delete)
        if delete_data and dropped.table_type == MANAGED_TABLE and dropped.storage:
            self._warehouse.remove_directory(dropped.storage.location)

    def _check_free(self, unit: Unit, name: TableName) -> None:
        if databases.get(unit.connection, name.parent) is None:
            raise InvalidOperation(f"Unable to change table: database {name.parent} does not exist")
        if tables.find_id(unit.connection, name) is not None:
            raise InvalidOperation(f"new table {name} already exists")

    def _completed(self, table: Table, database: Database, now_seconds: int) -> Table:
        storage = table.storage
        if storage and table.table_type != VIRTUAL_VIEW:
            location = storage.location or self._warehouse.table_location(database.location, table.name.table)
            storage = replace(storage, location=qualified(location))
        parameters = {_LAST_DDL: str(now_seconds), **table.parameters}
        return replace(
            table,
            storage=storage,
            parameters=parameters,
            table_type=_table_type(table),
            created_seconds=now_seconds,
        )


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a table that is not there."""
    return NoSuchObject(f"{name} table not found")


def lost_columns(old: Sequence[Column], new: Sequence[Column]) -> list[str]:
    """The old columns whose statistics no longer hold: dropped, renamed or of another type. Case does not matter."""
    kept = {(column.name.lower(), column.type.lower()) for column in new}
    return [column.name.lower() for column in old if (column.name.lower(), column.type.lower()) not in kept]


def kept_parameters(stored: Mapping[str, str], new: Mapping[str, str], lost: Sequence[str]) -> dict[str, str]:
    """The parameters after an alter: the new ones, sizes that they leave out, and no lost column marked as accurate."""
    merged = {key: stored[key] for key in _SIZES if key in stored} | dict(new)
    if lost and PARAMETER in merged:
        merged[PARAMETER] = Accurate.parse(merged[PARAMETER]).without_columns(lost).text()
    return merged


def _put_back(unit: Unit, before: Table, after: Table, new: str, old: str) -> None:
    """Undo a rename whose directory could not be moved."""
    table_id = tables.lock(unit, after.name)
    if table_id is None:
        return
    tables.replace(unit, table_id, before)
    column_statistics.rename_table(unit, table_id, before.name)
    write_ids.rename_table(unit, after.name, before.name)
    partitions.relocate(unit, table_id, new, old)
    versions.bump(unit, table_id)


def _altered(stored: Table, table: Table, lost: Sequence[str]) -> Table:
    return replace(
        table,
        id=stored.id,
        table_type=_table_type(table),
        parameters=kept_parameters(stored.parameters, table.parameters, lost),
    )


def _table_type(table: Table) -> str:
    """The type that the table's own word and its parameter EXTERNAL make together, as Hive decides it."""
    external = table.parameters.get("EXTERNAL", "").lower() == "true"
    if table.table_type in (None, MANAGED_TABLE):
        return EXTERNAL_TABLE if external else MANAGED_TABLE
    return table.table_type or MANAGED_TABLE


def _check(table: Table) -> None:
    if not _VALID_NAME.fullmatch(table.name.table):
        raise InvalidObject(f"{table.name.table} is not a valid object name")
    if table.storage is None:
        raise MetaError(f"table {table.name} must have a storage descriptor, found none")
    seen: set[str] = set()
    for column in (*table.columns, *table.partition_keys):
        if not column.name or not column.type:
            raise InvalidObject(f"Invalid column name or type in table {table.name}: {column.name} {column.type}")
        if column.name.lower() in seen:
            raise InvalidObject(f"Duplicate column name: {column.name.lower()} in table {table.name}")
        seen.add(column.name.lower())
    check_transactional(table)
