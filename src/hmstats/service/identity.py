"""Who the metastore is: a UUID that its database keeps for good."""

from uuid import uuid4

from hmstats.store import properties
from hmstats.store.engine import Store

_KEY = "guid"
"""Hive's name of the property, so that Hive and hmstats say the same of one database."""


class Identity:
    """The identity of a metastore's database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def uuid(self) -> str:
        """The database's UUID as text, made when it is first asked for."""
        with self._store.read() as connection:
            found = properties.get(connection, _KEY)
        return found or self._store.write(
            lambda unit: properties.add(unit, _KEY, str(uuid4()), "The UUID of this metastore's database")
        )
