"""The socket pair between a worker process and its parent, on which each notices the other's end.

The worker reports that it is ready; the parent orders a worker to end, with the seconds that it has for running calls.
Both ends close with their process, however it ends, so that neither misses the end of the other.
"""

import socket
import threading
from collections.abc import Callable

READY = b"ready\n"


def drain_order(drain_seconds: float) -> bytes:
    """The parent's message to a worker that must end."""
    return f"{drain_seconds:.3f}\n".encode()


class Lifeline:
    """The worker's end."""

    def __init__(self, fileno: int) -> None:
        self._socket = socket.socket(fileno=fileno)

    def ready(self) -> None:
        """Tell the parent that connections are served."""
        self._socket.sendall(READY)

    def follow(self, drain: Callable[[float], None], orphaned_seconds: float) -> None:
        """From now on call `drain` if the parent orders it, or with `orphaned_seconds` if the parent is gone."""
        arguments = (drain, orphaned_seconds)
        threading.Thread(target=self._follow, args=arguments, name="hmstats-lifeline", daemon=True).start()

    def _follow(self, drain: Callable[[float], None], orphaned_seconds: float) -> None:
        with self._socket.makefile("r") as orders:
            try:
                order = orders.readline()
            except OSError:
                order = ""
        drain(float(order) if order else orphaned_seconds)
