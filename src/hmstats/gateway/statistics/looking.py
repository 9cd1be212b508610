"""Looks at all tables that have mirrors while somebody asks for their health, which changes by what is seen of them.

A question about a table looks at it too. Of what nobody asks about, nobody else would tell.
"""

import threading
import time
from collections.abc import Callable

from hmstats.gateway.statistics.mirroring import Mirroring
from hmstats.gateway.statistics.questions import Question
from hmstats.gateway.upstream.upstream_calls import PARTITIONS_A_CALL, UpstreamCalls
from hmstats.model.catalog.objects import TableName

LOOK_SECONDS = 2.0
"""How often to see whether somebody has asked."""
_AGAIN_SECONDS = 3_600.0
_ASKED_SECONDS = 86_400.0
"""For how long after a question all tables are looked at."""


class Looking:
    """When tables were looked at, by this process. Thread-safe."""

    def __init__(self, mirroring: Mirroring) -> None:
        self._mirroring = mirroring
        self._asked: float | None = None
        self._looked: float | None = None
        self._lock = threading.Lock()

    def note_asked(self) -> None:
        """Note that somebody asks for health."""
        self._asked = time.monotonic()

    def run(self, calls: Callable[[], UpstreamCalls]) -> None:
        """Look at all tables, if that is due. Raises UpstreamUnavailable and UpstreamClosed."""
        if not self._is_due():
            return
        asking = calls()
        for name in self._mirroring.tables.names():
            self._look_at(asking, name)

    def _is_due(self) -> bool:
        now = time.monotonic()
        with self._lock:
            if self._asked is None or now - self._asked > _ASKED_SECONDS:
                return False
            if self._looked is not None and now - self._looked < _AGAIN_SECONDS:
                return False
            self._looked = now
        return True

    def _look_at(self, calls: UpstreamCalls, name: TableName) -> None:
        """Make the mirrors of a table and its partitions like these are now, a thousand partitions at a time."""
        mirrored = self._mirroring.sync(calls, Question(name, own=True, columns=()))
        table = self._mirroring.tables.find(name) if mirrored else None
        if table is None or not table.partition_keys:
            return
        names = list(dict.fromkeys((*calls.partition_names(name), *self._mirroring.tables.partition_names(name))))
        for start in range(0, len(names), PARTITIONS_A_CALL):
            some = tuple(names[start : start + PARTITIONS_A_CALL])
            self._mirroring.sync(calls, Question(name, own=True, partitions=some, columns=()))
