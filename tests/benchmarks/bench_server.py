"""Our server against a real Hive Metastore, both on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_server`. It prints calls per second, ratios, the processor's time for a call,
and how long the slowest hundredth took; it asserts none: only numbers of one run mean something, since machines differ.
Reads of ours are measured three times: with nothing kept (first touch), put together from statistics that are kept (new
question; where a call does not do that, it is a first touch), and answered again while nothing changes. Hive is the
newest that can be started here: 4.0.1, or without Maven 2.3.10 on Derby.
"""

import argparse
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.load import Clients, Load
from tests.benchmarks.processes import cpu_seconds, listener_of, peak_megabytes
from tests.benchmarks.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.hive import hive
from tests.fixtures.postgres import fresh_database, own_server
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store import migrate

ANEW, KNOWN, AGAIN, HIVE = "first touch", "new question", "asked again", "Hive"
_KEPT: Mapping[str, Mapping[str, int]] = {
    ANEW: {"answers_bytes": 0, "objects_bytes": 0},
    KNOWN: {"answers_bytes": 0},
    AGAIN: {},
}
_TABLES = 4
"""More connections than that share them: filling takes long."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How a server did: the load it took, and milliseconds of the processor for a call, its own and its database's."""

    load: Load
    server_ms: float
    database_ms: float

    @property
    def cost(self) -> str:
        """Both times as a text."""
        return f"{self.server_ms:.2f} + {self.database_ms:.2f}"

    @property
    def slowest(self) -> str:
        """The milliseconds that half of the calls took at most, and 99 %."""
        return f"{self.load.p50_ms:.1f}, {self.load.p99_ms:.1f}"


class Bench:
    """Hive, and servers of ours over one filled database, which keep more or less."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        connections = self._connections = given.connections
        self._seconds = given.seconds
        server = stack.enter_context(own_server())
        ours, hives = (stack.enter_context(fresh_database(server)) for _ in range(2))
        migrate.upgrade(ours)
        self._ports = {}
        # Hive keeps no notifications by default.
        common: dict[str, Any] = {"notifications": False, "workers": given.workers, "log_level": "warning"}
        if given.exclusive:
            common |= {"exclusive": True, "workers": 1}
        for name, kept in _KEPT.items():
            if given.exclusive and name != AGAIN:
                continue
            (folder / name).mkdir()
            settings = {**kept, **common}
            self._ports[name] = stack.enter_context(serving(folder / name, database=ours, settings=settings))
        database = hives if shutil.which("mvn") else "derby"
        self._ports[HIVE] = stack.enter_context(hive(given.hive, folder / "hive", database=database))
        for name in (AGAIN, HIVE):
            fill(self._ports[name], min(max(connections), _TABLES))
        self._database = listener_of(make_url(server).port or 0)
        self._servers = {name: listener_of(port) for name, port in self._ports.items()}
        self._clients = stack.enter_context(Clients(max(connections)))

    @property
    def peak_megabytes(self) -> float:
        """The memory of the server that keeps all."""
        return peak_megabytes(self._servers[AGAIN])

    def rates(self, scenario: Scenario) -> list[tuple[int, dict[str, Rate]]]:
        """For each number of connections each server's rate; all are warmed up before."""
        numbers = (number % _TABLES for number in range(max(self._connections)))
        requests = [request(scenario.method, **scenario.arguments(number)) for number in numbers]
        names = [name for name in self._ports if scenario.reads or name in (AGAIN, HIVE)]
        for name in names:
            self._rate(name, scenario, requests, 2 * self._seconds)
        return [
            (count, {name: self._rate(name, scenario, requests[:count], self._seconds) for name in names})
            for count in self._connections
        ]

    def _rate(self, name: str, scenario: Scenario, requests: Sequence[bytes], seconds: float) -> Rate:
        processes = (self._servers[name], self._database)
        before = [cpu_seconds(each) for each in processes]
        load = self._clients.calls(self._ports[name], scenario.method, requests, seconds)
        server, database = (cpu_seconds(each) - start for each, start in zip(processes, before, strict=True))
        made = load.calls * seconds
        return Rate(load, 1_000 * server / made, 1_000 * database / made)


def row(scenario: Scenario, connections: int, rates: Mapping[str, Rate]) -> list[str]:
    """A line of the table."""
    hives = rates[HIVE]
    found = [rates.get(name) for name in _KEPT]
    calls = [f"{each.load.calls:,.0f}" if each else "" for each in (*found, hives)]
    ratios = [f"{each.load.calls / hives.load.calls:.1f}" if each else "" for each in found]
    costs = [each.cost if each else "" for each in (*found, hives)]
    return [scenario.title, str(connections), *calls, *ratios, *costs, rates[AGAIN].slowest, hives.slowest]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    newest = "4.0" if shutil.which("mvn") else "2.3"
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement; there are some seventy")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), default=newest, help="the release to compare with")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 32], help="numbers of connections")
    parser.add_argument("--workers", type=int, default=2, help="processes of each of our servers")
    parser.add_argument("--exclusive", action="store_true", help="a server of one process that has its database alone")
    parser.add_argument("--only", default="", help="measure calls with this text in their title")
    given = parser.parse_args()
    table = Table(title=f"Calls per second; how many times Hive {given.hive}; CPU ms for a call, server + database")
    ratios = ("first : Hive", "new : Hive", "again : Hive")
    costs = ("first ms", "new ms", "again ms", "Hive ms", "again p50, p99", "Hive p50, p99")
    names = ("connections", ANEW, KNOWN, AGAIN, HIVE, *ratios, *costs)
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
        table.caption = f"peak memory of hmstats, parent and workers: {bench.peak_megabytes:,.0f} MB"
    Console(width=250).print(table)


if __name__ == "__main__":
    main()
