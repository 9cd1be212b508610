"""Limits the history: it is kept in full for some days, then one state a day, then not at all."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from hmstats.errors import InvalidInput
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import purge, steps
from hmstats.store.history.purge import DAY_MS
from hmstats.store.unit.unit import Connection, Unit


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many days history is kept in full (0: no history), and for how many at all. `clock`: epoch seconds."""

    full_days: int = 31
    days: int = 366
    clock: Callable[[], float] = time.time

    @property
    def now_ms(self) -> int:
        """The present, in epoch ms."""
        return int(self.clock() * 1000)

    @property
    def full_since_ms(self) -> int:
        """The beginning of the first day that is kept in full."""
        return (self.now_ms - self.full_days * DAY_MS) // DAY_MS * DAY_MS

    @property
    def since_ms(self) -> int:
        """The beginning of the first day that is kept at all."""
        return (self.now_ms - max(self.full_days, self.days) * DAY_MS) // DAY_MS * DAY_MS

    def oldest_ms(self, connection: Connection) -> int:
        """The oldest time that can be asked for. Raises InvalidInput if no history is kept."""
        began = steps.began_ms(connection) if self.full_days else None
        if began is None:
            raise InvalidInput("no history of statistics is kept: the setting history_days is 0, or was until now")
        return max(began, self.since_ms)

    def answerable_ms(self, connection: Connection, at_ms: int) -> int:
        """The time for which there is an answer: of a thinned day its beginning.

        Raises InvalidInput if the time is before the oldest, or to come.
        """
        oldest = self.oldest_ms(connection)
        if at_ms < oldest:
            raise InvalidInput(
                f"the oldest statistics that are kept are of {text(oldest)}, found a time of {text(at_ms)}"
            )
        if at_ms > self.now_ms + 1000:
            raise InvalidInput(f"a time of the past must be before {text(self.now_ms)}, found {text(at_ms)}")
        return max(oldest, at_ms // DAY_MS * DAY_MS) if at_ms < self.full_since_ms else at_ms


_DATES_MS = range(-62_135_596_800_000, 253_402_300_800_000)
"""The times that have a date of the years 1 to 9999."""


def text(at_ms: int) -> str:
    """A time as ISO 8601 in UTC, with milliseconds if it has any; a time that has no date as its milliseconds."""
    if at_ms not in _DATES_MS:
        return f"{at_ms} ms since 1970"
    precision = "milliseconds" if at_ms % 1000 else "seconds"
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


class HistoryUpkeep:
    """Removes history that is too old, and thins what is old; without history, what is left of it."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self._store = store
        self._retention = retention

    def run(self) -> None:
        """Clean each table in a transaction of its own; safe to run on several servers at once."""
        if self._store.shape.beside_hive and not self._store.shape.adopted:
            return
        if not self._retention.full_days:
            with self._store.read() as connection:
                if steps.began_ms(connection) is None:
                    return
            self._store.write(_remove_all)
            return
        self._store.write(purge.begin)
        full_since, since = self._retention.full_since_ms, self._retention.since_ms
        with self._store.read() as connection:
            old = purge.tables_to_clean(connection, full_since, since)
        for table_id in old:
            self._store.write(partial(_clean, table_id, full_since, since))


def _remove_all(unit: Unit) -> None:
    """Remove the history. Writes that would rely on it find another definition of their table."""
    versions.bump_all(unit, purge.told_tables(unit.connection))
    purge.remove_all(unit)


def _clean(table_id: int, full_since_ms: int, since_ms: int, unit: Unit) -> None:
    purge.clean(unit, table_id, full_since_ms, since_ms)
