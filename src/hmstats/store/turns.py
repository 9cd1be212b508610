"""Writers of one table take turns within a process before they ask the database, which lets one in at a time anyway.

Many that wait for a row's lock cost PostgreSQL a connection each, and the processor's time whenever one of them wakes.
"""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class _Turn:
    """A lock that can be forgotten when nobody waits for it."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()


class Turns:
    """The turns of the writers of anything."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[Hashable, _Turn] = WeakValueDictionary()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, written: Hashable, patience_seconds: float) -> Iterator[None]:
        """Wait until nobody else here writes this, for so long at most: the database has the last word."""
        with self._lock:
            turn = self._turns.get(written)
            if turn is None:
                turn = self._turns[written] = _Turn()
        mine = turn.lock.acquire(timeout=patience_seconds)
        try:
            yield
        finally:
            if mine:
                turn.lock.release()
