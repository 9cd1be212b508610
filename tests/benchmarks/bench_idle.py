"""What idle connections cost: the memory of a server's processes, and how fast connections are taken in.

Run with `python -m tests.benchmarks.bench_idle [--connections 10000] [--workers 1]`. Afterwards one more connection is
answered while all the others are held.
"""

import argparse
import resource
import socket
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.harness.processes import family_of, listener_of
from tests.faults.harness.worker_processes import wait_until, workers
from tests.server.serving import Client

_SPARE_FILES = 100


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--connections", type=int, default=10_000, help="that are held at once")
    parser.add_argument("--workers", type=int, default=1, help="processes that share them")
    given = parser.parse_args()
    _allow_files(given.connections + _SPARE_FILES)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        url = f"sqlite:///{folder}/bench.sqlite"
        limit = given.connections + _SPARE_FILES
        server = stack.enter_context(workers(folder, url, given.workers, max_connections=limit))
        address = ("127.0.0.1", server.port)
        _ask(address)
        before = _resident_mb(server.port)
        started = time.perf_counter()
        for _ in range(given.connections):
            stack.enter_context(socket.create_connection(address))
        wait_until(lambda: server.metric("hmstats_connections") >= given.connections)
        seconds = time.perf_counter() - started
        _ask(address)
        after = _resident_mb(server.port)
    each = (after - before) * 1024 * 1024 / given.connections
    print(f"{given.connections:,} idle connections, {given.workers} worker(s), parent included:")
    print(f"memory {before:.0f} MB before, {after:.0f} MB with them, {each:,.0f} bytes for each;")
    print(f"{given.connections / seconds:,.0f} connections taken in a second; one more was answered meanwhile")


def _ask(address: tuple[str, int]) -> None:
    with Client(address) as client:
        assert client.ask("get_all_databases").value == ["default"]


def _resident_mb(port: int) -> float:
    kilobytes = 0
    for process in family_of(listener_of(port)):
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
        kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return kilobytes / 1024


def _allow_files(wanted: int) -> None:
    """Raise this process's limit of open files, which its server inherits. Raises ValueError when it cannot be."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise ValueError(f"the hard limit of open files must be at least {wanted}, found {hard}: ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    main()
