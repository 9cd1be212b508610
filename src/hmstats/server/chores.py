"""Periodic tasks of a server."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from hmstats.errors import HmstatsError

_log = structlog.get_logger("hmstats.chores")
_PATIENCE_SECONDS = 1.0
"""How long running chores are waited for in the end, so that they give back their connections."""
_CUT_SHORT_SECONDS = 5.0
"""So long for those that can be cut short."""


@dataclass(frozen=True, slots=True)
class Chore:
    """A periodic task; it must be safe to run on two servers at once.

    The first run is `at_once`, or at a random moment within the first period, so that servers take turns. `cut_short`
    has a run of many parts end behind the part that it is at, and takes no time.
    """

    name: str
    do: Callable[[], object]
    every_seconds: float
    at_once: bool = False
    cut_short: Callable[[], None] | None = None


class Chores:
    """Runs each chore in a thread of its own until stopped."""

    def __init__(self, chores: tuple[Chore, ...]) -> None:
        self._stopped = threading.Event()
        self._running = [
            (each, threading.Thread(target=self._run, args=(each,), name=f"hmstats-{each.name}", daemon=True))
            for each in chores
        ]

    def start(self) -> None:
        """Begin."""
        for _, thread in self._running:
            thread.start()

    def stop(self) -> None:
        """Start no chore any more, and wait a moment for those that run."""
        self._stopped.set()
        for chore, _ in self._running:
            if chore.cut_short is not None:
                chore.cut_short()
        began = time.monotonic()
        for chore, thread in self._running:
            patience = _PATIENCE_SECONDS if chore.cut_short is None else _CUT_SHORT_SECONDS
            if thread.is_alive():
                thread.join(max(0.0, began + patience - time.monotonic()))

    def _run(self, chore: Chore) -> None:
        pause_seconds = 0.0 if chore.at_once else chore.every_seconds * random.random()
        while not self._stopped.wait(pause_seconds):
            try:
                chore.do()
            except HmstatsError as error:  # the database may be unavailable; the next run tries again
                _log.warning("chore_failed", chore=chore.name, error=str(error))
            pause_seconds = chore.every_seconds
