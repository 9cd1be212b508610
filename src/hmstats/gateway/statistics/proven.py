"""Questions whose statistics need not be compared with the upstream's again, since its log proves it.

A comparison is as of a number of the log. It holds for the user that asked as long as no event with a greater number
may be about its table, and for a minute at most, since rights of users are in no log.
"""

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from hmstats.gateway.statistics.questions import Question
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.notification_log import NotificationLog

SECONDS = 60.0
_MOST = 2_000
"""Comparisons that are remembered."""
_MOST_PARTITIONS = 20_000
"""A question about more partitions is compared each time."""
_Key = tuple[User, Question]


class Comparison(NamedTuple):
    """After which number of the log a question was compared, and the id of the mirror, which may be made anew since."""

    number: int
    mirror_id: int | None


class Proven:
    """What has been compared. Thread-safe."""

    def __init__(self, log: NotificationLog) -> None:
        self._upstreams = log
        self._compared: OrderedDict[_Key, tuple[Comparison, float]] = OrderedDict()
        self._lock = threading.Lock()

    def holds(self, user: User, question: Question, now: Comparison) -> bool:
        """Whether the question has been compared, so that a comparison now would find the same."""
        with self._lock:
            compared, at = self._compared.get((user, question), (None, 0.0))
            if compared is None or time.monotonic() - at > SECONDS:
                return False
            if compared.mirror_id != now.mirror_id or compared.number > now.number:
                return False
            self._compared.move_to_end((user, question))
            return compared.number >= self._upstreams.last(question.table)

    def note(self, user: User, question: Question, compared: Comparison) -> None:
        """Note that a question was compared."""
        if question.partitions is not None and len(question.partitions) > _MOST_PARTITIONS:
            return
        with self._lock:
            self._compared[user, question] = compared, time.monotonic()
            self._compared.move_to_end((user, question))
            if len(self._compared) > _MOST:
                self._compared.popitem(last=False)
