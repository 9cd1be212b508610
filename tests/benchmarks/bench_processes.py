"""What more worker processes bring: calls per second, and connections with one call each, as Trino makes them.

Run with `python -m tests.benchmarks.bench_processes [--database sqlite] [--processes 1 2] [--connections 4 32]`.
Servers of 1 and more processes over one database, each measured in turn. Beside each rate stands the processor's time
of a call, the server's and the database's: it says more than the rate where the machine has other work.
"""

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import Clients
from tests.benchmarks.harness.processes import cpu_seconds, listener_of
from tests.benchmarks.harness.scenarios import SCENARIOS, fill
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store.migration import migrate

TABLES = 4
"""Connections share so many tables of each kind."""
CALLS = (
    "get_table_column_statistics, 1 column",
    "get_partitions_statistics_req, 100 x 20",
    "update_table_column_statistics, 50",
)


class Bench:
    """Servers over one filled database."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        self._connections = given.connections
        self._seconds = given.seconds
        self._database = None
        url = f"sqlite:///{folder}/bench.sqlite"
        if given.database == "postgres":
            server = stack.enter_context(durable_server())
            url = stack.enter_context(fresh_database(server))
            self._database = listener_of(make_url(server).port or 0)
        migrate.upgrade(url)
        self._ports = {}
        for processes in given.processes:
            own = folder / str(processes)
            own.mkdir()
            settings = {"workers": processes, "threads": given.threads, "notifications": False}
            self._ports[processes] = stack.enter_context(serving(own, database=url, settings=settings))
        fill(self._ports[given.processes[0]], TABLES)
        self._clients = stack.enter_context(Clients(max(self._connections)))

    def rows(self, title: str) -> list[list[str]]:
        """A line for each number of connections: the rates of all servers."""
        anew = title.startswith("connect")
        scenario = next(each for each in SCENARIOS if each.title == (CALLS[0] if anew else title))
        own = [request(scenario.method, **scenario.arguments(each)) for each in range(TABLES)]
        requests = [own[each % TABLES] for each in range(max(self._connections))]
        rows = []
        for count in self._connections:
            rates: list[str] = []
            for port in self._ports.values():
                self._rate(port, scenario.method, requests[:count], anew)
                rates += self._rate(port, scenario.method, requests[:count], anew)
            rows.append([title, str(count), *rates])
        return rows

    def _rate(self, port: int, method: str, requests: Sequence[bytes], anew: bool) -> tuple[str, str]:
        processes = [each for each in (listener_of(port), self._database) if each]
        before = [cpu_seconds(each) for each in processes]
        send = self._clients.calls_on_new_connections if anew else self._clients.calls
        calls = send(port, method, requests, self._seconds).calls
        spent = [cpu_seconds(each) - start for each, start in zip(processes, before, strict=True)]
        return f"{calls:,.0f}", " + ".join(f"{1_000 * each / (calls * self._seconds):.2f}" for each in spent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--database", choices=("postgres", "sqlite"), default="postgres")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="numbers of worker processes")
    parser.add_argument("--threads", type=int, default=8, help="calls at once in a process")
    parser.add_argument("--connections", type=int, nargs="+", default=[4, 32], help="numbers of connections")
    given = parser.parse_args()
    table = Table(title=f"Calls per second over {given.database}, by worker processes; CPU ms for a call")
    table.add_column("call")
    table.add_column("connections", justify="right")
    for each in given.processes:
        table.add_column(f"{each}", justify="right")
        table.add_column("ms", justify="right")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        bench = Bench(stack, folder, given)
        for title in (*CALLS, "connect, and the first of these"):
            for row in bench.rows(title):
                table.add_row(*row)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
