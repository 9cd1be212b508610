"""Connections to the metastore that threads share: one belongs to one request at a time."""

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hmstats.client import Metastore

MOST_IDLE = 16


class Metastores:
    """Idle connections, the last used first; more are opened when all are in use. Thread-safe."""

    def __init__(self, opened: Callable[[], Metastore]) -> None:
        self._open = opened
        self._idle: queue.LifoQueue[Metastore] = queue.LifoQueue(MOST_IDLE)

    @contextmanager
    def one(self) -> Iterator[Metastore]:
        """A connection for one request; afterwards it is idle again, or closed if enough are."""
        try:
            found = self._idle.get_nowait()
        except queue.Empty:
            found = self._open()
        try:
            yield found
        finally:
            self._put(found)

    def close(self) -> None:
        """Close the idle connections."""
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _put(self, found: Metastore) -> None:
        try:
            self._idle.put_nowait(found)
        except queue.Full:
            found.close()
