"""Catalogs: created, read, altered and dropped. `hive` always exists."""

import re
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError, NoSuchObject
from hmstats.model.catalog.file_changes import Removal
from hmstats.model.catalog.location import qualify
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DEFAULT_DATABASE, Catalog, Database, DatabaseName
from hmstats.model.events import DatabaseCreated, DatabaseDropped
from hmstats.service.catalog.drops import divide, without_inner
from hmstats.service.catalog.tables.file_changes import DroppedDirectories, FileChanges
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import catalogs, databases, functions, tables
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

_VALID_NAME = re.compile(r"[A-Za-z0-9_]+")
_UNPLACED = "TBD"
"""The location of the catalog `hive` as Hive's schema has it, until a server writes another."""


class Catalogs:
    """The catalogs."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse
        self._files = FileChanges(store, warehouse)

    def get(self, name: str) -> Catalog:
        """The catalog. Raises NoSuchObject if it does not exist."""
        with self._store.read() as connection:
            catalog = catalogs.get(connection, name)
        if catalog is None:
            raise NoSuchObject(f"No catalog {name}")
        return self._place(catalog)

    def _place(self, catalog: Catalog) -> Catalog:
        """The catalog; of `hive`, whose row may name no location yet, that of the warehouse, as in Hive."""
        return replace(catalog, location=qualify(self._warehouse.root)) if catalog.location == _UNPLACED else catalog

    def names(self) -> list[str]:
        """The names of all catalogs, sorted."""
        with self._store.read() as connection:
            return catalogs.names(connection)

    def create(self, catalog: Catalog) -> None:
        """Create a catalog with its database `default`.

        Raises AlreadyExists, InvalidObject if the name or the location is missing or the name is malformed, MetaError
        if the location is outside of the warehouse roots or its directory cannot be created.
        """
        if not catalog.name or not catalog.location:
            raise InvalidObject(f"a catalog must have a name and a location, found {catalog.name} {catalog.location}")
        if not _VALID_NAME.fullmatch(catalog.name):
            raise InvalidObject(f"{catalog.name} is not a valid catalog name")
        self._warehouse.check_inside(f"catalog {catalog.name}", catalog.location)

        def insert(unit: Unit) -> None:
            if catalogs.get(unit.connection, catalog.name):
                raise AlreadyExists(f"Catalog {catalog.name} already exists")
            catalogs.insert_one(unit, catalog)
            name = DatabaseName(catalog.name, DEFAULT_DATABASE)
            text = f"Default database for catalog {catalog.name}"
            default = Database(
                name=name, description=text, location=qualify(catalog.location), owner="public", owner_type="ROLE"
            )
            default = replace(default, created_seconds=unit.now_seconds)
            databases.insert_one(unit, default)
            unit.record(DatabaseCreated(default))
            unable = f"Unable to create catalog path {catalog.location}, failed to create catalog {catalog.name}"
            self._warehouse.make_directory(catalog.location, unable)

        self._store.write(insert)

    def alter(self, name: str, catalog: Catalog) -> None:
        """Replace a catalog's description and location, and its parameters if they are given.

        Raises NoSuchObject, InvalidOperation if the name changes.
        """
        if catalog.name != name:
            raise InvalidOperation(f"Cannot change a catalog's name: {name} to {catalog.name}")

        def update(unit: Unit) -> None:
            if catalogs.get(unit.connection, name) is None:
                raise NoSuchObject(f"No catalog {name}")
            catalogs.replace(unit, catalog)

        self._store.write(update)

    def drop(self, name: str, *, if_exists: bool) -> None:
        """Drop a catalog that contains nothing but an empty `default`.

        Raises NoSuchObject unless `if_exists`, InvalidOperation if it is not empty, MetaError for `hive`.
        """
        if name == DEFAULT_CATALOG:
            raise MetaError(f"Can not drop {name} catalog")

        def delete(unit: Unit) -> tuple[None, DroppedDirectories | None]:
            stored = catalogs.get(unit.connection, name)
            if stored is None:
                if if_exists:
                    return None, None
                raise NoSuchObject(f"No catalog {name}")
            location = _remove_default(unit, name)
            catalogs.remove(unit, name)
            own, shared = divide(unit, without_inner([*location, stored.location]))
            return None, DroppedDirectories(f"catalog {name}", Removal(tuple(own)), shared)

        self._files.drop(delete)


def _remove_default(unit: Unit, catalog: str) -> list[str]:
    """Remove the catalog's database `default`. Returns its location, or nothing if there is no `default`.

    Raises InvalidOperation if the catalog contains anything else.
    """
    name = DatabaseName(catalog, DEFAULT_DATABASE)
    inside = databases.names(unit.connection, catalog)
    if inside not in ([], [DEFAULT_DATABASE]) or tables.names(unit.connection, name):
        raise InvalidOperation(f"There are databases or tables in catalog {catalog}, so it can not be dropped")
    if functions.names(unit.connection, name):
        raise InvalidOperation(f"There are functions in catalog {catalog}, so it can not be dropped")
    default, database_id = databases.get(unit.connection, name), databases.find_id(unit.connection, name)
    if default is None or database_id is None:
        return []
    databases.remove(unit, database_id)
    unit.record(DatabaseDropped(default))
    return [default.location]
