"""A worker process as its parent sees it."""

import contextlib
import os
import signal
import socket
from collections.abc import Sequence

import structlog

from hmstats.server.processes.fork_server import ForkServer, ForkServers
from hmstats.server.processes.lifeline import drain_order

HOPELESS = 2
"""The exit status of a worker that no restart can help, because of its settings or its database."""
_EXIT_SECONDS = 5.0
"""How long a process may take to end after its end of the lifeline was closed."""

_log = structlog.get_logger("hmstats.parent")


class WorkerProcess:
    """A process that serves a listening socket; forked at once, with `arguments` and its number.

    It gets the file descriptors of the socket, of its lifeline, and those of its neighbours. A worker that cannot be
    forked is one that has ended already.
    """

    def __init__(
        self,
        fork_servers: ForkServers,
        arguments: Sequence[object],
        number: int,
        listening: socket.socket,
        neighbours: tuple[int, ...],
    ) -> None:
        self.number = number
        self.ready = False
        self.pid = 0
        """The process's id; 0 if it could not be forked."""
        self._fork_server: ForkServer | None = None
        self._lifeline, theirs = socket.socketpair()
        with theirs:
            inherited = (listening.fileno(), theirs.fileno(), *neighbours)
            try:
                self._fork_server, self.pid = fork_servers.fork([*arguments, number], inherited)
            except OSError as error:
                _log.error("worker_not_forked", worker=number, reason=str(error))

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
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def reap(self) -> int | None:
        """The exit status of a worker that has ended; a negative one is a signal's number, None if it is unknown."""
        self._lifeline.close()
        return None if self._fork_server is None else self._fork_server.reap(self.pid, _EXIT_SECONDS)
