"""Runtime statistics of Hive's queries: kept for HiveServer2, which reads them when it starts."""

import time

from hmstats.model.statistics.runtime_stats import RuntimeStat
from hmstats.store.database.store import Store
from hmstats.store.statistics import runtime_stats

_FOR_EVER = 2**31 - 1


class RuntimeStats:
    """The counts of running queries, as Hive has them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, weight: int, payload: bytes) -> None:
        """Store the counts of a query, at the current time. Raises MetaError beside a Hive without a table for it."""
        self._store.write(lambda unit: runtime_stats.add(unit, RuntimeStat(unit.now_seconds, weight, payload)))

    def newest(self, weight: int, until_seconds: int) -> list[RuntimeStat]:
        """The newest before a time (0 or less: any), until their weights reach `weight` (below 0: all)."""
        until = until_seconds if until_seconds > 0 else _FOR_EVER
        with self._store.read() as connection:
            return runtime_stats.newest(connection, until, weight if weight >= 0 else _FOR_EVER)

    def remove_older(self, age_seconds: float) -> int:
        """Remove counts older than `age_seconds`. Returns the number of rows removed."""
        return self._store.write(lambda unit: runtime_stats.remove_older(unit, int(time.time() - age_seconds)))
