"""A gateway in a process of its own, which can be killed."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.harness.processes import family_of
from tests.fixtures.forked_servers import ForkedServer, fork


@contextmanager
def gateway_process(folder: Path, upstream: int, database: str) -> Iterator[tuple[ForkedServer, int]]:
    """The process and the port of a gateway of one worker, whose settings file may stand in the folder."""
    flags = ("--database", database, "--warehouse", str(folder), "--workers", "1")
    arguments = ["--port", "0", *flags, "--upstream", f"thrift://127.0.0.1:{upstream}"]
    with (folder / "server.log").open("a") as log:
        started = fork(arguments, folder, os.environ, log)
    try:
        yield started, int(started.stdout.readline().rpartition(":")[2])
    finally:
        started.terminate()
        started.communicate(timeout=60)


def kill(gateway: ForkedServer) -> None:
    """Kill all processes of a gateway at once: a worker that outlives its parent would end its calls properly."""
    for each in family_of(gateway.pid):
        os.kill(each, signal.SIGKILL)
    gateway.wait()
