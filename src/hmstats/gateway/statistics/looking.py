"""Looks at all tables that have mirrors while somebody asks for their health, which changes by what is seen of them.

A question about a table looks at it too. Of what nobody asks about, nobody else would tell.
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
"""How often to see whether somebody has asked."""
_AGAIN_SECONDS = 3_600.0
_ASKED_SECONDS = 86_400.0
"""For how long after a question all tables are looked at."""
_RETRY_SECONDS = 5.0
"""After how long tables are looked at again that could not be: they were being changed, or the upstream was away."""


class Looking:
    """When tables were looked at, by this process. `run` is for one thread, `note_asked` for any."""

    def __init__(self, mirroring: Mirroring) -> None:
        self._mirroring = mirroring
        self._asked: float | None = None
        self._looked: float | None = None
        self._tried = 0.0
        self._left: Sequence[TableName] = ()
        """The tables that are still to be looked at."""
        self._waits_for: str | None = None

    def note_asked(self) -> None:
        """Note that somebody asks for health."""
        self._asked = time.monotonic()

    def run(self, calls: Callable[[], UpstreamCalls]) -> None:
        """Look at all tables, or at those that are left, if that is due and the upstream answers."""
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
        """Make the mirrors of a table and its partitions like these are now, a thousand partitions at a time.

        Returns whether that is done, as far as it can be.
        """
        if self._is_changing(calls, StatisticsScope(name, own=True, columns=())):
            return False
        table = self._mirroring.tables.find(name)
        if table is None or not table.partition_keys:
            return True
        try:
            there = calls.partition_names(name)
        except CallRefused:  # it is gone by now, or not to be read
            return True
        names = list(dict.fromkeys((*there, *self._mirroring.tables.partition_names(name))))
        for start in range(0, len(names), PARTITIONS_A_CALL):
            some = tuple(names[start : start + PARTITIONS_A_CALL])
            if self._is_changing(calls, StatisticsScope(name, own=True, partitions=some, columns=())):
                return False
        return True

    def _log_waiting(self, reason: str) -> None:
        """Say once why the upstream cannot be asked: it is asked again every few seconds."""
        if reason != self._waits_for:
            _log.info("looking_waits", reason=reason)
        self._waits_for = reason

    def _is_changing(self, calls: UpstreamCalls, scope: StatisticsScope) -> bool:
        return self._mirroring.reason_left(calls, scope) == CHANGING
