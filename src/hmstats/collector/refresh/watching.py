"""Runs rounds when tables have changed: follows the notification log, and waits until a table is quiet."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from hmstats.client import Metastore, connect
from hmstats.collector.refresh.round import Done, Refresher
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog.objects import TableName

_STATISTICS = frozenset(
    {
        *("UPDATE_TBL_COL_STAT_EVENT", "UPDATE_PART_COL_STAT_EVENT"),
        *("DELETE_TBL_COL_STAT_EVENT", "DELETE_PART_COL_STAT_EVENT"),
    }
)
"""Events that only concern statistics."""


@dataclass(slots=True)
class Watch:
    """Follows the log, and runs rounds, with a pause of `pause_seconds` after each."""

    refresher: Refresher
    pause_seconds: float = 5.0
    _last_event: int | None = None
    _changed: dict[TableName, float] = field(default_factory=dict)

    def rounds(self) -> Iterator[Done]:
        """Run rounds until the refresher's `stop`; yields the outcome of each piece of work.

        If the metastore is away, it is asked again after the pause.
        """
        stop: threading.Event = self.refresher.stop
        while not stop.is_set():
            with suppress(ServiceUnavailable):  # asked again after a pause
                yield from self.refresher.run(self.busy())
            stop.wait(self.pause_seconds)

    def busy(self) -> dict[TableName, float]:
        """The tables that were written to within the quiet time, with the seconds since then."""
        with connect(self.refresher.metastore) as service:
            self._follow(service)
        now, quiet = time.monotonic(), self.refresher.wanted.quiet_seconds
        self._changed = {name: at for name, at in self._changed.items() if now - at < quiet}
        return {name: now - at for name, at in self._changed.items()}

    def _follow(self, service: Metastore) -> None:
        """Record the tables of new events. The first call only finds the end of the log."""
        if self._last_event is None:
            self._last_event = service.events.last()
            return
        for each in service.events.since(self._last_event):
            if each.table is not None and each.kind not in _STATISTICS:
                self._changed[each.table] = time.monotonic()
            self._last_event = each.number
