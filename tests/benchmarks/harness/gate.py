"""A gate: processes wait there until all are ready, so that they are measured over the same time."""

import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

_HOST = "127.0.0.1"
_LOOK_SECONDS = 0.1


class Gate:
    """Held by who starts the processes; they are told its `port`."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.port: int = listener.getsockname()[1]

    def open(self, running: Sequence[Future[Any]]) -> None:
        """Let all go as soon as each waits, or has ended without."""
        ready: list[socket.socket] = []
        while len(ready) + sum(each.done() for each in running) < len(running):
            with suppress(TimeoutError):
                ready.append(self._listener.accept()[0])
        for each in ready:
            each.close()


@contextmanager
def gate() -> Iterator[Gate]:
    """A gate that is shut."""
    with socket.create_server((_HOST, 0)) as listener:
        listener.settimeout(_LOOK_SECONDS)
        yield Gate(listener)


def wait_at(port: int) -> None:
    """In a process: wait until the gate opens."""
    with socket.create_connection((_HOST, port)) as connection:
        connection.recv(1)
