"""Data connectors: created, read, altered and dropped. A database may name one; nothing is read through it."""

import re
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, NoSuchObject
from hmstats.model.catalog.connectors import DataConnector
from hmstats.model.catalog.privileges import USER
from hmstats.store.catalog import connectors
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Connection, Unit

_VALID_NAME = re.compile(r"[\w\-.$ /]+")


class Connectors:
    """The connectors of the whole metastore; they belong to no catalog."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> DataConnector:
        """The connector. Raises NoSuchObject if it does not exist."""
        with self._store.read() as connection:
            return _stored_connector(connection, name)

    def names(self) -> list[str]:
        """The names of all connectors, sorted."""
        with self._store.read() as connection:
            return connectors.names(connection)

    def create(self, new: DataConnector) -> None:
        """Create a connector. Raises AlreadyExists, InvalidObject if the name is malformed."""
        if not _VALID_NAME.fullmatch(new.name):
            raise InvalidObject(f"{new.name} is not a valid dataconnector name")

        def insert(unit: Unit) -> None:
            if connectors.get(unit.connection, new.name) is not None:
                raise AlreadyExists(f"DataConnector {new.name} already exists")
            made = replace(new, owner_type=new.owner_type or USER, created_seconds=unit.now_seconds)
            connectors.insert_one(unit, made)

        self._store.write(insert)

    def alter(self, name: str, new: DataConnector) -> None:
        """Replace a connector's URL, parameters and owner. Its name and type do not change, as in Hive.

        An unset description or owner type does not change either. Raises NoSuchObject.
        """

        def update(unit: Unit) -> None:
            stored = _stored_connector(unit.connection, name)
            changed = replace(
                stored,
                url=new.url,
                parameters=new.parameters,
                owner=new.owner,
                owner_type=new.owner_type or stored.owner_type,
                description=new.description or stored.description,
            )
            connectors.replace(unit, changed)

        self._store.write(update)

    def drop(self, name: str, *, missing_is_fine: bool) -> None:
        """Drop a connector but not the databases that name it. Raises NoSuchObject unless `missing_is_fine`."""

        def delete(unit: Unit) -> None:
            if connectors.get(unit.connection, name) is None:
                if missing_is_fine:
                    return
                raise NoSuchObject(f"DataConnector {name} doesn't exist")
            connectors.remove(unit, name)

        self._store.write(delete)


def _stored_connector(connection: Connection, name: str) -> DataConnector:
    connector = connectors.get(connection, name)
    if connector is None:
        raise NoSuchObject(f"Dataconnector named {name} does not exist")
    return connector
