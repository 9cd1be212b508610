"""What a server does from time to time by itself, beside its clients' calls."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from hmstats.errors import HmstatsError

_log = structlog.get_logger("hmstats.chores")


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do every so many seconds; doing it twice at once, on two servers, must do no harm."""

    name: str
    do: Callable[[], object]
    every_seconds: float


class Chores:
    """Does each chore in a thread of its own until it is stopped."""

    def __init__(self, chores: tuple[Chore, ...]) -> None:
        self._chores = chores
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin. The first time comes within a period, at a random moment, so that servers take turns."""
        for chore in self._chores:
            threading.Thread(target=self._run, args=(chore,), name=f"hmstats-{chore.name}", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing any more; a chore that runs comes to its end."""
        self._stopped.set()

    def _run(self, chore: Chore) -> None:
        pause_seconds = chore.every_seconds * random.random()
        while not self._stopped.wait(pause_seconds):
            try:
                chore.do()
            except HmstatsError as error:  # the database may be away; there is a next time
                _log.warning("chore_failed", chore=chore.name, error=str(error))
            pause_seconds = chore.every_seconds
