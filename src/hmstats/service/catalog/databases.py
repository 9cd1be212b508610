"""Databases: made, read, altered and dropped."""

import re
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError, NoSuchObject
from hmstats.model.catalog import DEFAULT_CATALOG, DEFAULT_DATABASE, Catalog, Database, DatabaseName
from hmstats.model.events import DatabaseAltered, DatabaseCreated, DatabaseDropped, FunctionDropped, TableDropped
from hmstats.model.functions import FunctionName
from hmstats.service.catalog.materialized_views import check_unused
from hmstats.service.catalog.patterns import matching
from hmstats.service.catalog.table_rules import OWNING_TYPES
from hmstats.service.warehouse import Warehouse, qualified
from hmstats.store import catalogs, databases, functions, materialized_views, places, tables, write_ids
from hmstats.store.engine import Store
from hmstats.store.unit import Unit

_VALID_NAME = re.compile(r"[\w\-.$ ]+")


class Databases:
    """The databases of every catalog."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def ensure_default(self) -> None:
        """Make the database `default` unless it is there."""
        name = DatabaseName(DEFAULT_CATALOG, DEFAULT_DATABASE)
        with self._store.read() as connection:
            if databases.find_id(connection, name) is not None:
                return
        default = Database(
            name=name,
            description="Default Hive database",
            location=self._warehouse.root,
            owner="public",
            owner_type="ROLE",
        )

        def insert(unit: Unit) -> None:
            if databases.find_id(unit.connection, name) is None:
                databases.insert_one(unit, replace(default, created_seconds=unit.now_seconds))

        self._store.write(insert)

    def get(self, name: DatabaseName) -> Database:
        """The database. Raises NoSuchObject."""
        with self._store.read() as connection:
            found = databases.get(connection, name)
        if found is None:
            raise missing_database(name)
        return found

    def names(self, catalog: str, pattern: str | None = None) -> list[str]:
        """The names of a catalog's databases that the pattern matches, sorted."""
        with self._store.read() as connection:
            return matching(databases.names(connection, catalog), pattern)

    def matching(self, catalog: str, pattern: str | None) -> list[Database]:
        """The databases whose names match the pattern, sorted by name."""
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), pattern)
            found = [databases.get(connection, DatabaseName(catalog, name)) for name in names]
        return [database for database in found if database is not None]

    def create(self, database: Database) -> None:
        """Make a database and its directory.

        Raises AlreadyExists when the name is taken, InvalidObject when it is no name or its catalog is not there,
        InvalidOperation when a file is in its place.
        """
        name = database.name
        if not _VALID_NAME.fullmatch(name.database):
            raise InvalidObject(f"{name.database} is not a valid database name")

        def insert(unit: Unit) -> str:
            catalog = catalogs.get(unit.connection, name.catalog)
            if catalog is None:
                raise InvalidObject(f"No such catalog {name.catalog}")
            if databases.find_id(unit.connection, name) is not None:
                raise AlreadyExists(f"Database {name.database} already exists")
            location = qualified(database.location or self._location(name, catalog))
            self._warehouse.check_place(location)
            new = replace(database, location=location, created_seconds=unit.now_seconds)
            databases.insert_one(unit, new)
            unit.record(DatabaseCreated(new))
            return location

        self._warehouse.make_directory(self._store.write(insert))

    def alter(self, name: DatabaseName, database: Database) -> None:
        """Replace what a database says of itself, all but its name: databases keep theirs, as in Hive.

        A description, a place or a type of owner that is left out stays. Raises NoSuchObject.
        """

        def update(unit: Unit) -> None:
            stored, database_id = databases.get(unit.connection, name), databases.find_id(unit.connection, name)
            if stored is None or database_id is None:
                raise missing_database(name)
            altered = _altered(stored, database)
            databases.replace(unit, database_id, altered)
            unit.record(DatabaseAltered(stored, altered))

        self._store.write(update)

    def _location(self, name: DatabaseName, catalog: Catalog) -> str:
        if name.catalog == DEFAULT_CATALOG:
            return self._warehouse.database_location(name.database)
        return self._warehouse.database_location(name.database, catalog.location)

    def drop(self, name: DatabaseName, *, delete_data: bool, cascade: bool) -> None:
        """Drop a database, with its tables and functions when `cascade`; its directories go when `delete_data`.

        What an external table has in the database's directory stays, and so does the directory then.

        Raises NoSuchObject, InvalidOperation when it is not empty, MetaError for `default` and where a
        materialized view of another database was made of a table in it.
        """
        if name == DatabaseName(DEFAULT_CATALOG, DEFAULT_DATABASE):
            raise MetaError(f"Can not drop {name.database} database in catalog {name.catalog}")

        def delete(unit: Unit) -> list[str]:
            stored, database_id = databases.get(unit.connection, name), databases.find_id(unit.connection, name)
            if stored is None or database_id is None:
                raise missing_database(name)
            inside = tables.ids_in(unit.connection, name)
            if inside and not cascade:
                raise InvalidOperation(f"Database {name.database} is not empty. One or more tables exist.")
            if functions.names(unit.connection, name) and not cascade:
                raise InvalidOperation(f"Database {name.database} is not empty. One or more functions exist.")
            check_unused(unit.connection, inside, apart_from=name)
            own = places.of_tables(unit.connection, inside, OWNING_TYPES)
            if not places.holds_others(unit.connection, stored.location, inside, OWNING_TYPES):
                own.append(stored.location)
            _record_drop(unit, stored)
            materialized_views.remove_of_database(unit, name)
            tables.remove_many(unit, inside)
            write_ids.forget_database(unit, name)
            databases.remove(unit, database_id)
            return own

        own = self._store.write(delete)
        for location in own if delete_data else ():
            self._warehouse.remove_directory(location)


def _record_drop(unit: Unit, database: Database) -> None:
    """A database's end, after that of each function and table in it."""
    if unit.events is None:
        return
    name = database.name
    inside = tables.get_many(unit.connection, name, tables.names(unit.connection, name))
    gone = [FunctionName(name.catalog, name.database, each) for each in functions.names(unit.connection, name)]
    unit.record(*map(FunctionDropped, gone), *map(TableDropped, inside), DatabaseDropped(database))


def _altered(stored: Database, new: Database) -> Database:
    return replace(
        new,
        name=stored.name,
        location=qualified(new.location or stored.location),
        description=stored.description if new.description is None else new.description,
        owner_type=new.owner_type or stored.owner_type,
        created_seconds=stored.created_seconds,
        remote=stored.remote,
        connector=stored.connector,
        remote_name=stored.remote_name,
    )


def missing_database(name: DatabaseName) -> NoSuchObject:
    """The error for a database that is not there."""
    return NoSuchObject(f"There is no database {name}")
