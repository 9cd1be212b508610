"""Tables and columns to blame for wrong estimates of queries, recorded by clients that read reports of engines."""

from collections.abc import Sequence
from dataclasses import replace

from hmstats.errors import InvalidInput
from hmstats.model.feedback.records import BlameSum, Seen
from hmstats.service.catalog.patterns import matching
from hmstats.service.health.keeper import HealthKeeper
from hmstats.store.catalog import databases
from hmstats.store.database.store import Store
from hmstats.store.health import blame
from hmstats.store.schema import HMSTATS_BLAME
from hmstats.store.unit.unit import Unit

MOST = 1_000
"""Most entries of a list, and of a call that records some."""
RETENTION_DAYS = 30


class BlameRecords:
    """The records of statistics that made estimates of queries wrong."""

    def __init__(self, store: Store, keeper: HealthKeeper) -> None:
        self._store = store
        self._keeper = keeper

    def record(self, seen: Sequence[Seen]) -> int:
        """Record who was to blame, each shape of query once a day. Returns how many were not too old to be kept.

        Times to come are taken for now. Raises InvalidInput for too many at once.
        """
        if len(seen) > MOST:
            raise InvalidInput(f"at most {MOST:,} entries are recorded by a call, found {len(seen):,}")

        def work(unit: Unit) -> int:
            oldest = unit.now_milliseconds - RETENTION_DAYS * 86_400_000
            kept = [replace(each, at_ms=min(each.at_ms, unit.now_milliseconds)) for each in seen if each.at_ms > oldest]
            blame.record(unit, kept)
            return len(kept)

        return self._store.write(work)

    def sums(
        self, catalog: str, of_databases: str | None, tables: str | None, since_ms: int, most: int | None
    ) -> list[BlameSum]:
        """Who is to blame most, of tables that exist and match patterns (None: all). Raises InvalidInput."""
        number = MOST if most is None else most
        if not 0 < number <= MOST:
            raise InvalidInput(f"a list of blame has 1 to {MOST:,} entries, found {number:,}")
        self._keeper.catch_up()
        with self._store.read() as connection:
            names = matching(databases.names(connection, catalog), of_databases) if of_databases else None
            some = None
            if tables:
                some = matching(blame.tables_of(connection, catalog, names, since_ms), tables)
            return blame.sums(connection, catalog, names, some, since_ms, number)

    def remove_older(self, retention_seconds: float) -> int:
        """Remove old entries. Returns their number."""
        if self._store.shape.lacks(HMSTATS_BLAME):
            return 0
        return self._store.write(
            lambda unit: blame.remove_older(unit, unit.now_milliseconds - int(retention_seconds * 1_000))
        )
