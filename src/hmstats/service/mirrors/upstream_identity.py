"""Ensures that a database always mirrors the tables of the same metastore."""

from hmstats.errors import MetaError, SettingsError
from hmstats.store.catalog import metastore_properties
from hmstats.store.database.store import Store
from hmstats.store.mirrors import mirrored

_KEY = "hmstats.upstream"


class UpstreamIdentity:
    """The identity of the other metastore, stored when it is first known: its UUID, or its address if it has none."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check(self, uuid: str | None, address: str) -> None:
        """Store the identity of the other metastore. Raises MetaError if another one's is stored.

        If the metastore at this address had no UUID, and has one now, it was upgraded to Hive 3 or above.
        """
        identity = uuid or address
        with self._store.read() as connection:
            known = metastore_properties.get(connection, _KEY)
        known = known or self._store.write(
            lambda unit: metastore_properties.add(unit, _KEY, identity, "The metastore whose tables are mirrored here")
        )
        if uuid and known == address:
            self._store.write(lambda unit: metastore_properties.replace(unit, _KEY, address, uuid))
        elif uuid is None and known != address:
            raise MetaError(
                f"database {self._store.name} holds statistics of metastore {known}, and the upstream at {address} "
                "tells no UUID: try again when the database of the upstream answers, or give the gateway another "
                "database if this is another metastore"
            )
        elif known != identity:
            raise MetaError(
                f"database {self._store.name} holds statistics of metastore {known}, and the upstream is {identity}: "
                "give the gateway another database"
            )


def check_mirrors(store: Store, *, are_wanted: bool) -> None:
    """Raise SettingsError unless all tables of the database are mirrors (`are_wanted`), or none is."""
    if store.shape.beside_hive and not are_wanted:
        return
    with store.read() as connection:
        found = mirrored.name_of_one(connection, mirrors=not are_wanted)
    if found is None:
        return
    if are_wanted:
        raise SettingsError(
            f"database {store.name} has tables of its own, such as {found}: a server with upstream needs another one"
        )
    raise SettingsError(
        f"database {store.name} holds statistics of another metastore's tables, such as {found}: set upstream, or give "
        "this server another database"
    )
