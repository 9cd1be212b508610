"""The metastore's identity: a UUID that is stored in its database and never changes."""

from uuid import uuid4

from hmstats.store.catalog import metastore_properties
from hmstats.store.database.store import Store

_KEY = "guid"
"""Name of the property, the one that Hive uses, so that both give the same UUID for one database."""


class Identity:
    """The identity of a metastore's database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def uuid(self) -> str:
        """The database's UUID as text, created at the first call."""
        with self._store.read() as connection:
            stored = metastore_properties.get(connection, _KEY)
        return stored or self._store.write(
            lambda unit: metastore_properties.add(unit, _KEY, str(uuid4()), "The UUID of this metastore's database")
        )
