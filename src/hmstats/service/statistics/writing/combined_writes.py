"""Queue of writes that wait for a table's mutex; its holder does all of them in one transaction.

Locking a table, bumping its version and committing take as long as writing fifty columns. Many small writes at once,
such as those of Trino's ANALYZE, one for each partition, become a few large ones.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future

from hmstats.errors import HmstatsError
from hmstats.model.statistics.statistics_by_field import StatisticsByField


class WaitingWrite:
    """Statistics in the queue; `done` gets the result of the write or its error."""

    def __init__(self, subject: Hashable, statistics: StatisticsByField) -> None:
        self.subject = subject
        self.statistics = statistics
        self.done = Future[bool]()


class WaitingWrites:
    """The queued writes that no thread has started. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[WaitingWrite]] = {}
        self._lock = threading.Lock()

    def add(self, subject: Hashable, statistics: StatisticsByField) -> WaitingWrite:
        """Queue a write; writes of one subject can be combined."""
        write = WaitingWrite(subject, statistics)
        with self._lock:
            self._waiting.setdefault(subject, []).append(write)
        return write

    def take_all(self, write: WaitingWrite) -> list[WaitingWrite]:
        """Take the write and all others of its subject from the queue, in order; none if another thread took it."""
        with self._lock:
            if write not in self._waiting.get(write.subject, ()):
                return []
            return self._waiting.pop(write.subject)


def settle(writes: Sequence[WaitingWrite], work: Callable[[], bool]) -> bool:
    """Do these writes and set their results. Returns False, and sets none, if several cannot be combined."""
    try:
        written = work()
    except HmstatsError as error:
        for each in writes:
            each.done.set_exception(error)
        return True
    if not written and len(writes) > 1:
        return False
    for each in writes:
        each.done.set_result(written)
    return True
