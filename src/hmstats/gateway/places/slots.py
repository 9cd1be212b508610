"""Limits the calls to one upstream by slots, so that one that hangs does not take all threads from the others."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from hmstats.errors import UpstreamUnavailable

PATIENCE_SECONDS = 5.0
"""How long a call waits for a slot, and after how long without any finished call the upstream counts as hanging."""


class Slots:
    """Slots for at most `most` calls at a time to the upstream called `name`. Thread-safe."""

    def __init__(self, name: str, most: int, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._name = name
        self._most = most
        self._patience_seconds = patience_seconds
        self._running = 0
        self._last_end = time.monotonic()
        self._change = threading.Condition()

    @contextmanager
    def take(self) -> Iterator[None]:
        """A slot for the duration of the context. Raises UpstreamUnavailable if none becomes free in time."""
        self._take()
        try:
            yield
        finally:
            with self._change:
                self._running -= 1
                self._last_end = time.monotonic()
                self._change.notify()

    def _take(self) -> None:
        until = time.monotonic() + self._patience_seconds
        with self._change:
            while self._running >= self._most:
                now = time.monotonic()
                if now >= until or now - self._last_end > self._patience_seconds:
                    raise UpstreamUnavailable(
                        f"upstream {self._name} has {self._most} calls to answer and is too slow; try again later"
                    )
                self._change.wait(until - now)
            if not self._running:
                self._last_end = time.monotonic()
            self._running += 1
