"""Writes of statistics over connections, to one table and to many, by one server and by two, on a durable database.

Run with `python -m tests.benchmarks.bench_writes [--connections 1 4 16] [--against SRC] [--without-history]
[--hive 4.0]`. Servers take turns in rounds; medians are shown, with the smallest and the largest. `--against` is the
folder `src` of another checkout. A real Hive Metastore is one server whatever `--servers` says; it keeps no log of
notifications by default, so `--no-log` compares like with like. All have databases of their own on one PostgreSQL.
"""

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import Clients, Load
from tests.benchmarks.harness.scenarios import SCENARIOS, Scenario, fill
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store.migration import migrate

_TABLES = 4
_WRITES = (
    "update_table_column_statistics, 50",
    "update_partition_column_statistics, 20",
    "set_aggr_stats_for, 100 x 20",
    "update_partition_column_statistics, 20, bit vectors",
    "set_aggr_stats_for, 10 x 20, bit vectors",
)


def _started(stack: ExitStack, folder: Path, given: argparse.Namespace) -> dict[str, Sequence[int]]:
    """The ports of every server, with filled tables: two of each checkout over one database, one of each Hive."""
    server = stack.enter_context(durable_server())
    ports: dict[str, Sequence[int]] = {}
    servers: dict[str, Mapping[str, Any]] = {"this": {}}
    if given.against:
        servers["against"] = {"environment": {"PYTHONPATH": given.against}}
    if given.without_history:
        servers["without history"] = {"history_days": 0}
    for name, settings in servers.items():
        database = stack.enter_context(fresh_database(server))
        migrate.upgrade(database)
        ports[name] = [_serve(stack, folder / f"{name}-{each}", given, database, **settings) for each in range(2)]
    for release in given.hive:
        database = stack.enter_context(fresh_database(server))
        ports[f"Hive {release}"] = [
            stack.enter_context(hive(release, folder / release, database=database, measured=True))
        ]
    for found in ports.values():
        fill(found[0], max(given.tables))
    return ports


def _serve(
    stack: ExitStack,
    folder: Path,
    given: argparse.Namespace,
    database: str,
    environment: Mapping[str, str] = MappingProxyType({}),
    **more: Any,
) -> int:
    folder.mkdir()
    settings = {"workers": given.workers, "notifications": given.log, "log_level": "warning", **more}
    return stack.enter_context(serving(folder, database=database, settings=settings, environment=environment))


def _load(clients: Clients, ports: Sequence[int], scenario: Scenario, count: int, tables: int, seconds: float) -> Load:
    requests = [request(scenario.method, **scenario.arguments(number % tables)) for number in range(count)]
    return clients.calls_of_ports(ports, scenario.method, requests, seconds)


def _cells(loads: Sequence[Load]) -> tuple[str, str]:
    """The calls a second of rounds, and the milliseconds of calls in the round in the middle."""
    ordered = sorted(loads)
    middle, calls = ordered[len(ordered) // 2], [each.calls for each in ordered]
    shown = f"{statistics.median(calls):,.0f} ({calls[0]:,.0f} to {calls[-1]:,.0f})"
    return shown, f"{middle.p50_ms:.1f}, {middle.p99_ms:.1f}"


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
    parser.add_argument("--without-history", action="store_true", help="compare with servers that keep no history")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), nargs="*", default=[], help="releases to compare with")
    parser.add_argument("--log", action=argparse.BooleanOptionalAction, default=True, help="keep notifications")
    given = parser.parse_args()
    table = Table(title="Writes a second: median (smallest to largest) of rounds; ms of half and of 99 % of the calls")
    for name in ("write", "servers", "tables", "connections", "source", "writes/s", "p50, p99 ms"):
        table.add_column(name)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        ports = _started(stack, folder, given)
        clients = stack.enter_context(Clients(max(given.connections)))
        chosen = [each for each in SCENARIOS if each.title in _WRITES and given.only in each.title]
        for scenario, servers, tables, count in product(chosen, given.servers, given.tables, given.connections):
            rounds: dict[str, list[Load]] = {name: [] for name in ports}
            for _ in range(given.rounds):
                for name, of_name in ports.items():
                    rounds[name].append(_load(clients, of_name[:servers], scenario, count, tables, given.seconds))
            for name, loads in rounds.items():
                cells = (scenario.title, str(servers), str(tables), str(count), name, *_cells(loads))
                table.add_row(*cells)
                print(*cells, sep=" | ", flush=True)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
