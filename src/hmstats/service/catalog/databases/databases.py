"""Databases: created, read, altered and dropped."""

import re
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError
from hmstats.model.catalog.file_changes import Removal
from hmstats.model.catalog.functions import FunctionName
from hmstats.model.catalog.location import is_same_location, qualify
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DEFAULT_DATABASE, Catalog, Database, DatabaseName
from hmstats.model.events import DatabaseAltered, DatabaseCreated, DatabaseDropped, FunctionDropped, TableDropped
from hmstats.service.catalog.drops import divide
from hmstats.service.catalog.patterns import matching
from hmstats.service.catalog.tables.file_changes import DroppedDirectories, FileChanges
from hmstats.service.catalog.tables.materialized_views import check_unused
from hmstats.service.catalog.tables.table_rules import DIRECTORIES, OWNING_TYPES
from hmstats.service.lookups import missing_database
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import catalogs, databases, functions, materialized_views, tables
from hmstats.store.database.store import Store
from hmstats.store.storage import drop_locations, file_changes
from hmstats.store.transactions import write_ids
from hmstats.store.unit.unit import Unit

_VALID_NAME = re.compile(r"[\w\-.$ ]+")


class Databases:
    """The databases of every catalog."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)

    def ensure_default(self) -> None:
        """Create the database `default` unless it exists."""
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
        """The database. Raises NoSuchObject if it does not exist."""
        database = databases.of_rows(self._store.rows(databases.ONE, databases.name_parameters(name)))
        if database is None:
            raise missing_database(name)
        return database

    def names(self, catalog: str, pattern: str | None = None) -> list[str]:
        """The names of a catalog's databases that the pattern matches, sorted. An empty pattern matches none."""
        if pattern == "":
            return []
        rows = self._store.rows(databases.NAMES, {"catalog": catalog})
        return matching(sorted(name for (name,) in rows), pattern)

    def matching(self, catalog: str, pattern: str | None) -> list[Database]:
        """The databases whose names match the pattern, sorted by name. An empty pattern matches none."""
        if pattern == "":
            return []
        with self._store.read() as connection:
            return databases.get_many(connection, catalog, matching(databases.names(connection, catalog), pattern))

    def create(self, database: Database) -> None:
        """Create a database and its directory.

        Raises AlreadyExists if the name is taken, InvalidObject if it is malformed or its catalog does not exist,
        InvalidOperation if its location is a file, MetaError if its location is outside of the warehouse roots or
        cannot be created.
        """
        name = database.name
        if not _VALID_NAME.fullmatch(name.database) or name.database in DIRECTORIES:
            raise InvalidObject(f"{name.database} is not a valid database name")

        def insert(unit: Unit) -> None:
            catalog = catalogs.get(unit.connection, name.catalog)
            if catalog is None:
                raise InvalidObject(f"No such catalog {name.catalog}")
            if databases.find_id(unit.connection, name) is not None:
                raise AlreadyExists(f"Database {name.database} already exists")
            own = self._location(name, catalog)
            location = qualify(database.location or own)
            self._warehouse.warn_of_other_warehouse(name.database, location, own)
            self._warehouse.check_inside(f"database {name.database}", location)
            file_changes.check_free(unit.connection, [location])
            self._warehouse.check_no_file(location)
            new = replace(database, location=location, created_seconds=unit.now_seconds)
            databases.insert_one(unit, new)
            unit.record(DatabaseCreated(new))
            unable = f"Unable to create database path {location}, failed to create database {name.database}"
            self._warehouse.make_directory(location, unable)

        self._files.retry_while_busy(lambda: self._store.write(insert))

    def alter(self, name: DatabaseName, database: Database) -> None:
        """Replace a database's properties except its name, which cannot change, as in Hive.

        An unset description, location or owner type does not change. Raises NoSuchObject, and MetaError if the new
        location is outside of the warehouse roots.
        """

        def update(unit: Unit) -> None:
            stored, database_id = databases.get(unit.connection, name), databases.find_id(unit.connection, name)
            if stored is None or database_id is None:
                raise missing_database(name)
            altered = _altered(stored, database)
            if not is_same_location(stored.location, altered.location):
                self._warehouse.check_inside(f"database {name.database}", altered.location)
            databases.replace(unit, database_id, altered)
            unit.record(DatabaseAltered(stored, altered))

        self._store.write(update)

    def _location(self, name: DatabaseName, catalog: Catalog) -> str:
        if name.catalog == DEFAULT_CATALOG:
            return self._warehouse.database_location(name.database)
        return self._warehouse.database_location(name.database, catalog.location)

    def drop(self, name: DatabaseName, *, delete_data: bool, cascade: bool) -> None:
        """Drop a database; with `cascade` also its tables and functions, with `delete_data` also its directories.

        Files of an external table are not deleted, nor is the database's directory if it contains some, nor any
        directory that equals, contains or lies in the location of another object.

        Raises NoSuchObject, InvalidOperation if it is not empty, MetaError for `default` and if a materialized view of
        another database reads a table in it.
        """
        if name == DatabaseName(DEFAULT_CATALOG, DEFAULT_DATABASE):
            raise MetaError(f"Can not drop {name.database} database in catalog {name.catalog}")

        def delete(unit: Unit) -> tuple[None, DroppedDirectories | None]:
            database_id = databases.lock(unit, name)
            stored = databases.get(unit.connection, name)
            if stored is None or database_id is None:
                raise missing_database(name)
            inside = tables.lock_in(unit, database_id)
            if inside and not cascade:
                raise InvalidOperation(f"Database {name.database} is not empty. One or more tables exist.")
            if functions.names(unit.connection, name) and not cascade:
                raise InvalidOperation(f"Database {name.database} is not empty. One or more functions exist.")
            check_unused(unit.connection, inside, apart_from=name)
            with_files = drop_locations.dropped_with_files(unit.connection, inside, OWNING_TYPES)
            own = drop_locations.of_tables(unit.connection, sorted(with_files))
            if not drop_locations.holds_any(unit.connection, stored.location, sorted({*inside} - with_files)):
                own.append(stored.location)
            _record_drop(unit, stored)
            materialized_views.remove_of_database(unit, name)
            tables.remove_many(unit, inside)
            write_ids.remove_of_database(unit, name)
            databases.remove(unit, database_id)
            if not delete_data:
                return None, None
            own, shared = divide(unit, own)
            return None, DroppedDirectories(f"database {name}", Removal(tuple(own)), shared)

        self._files.drop(delete)


def _record_drop(unit: Unit, database: Database) -> None:
    """Record the drop of each function and table in a database, then of the database."""
    if unit.events is None:
        return
    name = database.name
    inside = tables.get_many(unit.connection, name, tables.names(unit.connection, name))
    function_names = [
        FunctionName(name.catalog, name.database, each) for each in functions.names(unit.connection, name)
    ]
    unit.record(*map(FunctionDropped, function_names), *map(TableDropped, inside), DatabaseDropped(database))


def _altered(stored: Database, new: Database) -> Database:
    return replace(
        new,
        name=stored.name,
        location=qualify(new.location or stored.location),
        description=stored.description if new.description is None else new.description,
        owner_type=new.owner_type or stored.owner_type,
        created_seconds=stored.created_seconds,
        remote=stored.remote,
        connector=stored.connector,
        remote_name=stored.remote_name,
    )
