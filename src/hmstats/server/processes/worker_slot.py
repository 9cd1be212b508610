"""The slot of one worker: its listening socket, the process that serves it, and when to start another."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from socket import socket

from hmstats.server.processes.worker_process import WorkerProcess
from hmstats.server.sockets.neighbours import Neighbourhood
from hmstats.server.sockets.port import Port

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0

Start = Callable[[int, socket, tuple[int, ...]], WorkerProcess]
"""Starts the process with a number on a listening socket, with the file descriptors of its neighbours."""


@dataclass
class Slot:
    """A worker's slot. Its socket outlives its process, so that clients that connect in between only wait.

    If a second process ends before it was ready, the socket is closed: the other workers then get all clients.
    """

    number: int
    port: Port
    neighbourhood: Neighbourhood
    start_process: Start
    worker: WorkerProcess | None = None
    successor: WorkerProcess | None = None
    """A worker that takes over as soon as it is ready."""
    due: float | None = None
    """When a process must be started, in seconds of time.monotonic(); None if none must."""
    _listening: socket | None = None
    _failed_starts: int = 0

    def start(self) -> WorkerProcess:
        """Start the worker."""
        self.due = None
        self.worker = self._process()
        return self.worker

    def start_successor(self) -> WorkerProcess:
        """Start the successor of the running worker."""
        self.successor = self._process()
        return self.successor

    def take_over(self) -> WorkerProcess | None:
        """Make the successor the worker, and return the previous one."""
        previous, self.worker, self.successor = self.worker, self.successor, None
        return previous

    def ended(self) -> None:
        """Record that the worker has ended, and schedule the next one."""
        assert self.worker is not None
        now = time.monotonic()
        self._failed_starts = 0 if self.worker.ready else self._failed_starts + 1
        self.worker = None
        self.neighbourhood.vacate(self.number)
        if self._failed_starts < 2:
            self.due = now
            return
        self._close_socket()
        self.due = now + min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** (self._failed_starts - 2))

    def close(self) -> None:
        """Start no more processes, and close the socket; a running worker has its own copy."""
        self.due = None
        self.neighbourhood.leave(self.number)
        self._close_socket()

    def _close_socket(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def _process(self) -> WorkerProcess:
        if self._listening is None:
            self._listening = self.port.listen()
        return self.start_process(self.number, self._listening, self.neighbourhood.inherited(self.number))
