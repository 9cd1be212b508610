"""A server on a port that stays the same, which is killed whole and started again."""

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.harness.processes import family_of
from tests.fixtures.forked_servers import ForkedServer, fork
from tests.fixtures.ports import free_port


@dataclass
class ServerProcess:
    """`hmstats serve` with one worker, over a database that it may share; its log is in the folder.

    So is the warehouse unless it is named. `environment`: further variables.
    """

    folder: Path
    database: str
    port: int = field(default_factory=free_port)
    warehouse: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: ForkedServer | None = None

    def start(self) -> None:
        """Start; returns when clients are served."""
        warehouse = self.warehouse or str(self.folder / "warehouse")
        flags = ["--port", str(self.port), "--database", self.database, "--warehouse", warehouse]
        with (self.folder / f"server-{self.port}.log").open("a") as log:
            self._process = fork(["--workers", "1", *flags], self.folder, os.environ | self.environment, log)
        assert self._process.stdout.readline().startswith("listening on"), log.name

    def kill(self) -> None:
        """kill -9 of the parent and its worker, and be sure that they are gone."""
        if self._process is None:
            return
        family = family_of(self._process.pid)
        for pid in sorted(family):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.communicate(timeout=60)
        self._process = None


@contextlib.contextmanager
def two_servers(folder: Path, database: str) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """Two servers over one database and one warehouse."""
    servers = ServerProcess(folder, database), ServerProcess(folder, database)
    try:
        for each in servers:
            each.start()
        yield servers
    finally:
        for each in servers:
            each.kill()


def addresses(servers: tuple[ServerProcess, ...]) -> str:
    """As clients are told where they are."""
    return ",".join(f"thrift://127.0.0.1:{each.port}" for each in servers)
