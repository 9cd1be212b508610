"""Writes of statistics over connections, to one table and to many, by one server and by two, on a durable database.

Run with `python -m tests.benchmarks.bench_writes [--connections 1 4 16] [--against SRC]`. Servers take turns in rounds;
medians are shown, with the smallest and the largest. `--against` is the folder `src` of another checkout, whose servers
take turns with these over the same database.
"""

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.benchmarks.durable import durable_server
from tests.benchmarks.load import Clients, Load
from tests.benchmarks.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.postgres import fresh_database
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store.migration import migrate

_TABLES = 4
_WRITES = (
    "update_table_column_statistics, 50",
    "update_partition_column_statistics, 20",
    "set_aggr_stats_for, 100 x 20",
)
Ports = Mapping[str, Sequence[int]]
"""The ports over which the connections of one way of serving are spread, by its name."""


def _serve(stack: ExitStack, folder: Path, given: argparse.Namespace, source: str | None) -> list[int]:
    """Two servers over a database of their own; the first alone is used as one server."""
    server = stack.enter_context(durable_server())
    database = stack.enter_context(fresh_database(server))
    environment = {} if source is None else {"PYTHONPATH": source}
    migrate.upgrade(database)
    ports = []
    for number in range(2):
        own = folder / f"{number}-{source is None}"
        own.mkdir()
        settings = {"workers": given.workers, "log_level": "warning"}
        ports.append(stack.enter_context(serving(own, database=database, settings=settings, environment=environment)))
    fill(ports[0], _TABLES)
    return ports


def _load(clients: Clients, ports: Sequence[int], scenario: Scenario, count: int, tables: int, seconds: float) -> Load:
    requests = [request(scenario.method, **scenario.arguments(number % tables)) for number in range(count)]
    return clients.calls_of_ports(ports, scenario.method, requests, seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", type=int, nargs="+", default=[1, _TABLES])
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", default="", help="measure writes with this text in their title")
    parser.add_argument("--against", help="the folder src of another checkout")
    given = parser.parse_args()
    table = Table(title="Writes a second: median (smallest to largest) of rounds; ms of half and of 99 % of the calls")
    for name in ("write", "servers", "tables", "connections", "source", "writes/s", "p50, p99 ms"):
        table.add_column(name)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        sources = {"this": None} | ({"against": given.against} if given.against else {})
        ports = {name: _serve(stack, folder, given, source) for name, source in sources.items()}
        clients = stack.enter_context(Clients(max(given.connections)))
        for scenario in (each for each in SCENARIOS if each.title in _WRITES and given.only in each.title):
            for servers in given.servers:
                for tables in given.tables:
                    for count in given.connections:
                        rounds: dict[str, list[Load]] = {name: [] for name in sources}
                        for _ in range(given.rounds):
                            for name in sources:
                                found = _load(clients, ports[name][:servers], scenario, count, tables, given.seconds)
                                rounds[name].append(found)
                        for name, loads in rounds.items():
                            loads.sort()
                            middle, calls = loads[len(loads) // 2], [each.calls for each in loads]
                            shown = f"{statistics.median(calls):,.0f} ({calls[0]:,.0f} to {calls[-1]:,.0f})"
                            half = f"{middle.p50_ms:.1f}, {middle.p99_ms:.1f}"
                            cells = (scenario.title, str(servers), str(tables), str(count), name, shown, half)
                            table.add_row(*cells)
                            print(*cells, sep=" | ", flush=True)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
