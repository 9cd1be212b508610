"""A PostgreSQL whose processes are known, so that they can be killed and the server started again.

Its commits are in the operating system's hands before they are answered, so a killed process loses none of them.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmarks.processes import family_of
from tests.faults.worker_processes import PATIENCE_SECONDS
from tests.fixtures.postgres import Cluster, cluster

_SETTINGS = "-c fsync=off -c full_page_writes=off -c max_connections=100 -c shared_buffers=32MB"


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL on a port that stays the same."""

    _cluster: Cluster

    @property
    def port(self) -> int:
        """Where it answers."""
        return self._cluster.port

    @property
    def url(self) -> str:
        """The URL of its own database."""
        return self._cluster.url

    def start(self) -> None:
        """Start, and recover what was killed; returns when it takes connections."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._cluster.start(_SETTINGS)
            except subprocess.CalledProcessError:
                # What the killed one left behind, memory shared by its last processes, is not gone at once.
                assert time.monotonic() < until, self._cluster.server.log.read_text()[-2_000:]
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """kill -9 of the server, its first process first."""
        first = int((self._cluster.server.pgdata / "postmaster.pid").read_text().splitlines()[0])
        others = family_of(first).keys() - {first}
        for pid in (first, *sorted(others)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop at once."""
        self._cluster.control("-m", "immediate", "stop")


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """A server of its own, which lives as long as the context."""
    with cluster() as files:
        found = Postgres(files)
        found.start()
        try:
            yield found
        finally:
            found.stop()
