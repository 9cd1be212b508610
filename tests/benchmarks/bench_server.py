"""Our server against real Hive Metastores, all on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_server`. It prints calls per second, ratios, the processor's time for a call,
and how long the slowest hundredth took; it asserts none: only numbers of one run mean something, since machines differ.
Reads of ours are measured three times: with nothing kept (first touch), put together from statistics that are kept (new
question; where a call does not do that, it is a first touch), and answered again while nothing changes. Servers take
turns in several rounds, of which each shows its median: the machine's speed changes, and a few connections may all come
to one process. Ratios are to the fastest Hive of 2.3.10, 3.1.3 and 4.0.1; without Maven there is 2.3.10 alone, with a
Derby database.
"""

import argparse
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import Clients, Load
from tests.benchmarks.harness.processes import cpu_seconds, listener_of, peak_megabytes
from tests.benchmarks.harness.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store.migration import migrate

ANEW, KNOWN, AGAIN = "first touch", "new question", "asked again"
_KEPT: Mapping[str, Mapping[str, int]] = {
    ANEW: {"answers_bytes": 0, "objects_bytes": 0},
    KNOWN: {"answers_bytes": 0},
    AGAIN: {},
}
_HIVES = ("2.3", "3.1", "4.0")
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


Rates = dict[str, Rate | None]
"""By server; None for a Hive that refused calls, or left one without an answer, now or before."""


class Bench:
    """Some Hives, and servers of ours over one filled database, which keep more or less."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        connections = given.connections
        self._seconds = given.seconds
        self._rounds = given.rounds
        server = stack.enter_context(durable_server())
        ours = stack.enter_context(fresh_database(server))
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
        self.hives = [f"Hive {release}" for release in given.hive]
        for name, release in zip(self.hives, given.hive, strict=True):
            database = stack.enter_context(fresh_database(server)) if shutil.which("mvn") else "derby"
            self._ports[name] = stack.enter_context(
                hive(release, folder / f"hive-{release}", database=database, measured=True)
            )
        self._written = [AGAIN, *self.hives]
        for name in self._written:
            fill(self._ports[name], min(max(connections), _TABLES))
        self._database = listener_of(make_url(server).port or 0)
        self._servers = {name: listener_of(port) for name, port in self._ports.items()}
        self._gone: set[str] = set()
        self._clients = stack.enter_context(Clients(max(connections)))

    @property
    def peak_megabytes(self) -> float:
        """The memory of the server that keeps all."""
        return peak_megabytes(self._servers[AGAIN])

    def rates(self, scenario: Scenario, connections: int) -> Rates:
        """Each server's rate, the median of the rounds, after all were warmed up."""
        numbers = (number % _TABLES for number in range(connections))
        requests = [request(scenario.method, **scenario.arguments(number)) for number in numbers]
        names = list(self._ports) if scenario.reads else self._written
        for name in names:
            self._rate(name, scenario, requests)
        rounds = [{name: self._rate(name, scenario, requests) for name in names} for _ in range(self._rounds)]
        return {name: _median([each[name] for each in rounds]) for name in names}

    def _rate(self, name: str, scenario: Scenario, requests: Sequence[bytes]) -> Rate | None:
        if name in self._gone:
            return None
        processes = (self._servers[name], self._database)
        before = [cpu_seconds(each) for each in processes]
        try:
            load = self._clients.calls(self._ports[name], scenario.method, requests, self._seconds)
        except (OSError, RuntimeError) as error:
            if name not in self.hives:
                raise
            print(f"{scenario.title}, {len(requests)} connections: {name} did not answer and is left out: {error}")
            self._gone.add(name)
            return None
        server, database = (cpu_seconds(each) - start for each, start in zip(processes, before, strict=True))
        made = load.calls * self._seconds
        return Rate(load, 1_000 * server / made, 1_000 * database / made)


def _median(rates: Sequence[Rate | None]) -> Rate | None:
    """The rate in the middle, by calls; None where a Hive was lost on the way."""
    found = sorted((each for each in rates if each), key=lambda rate: rate.load.calls)
    return found[len(found) // 2] if len(found) == len(rates) else None


def row(scenario: Scenario, connections: int, rates: Rates, hives: Sequence[str]) -> list[str]:
    """A line of the table."""
    ours = [rates.get(name) for name in _KEPT]
    of_hives = [rates[name] for name in hives]
    fastest = max((each for each in of_hives if each), key=lambda rate: rate.load.calls, default=None)
    calls = [f"{each.load.calls:,.0f}" if each else "" for each in (*ours, *of_hives)]
    ratios = [f"{each.load.calls / fastest.load.calls:.1f}" if each and fastest else "" for each in ours]
    costs = [each.cost if each else "" for each in (*ours, fastest)]
    slowest = [each.slowest if each else "" for each in (rates[AGAIN], fastest)]
    return [scenario.title, str(connections), *calls, *ratios, *costs, *slowest]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    hives = _HIVES if shutil.which("mvn") else _HIVES[:1]
    parser.add_argument("--seconds", type=float, default=0.7, help="of each measurement, some two hundred in a round")
    parser.add_argument("--rounds", type=int, default=3, help="in which servers take turns; medians are shown")
    parser.add_argument("--hive", choices=_HIVES, nargs="+", default=hives, help="the releases to compare with")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 32], help="numbers of connections")
    parser.add_argument("--workers", type=int, default=2, help="processes of each of our servers")
    parser.add_argument("--exclusive", action="store_true", help="a server of one process that has its database alone")
    parser.add_argument("--only", default="", help="measure calls with this text in their title")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        bench = Bench(stack, folder, given)
        chosen = [each for each in SCENARIOS if given.only in each.title]
        # The most connections come last: a Hive may not get over them.
        found = {(each, count): bench.rates(each, count) for count in sorted(given.connections) for each in chosen}
        table = _table(bench.hives)
        for scenario, connections in product(chosen, sorted(given.connections)):
            table.add_row(*row(scenario, connections, found[scenario, connections], bench.hives))
        table.caption = f"peak memory of hmstats, parent and workers: {bench.peak_megabytes:,.0f} MB"
    Console(width=280).print(table)


def _table(hives: Sequence[str]) -> Table:
    table = Table(title="Calls per second; how many times the fastest Hive; CPU ms for a call, server + database")
    ratios = ("first : Hive", "new : Hive", "again : Hive")
    costs = ("first ms", "new ms", "again ms", "Hive ms", "again p50, p99", "Hive p50, p99")
    table.add_column("call")
    for name in ("connections", ANEW, KNOWN, AGAIN, *hives, *ratios, *costs):
        table.add_column(name, justify="right")
    return table


if __name__ == "__main__":
    main()
