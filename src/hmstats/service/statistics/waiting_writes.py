"""Writes that wait for their turn at a table: whoever has it does all of them, in one transaction.

To lock a table, count its version and commit takes as long as writing fifty columns. Many small writes at once, such as
those of Trino's ANALYZE, one for each partition, are few large ones so.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future

from hmstats.errors import HmstatsError
from hmstats.model.statistics_by_field import StatisticsByField


class WaitingWrite:
    """Statistics that are to be written; `done` says whether they were, or which error kept them from it."""

    def __init__(self, subject: Hashable, statistics: StatisticsByField) -> None:
        self.subject = subject
        self.statistics = statistics
        self.done = Future[bool]()


class WaitingWrites:
    """The writes that nobody has begun. Used by many threads at once."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[WaitingWrite]] = {}
        self._lock = threading.Lock()

    def add(self, subject: Hashable, statistics: StatisticsByField) -> WaitingWrite:
        """Have a write wait; those of one subject can be done together."""
        write = WaitingWrite(subject, statistics)
        with self._lock:
            self._waiting.setdefault(subject, []).append(write)
        return write

    def take(self, write: WaitingWrite) -> list[WaitingWrite]:
        """The write and those that wait with it, in their order; none when somebody else has taken it."""
        with self._lock:
            if write not in self._waiting.get(write.subject, ()):
                return []
            return self._waiting.pop(write.subject)


def settle(writes: Sequence[WaitingWrite], work: Callable[[], bool]) -> bool:
    """Do these writes, and say so to those who wait. False where several could not be done together: none was."""
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
