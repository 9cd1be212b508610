"""Asks the database now and then whether it answers, so that readiness can tell of it."""

from hmstats.errors import StoreUnavailable
from hmstats.server.monitoring.metrics import DATABASE_UP
from hmstats.store.database.store import Store

PROBE_SECONDS = 2.0


class DatabaseProbe:
    """Notes whether a worker's database answers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._up = DATABASE_UP.labels(store.name.partition(":")[0])

    def run(self) -> None:
        """Ask the database. Raises StoreUnavailable if it does not answer."""
        try:
            self._store.check_connection()
        except StoreUnavailable:
            self._up.set(0)
            raise
        self._up.set(1)
