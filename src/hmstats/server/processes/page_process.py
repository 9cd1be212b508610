"""The process of the page as its parent sees it: kept running, and handed the connections of browsers.

It is no worker: it holds no data, asks the server's port as any client does, and may end without harm to calls.
"""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 10.0
"""A process that lived so long is replaced at once when it ends, one that did not after a pause."""
_HANDED = b"c"
"""The byte that comes with a connection."""

_log = structlog.get_logger("hmstats.parent")


@dataclass(frozen=True, slots=True)
class _Running:
    """A running process of the page."""

    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    """Its connections are sent here; the process ends when it is closed."""


class PageProcess:
    """Keeps a process running, once it is started, which has `drain_seconds` for its requests when it must end."""

    def __init__(self, environment: Mapping[str, str], drain_seconds: float) -> None:
        self._command: tuple[str, ...] = ()
        self._environment = dict(environment)
        self._drain_seconds = drain_seconds
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._running: _Running | None = None

    def start(self, command: Sequence[str]) -> None:
        """Start it by a command that gets the file descriptor of its end of the channel as one more argument."""
        self._command = tuple(command)
        self._running = self._run()
        threading.Thread(target=self._keep, name="hmstats-page", daemon=True).start()

    def close(self) -> None:
        """End the process, and start no other."""
        self._closing.set()
        with self._lock:
            last, self._running = self._running, None
        if last is not None:
            last.channel.close()
            _end(last.process, self._drain_seconds)

    def hand_over(self, connection: socket.socket) -> bool:
        """Give the process a copy of the connection; False if there is no process, or it takes none. Thread-safe."""
        with self._lock:
            if self._running is None:
                return False
            try:
                socket.send_fds(self._running.channel, [_HANDED], [connection.fileno()])
            except OSError:
                return False
        return True

    def renew(self) -> None:
        """Replace the process by one that reads the settings anew; the old one finishes its requests."""
        with self._lock:
            if self._running is None or self._closing.is_set():
                return
            old, self._running = self._running, self._run()
        old.channel.close()

    def _run(self) -> _Running:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)  # a process that takes no more connections holds nobody up
        with theirs:
            process = subprocess.Popen(
                [*self._command, str(theirs.fileno())],
                env=self._environment,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C reaches the parent alone
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
            )
        _log.info("page_started", pid=process.pid)
        return _Running(process, ours)

    def _keep(self) -> None:
        """Start another process whenever one has ended, until this object is closed."""
        failures = 0
        while (watched := self._running) is not None:
            began = time.monotonic()
            status = watched.process.wait()
            with self._lock:
                if self._running is not watched:
                    continue  # it was replaced, or the server stops
                self._running = None
                watched.channel.close()
            _log.error("page_ended", pid=watched.process.pid, status=status)
            failures = 0 if time.monotonic() - began > _STEADY_SECONDS else failures + 1
            pause_seconds = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2 ** (failures - 1)) if failures else 0
            if self._closing.wait(pause_seconds):
                return
            self._restart()

    def _restart(self) -> None:
        with self._lock:
            if self._closing.is_set():
                return
            self._running = self._run()


def _end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return
    process.kill()
    process.wait()
