"""Cached versions of tables, in a process that is the only writer of its database.

A version that a commit may change is not cached from before the commit until after it. Versions read from the database
meanwhile are returned but not cached.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager


class ExclusiveVersions:
    """The versions of tables (versions.py); `read` reads them from the database."""

    def __init__(self, read: Callable[[Collection[int]], dict[int, int]]) -> None:
        self._read = read
        self._cache: dict[int, int] = {}
        self._changing: Counter[int] = Counter()
        self._changes = 0
        self._lock = threading.Lock()

    def current(self, table_ids: Collection[int]) -> dict[int, int]:
        """The current versions of the tables; a table without one is absent."""
        cached = self.cached(table_ids)
        if cached is not None:
            return cached
        changes = self._changes
        read = self._read(table_ids)
        with self._lock:
            if changes == self._changes:
                self._cache.update(
                    {table_id: version for table_id, version in read.items() if not self._changing[table_id]}
                )
        return read

    def cached(self, table_ids: Collection[int]) -> dict[int, int] | None:
        """The current versions of the tables if all are cached, else None."""
        cache = self._cache
        try:
            return {table_id: cache[table_id] for table_id in table_ids}
        except KeyError:
            return None

    @contextmanager
    def changing(self, table_ids: Collection[int]) -> Iterator[None]:
        """Invalidate the versions of these tables before and after the commit inside, and cache none meanwhile."""
        with self._lock:
            self._remove(table_ids)
            self._changing.update(table_ids)
        try:
            yield
        finally:
            with self._lock:
                self._remove(table_ids)
                self._changing.subtract(table_ids)
                self._changing = +self._changing

    def clear(self) -> None:
        """Clear the cache, since another process may have written."""
        with self._lock:
            self._changes += 1
            self._cache = {}

    def _remove(self, table_ids: Collection[int]) -> None:
        self._changes += 1
        for table_id in table_ids:
            self._cache.pop(table_id, None)
