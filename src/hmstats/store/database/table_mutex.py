"""A mutex for each table, which orders its writers within a process before they lock its row in the database.

Many writers that wait for a row's lock cost PostgreSQL a connection each, and processor time whenever one wakes.
"""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class _Mutex:
    """A lock that is garbage collected once no thread uses it."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()


class TableMutexes:
    """Mutexes by key, created on demand. Thread-safe."""

    def __init__(self) -> None:
        self._mutexes: WeakValueDictionary[Hashable, _Mutex] = WeakValueDictionary()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self, key: Hashable, patience_seconds: float) -> Iterator[None]:
        """Hold the key's mutex. After `patience_seconds` go on without it: the database's lock still orders writers."""
        with self._lock:
            mutex = self._mutexes.get(key)
            if mutex is None:
                mutex = self._mutexes[key] = _Mutex()
        acquired = mutex.lock.acquire(timeout=patience_seconds)
        try:
            yield
        finally:
            if acquired:
                mutex.lock.release()
