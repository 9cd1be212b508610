"""What ties a worker process to its parent: a socket pair on which each hears the other's words, and its end.

The worker says that it is ready; the parent says how many seconds a worker that is to end has for its calls. Both ends
close with their process, however it ends, so that neither outlives the other unknowingly.
"""

import socket
import threading
from collections.abc import Callable

READY = b"ready\n"


def drain_order(drain_seconds: float) -> bytes:
    """What the parent says to a worker that is to end."""
    return f"{drain_seconds:.3f}\n".encode()


class Lifeline:
    """The worker's end."""

    def __init__(self, fileno: int) -> None:
        self._socket = socket.socket(fileno=fileno)

    def ready(self) -> None:
        """Say that connections are served."""
        self._socket.sendall(READY)

    def follow(self, drain: Callable[[float], None], orphaned_seconds: float) -> None:
        """From now on call `drain` when the parent says so, or with `orphaned_seconds` once it is gone."""
        arguments = (drain, orphaned_seconds)
        threading.Thread(target=self._follow, args=arguments, name="hmstats-lifeline", daemon=True).start()

    def _follow(self, drain: Callable[[float], None], orphaned_seconds: float) -> None:
        with self._socket.makefile("r") as orders:
            try:
                order = orders.readline()
            except OSError:
                order = ""
        drain(float(order) if order else orphaned_seconds)
