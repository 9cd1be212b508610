"""Our server against a real Hive Metastore, both on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_server`. It prints calls per second, ratios, and the processor's time for a
call, and asserts none: only numbers of one run mean something, since machines differ. Reads of ours are measured twice:
answered anew at each call (first touch) and answered again while nothing changes. Hive is the newest that can be
started here: 4.0.1, or without Maven 2.3.10 on Derby.
"""

import argparse
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.load import Clients
from tests.benchmarks.processes import cpu_seconds, listener_of
from tests.benchmarks.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.hive import hive
from tests.fixtures.postgres import fresh_database, own_server
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store import migrate

ANEW, AGAIN, HIVE = "first touch", "asked again", "Hive"
_ANSWERS_BYTES = {ANEW: 0, AGAIN: 2**26}


@dataclass(frozen=True, slots=True)
class Rate:
    """How a server did: calls per second, and milliseconds of the processor for a call, its own and its database's."""

    calls: float
    server_ms: float
    database_ms: float

    @property
    def cost(self) -> str:
        """Both times as a text."""
        return f"{self.server_ms:.2f} + {self.database_ms:.2f}"


class Bench:
    """Hive, and two servers of ours over one filled database, one of which keeps no answers."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        connections = self._connections = given.connections
        self._seconds = given.seconds
        server = stack.enter_context(own_server())
        ours, hives = (stack.enter_context(fresh_database(server)) for _ in range(2))
        migrate.upgrade(ours)
        self._ports = {}
        for name, answers_bytes in _ANSWERS_BYTES.items():
            (folder / name).mkdir()
            settings = {"answers_bytes": answers_bytes, "notifications": False}  # Hive's default too
            self._ports[name] = stack.enter_context(serving(folder / name, database=ours, settings=settings))
        database = hives if shutil.which("mvn") else "derby"
        self._ports[HIVE] = stack.enter_context(hive(given.hive, folder / "hive", database=database))
        for name in (AGAIN, HIVE):
            fill(self._ports[name], max(connections))
        self._database = listener_of(make_url(server).port or 0)
        self._servers = {name: listener_of(port) for name, port in self._ports.items()}
        self._clients = stack.enter_context(Clients(max(connections)))

    def rates(self, scenario: Scenario) -> list[tuple[int, dict[str, Rate]]]:
        """For each number of connections each server's rate; all are warmed up before."""
        requests = [request(scenario.method, **scenario.arguments(number)) for number in range(max(self._connections))]
        names = [name for name in self._ports if scenario.reads or name != ANEW]
        for name in names:
            self._rate(name, scenario, requests, 2 * self._seconds)
        return [
            (count, {name: self._rate(name, scenario, requests[:count], self._seconds) for name in names})
            for count in self._connections
        ]

    def _rate(self, name: str, scenario: Scenario, requests: Sequence[bytes], seconds: float) -> Rate:
        processes = (self._servers[name], self._database)
        before = [cpu_seconds(each) for each in processes]
        calls = self._clients.calls_per_second(self._ports[name], scenario.method, requests, seconds)
        server, database = (cpu_seconds(each) - start for each, start in zip(processes, before, strict=True))
        made = calls * seconds
        return Rate(calls, 1_000 * server / made, 1_000 * database / made)


def row(scenario: Scenario, connections: int, rates: Mapping[str, Rate]) -> list[str]:
    """A line of the table."""
    hives = rates[HIVE]
    found = [rates.get(name) for name in (ANEW, AGAIN)]
    calls = [f"{each.calls:,.0f}" if each else "" for each in found]
    ratios = [f"{each.calls / hives.calls:.1f}" if each else "" for each in found]
    costs = [each.cost if each else "" for each in (*found, hives)]
    return [scenario.title, str(connections), *calls, f"{hives.calls:,.0f}", *ratios, *costs]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    newest = "4.0" if shutil.which("mvn") else "2.3"
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement; there are some seventy")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), default=newest, help="the release to compare with")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4], help="numbers of connections")
    parser.add_argument("--only", default="", help="measure calls with this text in their title")
    given = parser.parse_args()
    table = Table(title=f"Calls per second; how many times Hive {given.hive}; CPU ms for a call, server + database")
    names = ("connections", ANEW, AGAIN, HIVE, "first : Hive", "again : Hive", "first ms", "again ms", "Hive ms")
    table.add_column("call")
    for name in names:
        table.add_column(name, justify="right")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        bench = Bench(stack, folder, given)
        for scenario in SCENARIOS:
            if given.only in scenario.title:
                for connections, rates in bench.rates(scenario):
                    table.add_row(*row(scenario, connections, rates))
    Console(width=190).print(table)


if __name__ == "__main__":
    main()
