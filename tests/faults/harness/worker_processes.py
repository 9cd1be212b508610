"""A server whose worker processes are known, so that they can be killed."""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.harness.processes import listener_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

PATIENCE_SECONDS = 300.0


@dataclass(frozen=True)
class Workers:
    """A server's port, and what its log and its metrics tell of its workers."""

    port: int
    count: int
    log: Path

    def alive(self) -> set[int]:
        """The ids of the processes that have been started and have not ended."""
        started, ended = ([event["pid"] for event in self.events(kind)] for kind in ("worker_started", "worker_ended"))
        return set(started) - set(ended)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The lines of one kind in the log, which has one for each call too: only those that may be of it are read."""
        named = [line for line in self.log.read_text().splitlines() if kind in line and line.endswith("}")]
        return [line for line in map(json.loads, named) if line["event"] == kind]

    def metric(self, name: str) -> float:
        """A number from the server's metrics; nothing counted is 0."""
        (http,) = self.events("health_served")
        with urllib.request.urlopen(f"http://{http['host']}:{http['port']}/metrics", timeout=20) as answer:
            lines = answer.read().decode().splitlines()
        return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0.0)

    def parent(self) -> int:
        """The parent's id."""
        return listener_of(self.port)

    def kill(self, pid: int) -> None:
        """kill -9."""
        os.kill(pid, signal.SIGKILL)

    def whole(self) -> bool:
        """Whether as many workers serve as should."""
        return self.metric("hmstats_workers") == self.count


@contextmanager
def workers(folder: Path, database: str, count: int = 2, **settings: object) -> Iterator[Workers]:
    """A server with so many workers over a database."""
    given = {"workers": count, "http_port": 0} | settings
    with serving(folder, database=database, settings=given, as_command=True) as port:
        yield Workers(port, count, folder / "server.log")


@contextmanager
def metastore_of(port: int) -> Iterator[Metastore]:
    """A metastore for the test's clients."""
    metastore = Metastore("hmstats-postgres", port, 4.0, database="faults")
    with metastore.clients:
        yield metastore


def wait_until(holds: Callable[[], bool]) -> None:
    """Return once it is so; fail when it takes too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.02)
