"""Remembers scopes whose statistics need no new comparison with the upstream, since its log proves them unchanged.

A comparison is valid as of a number of the log. It serves the user for whom it was made until an event with a greater
number may be about the table, and for at most a minute, since the log does not record changes of users' rights.
"""

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.notification_log import NotificationLog

SECONDS = 60.0
_MOST = 2_000
"""The most comparisons that are remembered."""
_MOST_PARTITIONS = 20_000
"""A scope with more partitions than this is compared every time."""
_Key = tuple[User, StatisticsScope]


class Comparison(NamedTuple):
    """The number of the log as of which a scope was compared, and the id of the mirror, which a new one lacks."""

    number: int
    mirror_id: int | None


class Proven:
    """Remembers comparisons. Thread-safe."""

    def __init__(self, log: NotificationLog) -> None:
        self._upstreams = log
        self._compared: OrderedDict[_Key, tuple[Comparison, float]] = OrderedDict()
        self._lock = threading.Lock()

    def holds(self, user: User, scope: StatisticsScope, now: Comparison) -> bool:
        """Whether the scope was compared, and a new comparison would find the same."""
        with self._lock:
            compared, at = self._compared.get((user, scope), (None, 0.0))
            if compared is None or time.monotonic() - at > SECONDS:
                return False
            if compared.mirror_id != now.mirror_id or compared.number > now.number:
                return False
            self._compared.move_to_end((user, scope))
            return compared.number >= self._upstreams.last(scope.table)

    def note(self, user: User, scope: StatisticsScope, compared: Comparison) -> None:
        """Record that a scope was compared."""
        if scope.partitions is not None and len(scope.partitions) > _MOST_PARTITIONS:
            return
        with self._lock:
            self._compared[user, scope] = compared, time.monotonic()
            self._compared.move_to_end((user, scope))
            if len(self._compared) > _MOST:
                self._compared.popitem(last=False)
