"""Routes of moved databases: the one of several metastores that has a database, whatever the settings' patterns say."""

import json
from dataclasses import asdict, dataclass

from hmstats.model.catalog.objects import DatabaseName
from hmstats.store.catalog import metastore_properties
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

OWN = ""
"""The place of databases that hmstats has itself; the others have the names of upstreams."""
_PREFIX = "hmstats.route."
_DESCRIPTION = "Which metastore has this database"


@dataclass(frozen=True, slots=True)
class Route:
    """The place that has a database. Nothing in the database may be changed while it is moved `by` somebody."""

    place: str
    by: str | None = None

    @property
    def moving(self) -> bool:
        """Whether the database is being moved."""
        return self.by is not None


class StoredRoutes:
    """The routes of databases that were moved, in the database of hmstats' own tables."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self) -> dict[DatabaseName, Route]:
        """All routes. Raises StoreUnavailable."""
        with self._store.read() as connection:
            found = metastore_properties.with_prefix(connection, _PREFIX)
        return {DatabaseName(*json.loads(key)): Route(**json.loads(value)) for key, value in found.items()}

    def change(self, name: DatabaseName, old: Route | None, new: Route | None) -> bool:
        """Store a database's route, None for that of the settings. Returns False if the route was not the old one."""
        key = _PREFIX + json.dumps([name.catalog, name.database])

        def change(unit: Unit) -> bool:
            if old is None:
                return new is None or metastore_properties.add(unit, key, _text(new), _DESCRIPTION) == _text(new)
            return metastore_properties.replace(unit, key, _text(old), None if new is None else _text(new))

        return self._store.write(change)


def _text(route: Route) -> str:
    return json.dumps(asdict(route))
