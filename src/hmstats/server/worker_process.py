"""A worker process as its parent sees it."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from hmstats.server.lifeline import drain_order

_EXIT_SECONDS = 5.0
"""How long a process may take to end once its end of the lifeline is closed."""


class WorkerProcess:
    """A process that serves a listening socket; started at once.

    `command` is run with more arguments: its number, and the file descriptors of the socket, of its lifeline, and those
    that make it know its neighbours.
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
        """What the selector watches for reading."""
        return self._lifeline.fileno()

    def listen(self) -> bool:
        """Hear what the worker says: False when it has ended."""
        try:
            said = self._lifeline.recv(64)
        except OSError:
            return False
        self.ready = self.ready or bool(said)
        return bool(said)

    def drain(self, drain_seconds: float) -> None:
        """Have the worker end after the calls that run, at the latest after so many seconds."""
        with contextlib.suppress(OSError):  # it has ended already, which is heard in a moment
            self._lifeline.sendall(drain_order(drain_seconds))

    def kill(self) -> None:
        """End the worker at once."""
        self._process.kill()

    def reap(self) -> int:
        """The exit status of a worker that has ended; negative is a signal's number."""
        self._lifeline.close()
        try:
            return self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
