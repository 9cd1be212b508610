"""A worker process as its parent sees it."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from hmstats.server.processes.lifeline import drain_order

HOPELESS = 2
"""The exit status of a worker that no restart can help, because of its settings or its database."""
_EXIT_SECONDS = 5.0
"""How long a process may take to end after its end of the lifeline was closed."""


class WorkerProcess:
    """A process that serves a listening socket; started at once.

    `command` is run with more arguments: its number, and the file descriptors of the socket, of its lifeline, and those
    of its neighbours.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        number: int,
        listening: socket.socket,
        neighbours: tuple[int, ...],
    ) -> None:
        self.number = number
        self.ready = False
        self._lifeline, theirs = socket.socketpair()
        with theirs:
            inherited = (listening.fileno(), theirs.fileno(), *neighbours)
            self._process = subprocess.Popen(
                [*command, str(number), *map(str, inherited)],
                env=dict(environment),
                pass_fds=inherited,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
            )

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def fileno(self) -> int:
        """The file descriptor that the selector watches for reading."""
        return self._lifeline.fileno()

    def listen(self) -> bool:
        """Read the worker's messages; False if the worker has ended."""
        try:
            said = self._lifeline.recv(64)
        except OSError:
            return False
        self.ready = self.ready or bool(said)
        return bool(said)

    def drain(self, drain_seconds: float) -> None:
        """Order the worker to end after its running calls, at the latest after so many seconds."""
        with contextlib.suppress(OSError):  # the worker has ended already, which the selector reports soon
            self._lifeline.sendall(drain_order(drain_seconds))

    def kill(self) -> None:
        """End the worker at once."""
        self._process.kill()

    def reap(self) -> int:
        """The exit status of a worker that has ended; a negative one is a signal's number."""
        self._lifeline.close()
        try:
            return self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
