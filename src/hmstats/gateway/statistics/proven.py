"""Scopes whose statistics need not be compared with the upstream's again, since its log proves it.

A comparison is as of a number of the log. It holds for the user that asked as long as no event with a greater number
may be about its table, and for a minute at most, since rights of users are in no log.
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
"""Comparisons that are remembered."""
_MOST_PARTITIONS = 20_000
"""A scope of more partitions is compared each time."""
_Key = tuple[User, StatisticsScope]


class Comparison(NamedTuple):
    """The number of the log at which a scope was compared, and the id of the mirror, which may be made anew since."""

    number: int
    mirror_id: int | None


class Proven:
    """What has been compared. Thread-safe."""

    def __init__(self, log: NotificationLog) -> None:
        self._upstreams = log
        self._compared: OrderedDict[_Key, tuple[Comparison, float]] = OrderedDict()
        self._lock = threading.Lock()

    def holds(self, user: User, scope: StatisticsScope, now: Comparison) -> bool:
        """Whether the scope has been compared, so that a comparison now would find the same."""
        with self._lock:
            compared, at = self._compared.get((user, scope), (None, 0.0))
            if compared is None or time.monotonic() - at > SECONDS:
                return False
            if compared.mirror_id != now.mirror_id or compared.number > now.number:
                return False
            self._compared.move_to_end((user, scope))
            return compared.number >= self._upstreams.last(scope.table)

    def note(self, user: User, scope: StatisticsScope, compared: Comparison) -> None:
        """Note that a scope was compared."""
        if scope.partitions is not None and len(scope.partitions) > _MOST_PARTITIONS:
            return
        with self._lock:
            self._compared[user, scope] = compared, time.monotonic()
            self._compared.move_to_end((user, scope))
            if len(self._compared) > _MOST:
                self._compared.popitem(last=False)
