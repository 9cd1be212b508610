"""Catalogs: made, read, altered and dropped. `hive` is always there."""

from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, InvalidOperation, MetaError, NoSuchObject
from hmstats.model.catalog import DEFAULT_CATALOG, DEFAULT_DATABASE, Catalog, Database, DatabaseName
from hmstats.model.events import DatabaseCreated, DatabaseDropped
from hmstats.service.warehouse import Warehouse, qualified
from hmstats.store import catalogs, databases, tables
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


class Catalogs:
    """The catalogs."""

    def __init__(self, store: Store, warehouse: Warehouse) -> None:
        self._store = store
        self._warehouse = warehouse

    def get(self, name: str) -> Catalog:
        """The catalog. Raises NoSuchObject."""
        with self._store.read() as connection:
            found = catalogs.get(connection, name)
        if found is None:
            raise NoSuchObject(f"No catalog {name}")
        return found

    def names(self) -> list[str]:
        """The names of all catalogs, sorted."""
        with self._store.read() as connection:
            return catalogs.names(connection)

    def create(self, catalog: Catalog) -> None:
        """Make a catalog with its database `default`. Raises AlreadyExists, InvalidObject without name or place."""
        if not catalog.name or not catalog.location:
            raise InvalidObject(f"a catalog must have a name and a location, found {catalog.name} {catalog.location}")

        def insert(unit: Unit) -> None:
            if catalogs.get(unit.connection, catalog.name):
                raise AlreadyExists(f"Catalog {catalog.name} already exists")
            catalogs.insert_one(unit, catalog)
            name = DatabaseName(catalog.name, DEFAULT_DATABASE)
            text = f"Default database for catalog {catalog.name}"
            default = Database(
                name=name, description=text, location=qualified(catalog.location), owner="public", owner_type="ROLE"
            )
            default = replace(default, created_seconds=unit.now_seconds)
            databases.insert_one(unit, default)
            unit.record(DatabaseCreated(default))

        self._store.write(insert)
        self._warehouse.make_directory(catalog.location)

    def alter(self, name: str, catalog: Catalog) -> None:
        """Replace what a catalog says of itself. Raises NoSuchObject, and InvalidOperation for a rename."""
        if catalog.name != name:
            raise InvalidOperation(f"Cannot change a catalog's name: {name} to {catalog.name}")

        def update(unit: Unit) -> None:
            if catalogs.get(unit.connection, name) is None:
                raise NoSuchObject(f"No catalog {name}")
            catalogs.replace(unit, catalog)

        self._store.write(update)

    def drop(self, name: str, *, if_exists: bool) -> None:
        """Drop a catalog that has nothing but an empty `default`.

        Raises NoSuchObject unless `if_exists`, InvalidOperation when it is not empty, MetaError for `hive`.
        """
        if name == DEFAULT_CATALOG:
            raise MetaError(f"Can not drop {name} catalog")

        def delete(unit: Unit) -> list[str]:
            stored = catalogs.get(unit.connection, name)
            if stored is None:
                if if_exists:
                    return []
                raise NoSuchObject(f"No catalog {name}")
            location = _remove_default(unit, name)
            catalogs.remove(unit, name)
            return [*location, stored.location]

        for location in self._store.write(delete):
            self._warehouse.remove_directory(location)


def _remove_default(unit: Unit, catalog: str) -> list[str]:
    """Remove the catalog's database `default`; where it lay. Raises InvalidOperation when there is anything else."""
    name = DatabaseName(catalog, DEFAULT_DATABASE)
    inside = databases.names(unit.connection, catalog)
    if inside not in ([], [DEFAULT_DATABASE]) or tables.names(unit.connection, name):
        raise InvalidOperation(f"There are databases or tables in catalog {catalog}, so it can not be dropped")
    default, database_id = databases.get(unit.connection, name), databases.find_id(unit.connection, name)
    if default is None or database_id is None:
        return []
    databases.remove(unit, database_id)
    unit.record(DatabaseDropped(default))
    return [default.location]
