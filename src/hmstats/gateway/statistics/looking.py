"""Compares all mirrored tables with the upstream while health is asked for, since health depends on what is seen.

A question about a table compares that table anyway. Changes of tables that no client asks about would go unnoticed.
"""

import time
from collections.abc import Callable, Sequence

import structlog

from hmstats.errors import CallRefused, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.statistics.mirroring import CHANGING, Mirroring
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.upstream_calls import PARTITIONS_A_CALL, UpstreamCalls
from hmstats.model.catalog.objects import TableName

_log = structlog.get_logger("hmstats.gateway")

LOOK_SECONDS = 2.0
"""How often to check whether health was asked for."""
_AGAIN_SECONDS = 3_600.0
_ASKED_SECONDS = 86_400.0
"""For how long after a question about health all tables are compared."""
_RETRY_SECONDS = 5.0
"""How long to wait before tables are compared again that were being changed, or whose upstream was away."""


class Looking:
    """Remembers when this process compared tables. One thread may call `run`, any thread `note_asked`."""

    def __init__(self, mirroring: Mirroring) -> None:
        self._mirroring = mirroring
        self._asked: float | None = None
        self._looked: float | None = None
        self._tried = 0.0
        self._left: Sequence[TableName] = ()
        """The tables that are still to be compared."""
        self._waits_for: str | None = None

    def note_asked(self) -> None:
        """Record that health was asked for."""
        self._asked = time.monotonic()

    def run(self, calls: Callable[[], UpstreamCalls]) -> None:
        """Compare all tables, or those that are left, if that is due and the upstream answers."""
        now = time.monotonic()
        if self._asked is None or now - self._asked > _ASKED_SECONDS:
            return
        if self._looked is None or now - self._looked > _AGAIN_SECONDS:
            self._left = self._mirroring.tables.names()
            self._looked = now
        elif now - self._tried < _RETRY_SECONDS:
            return
        if not self._left:
            return
        self._tried = now
        try:
            asking = calls()
            self._left = [name for name in self._left if not self._look_at(asking, name)]
        except (UpstreamUnavailable, UpstreamClosed) as error:
            self._log_waiting(str(error))
        else:
            self._waits_for = None

    def _look_at(self, calls: UpstreamCalls, name: TableName) -> bool:
        """Update the mirrors of a table and its partitions, a thousand partitions at a time.

        Returns False if the table is being changed, so that it must be compared again.
        """
        if self._is_changing(calls, StatisticsScope(name, own=True, columns=())):
            return False
        table = self._mirroring.tables.find(name)
        if table is None or not table.partition_keys:
            return True
        try:
            there = calls.partition_names(name)
        except CallRefused:  # the table is gone by now, or may not be read
            return True
        names = list(dict.fromkeys((*there, *self._mirroring.tables.partition_names(name))))
        for start in range(0, len(names), PARTITIONS_A_CALL):
            some = tuple(names[start : start + PARTITIONS_A_CALL])
            if self._is_changing(calls, StatisticsScope(name, own=True, partitions=some, columns=())):
                return False
        return True

    def _log_waiting(self, reason: str) -> None:
        """Log once why the upstream cannot be asked; it is asked again every few seconds."""
        if reason != self._waits_for:
            _log.info("looking_waits", reason=reason)
        self._waits_for = reason

    def _is_changing(self, calls: UpstreamCalls, scope: StatisticsScope) -> bool:
        return self._mirroring.reason_left(calls, scope) == CHANGING
