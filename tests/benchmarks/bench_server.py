"""Our server against a real Hive Metastore 2.3.10, both on the same PostgreSQL, and ours on SQLite, in one run.

Run with `python -m tests.benchmarks.bench_server`. It prints calls per second and ratios, and asserts none: only ratios
of one run mean something, since machines differ. Each connection has tables of its own. Without Maven Hive is on Derby.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.benchmarks.load import Clients
from tests.fixtures import postgres
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store import migrate
from hmstats.wire.idl import hive_metastore as api

CONNECTIONS = (1, 4)
DATABASE = "bench"
WIDE = {f"c{number}": "bigint" for number in range(50)}
NARROW = dict(list(WIDE.items())[:20])
PARTITIONS = [f"k=v{number:03}" for number in range(100)]
OURS_SQLITE, OURS_POSTGRES, HIVE = "hmstats, SQLite", "hmstats, PostgreSQL", "Hive 2.3.10"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A call, and its arguments for the tables of one connection."""

    title: str
    method: str
    arguments: Callable[[int], Mapping[str, Any]]


def _statistics(table: str, columns: Mapping[str, str], partition: str | None = None) -> Any:
    data = api.LongColumnStatsData(lowValue=1, highValue=1_000_000, numNulls=10, numDVs=90_000)
    objects = [
        api.ColumnStatisticsObj(colName=name, colType=kind, statsData=api.ColumnStatisticsData(longStats=data))
        for name, kind in columns.items()
    ]
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=DATABASE, tableName=table, partName=partition
    )
    return api.ColumnStatistics(statsDesc=description, statsObj=objects)


def _one_column(connection: int) -> Mapping[str, Any]:
    return {"db_name": DATABASE, "tbl_name": f"wide{connection}", "col_name": "c7"}


def _many_columns(connection: int) -> Mapping[str, Any]:
    return {"request": api.TableStatsRequest(dbName=DATABASE, tblName=f"wide{connection}", colNames=list(WIDE))}


def _many_partitions(connection: int) -> Mapping[str, Any]:
    wanted = api.PartitionsStatsRequest(
        dbName=DATABASE, tblName=f"parted{connection}", colNames=list(NARROW), partNames=PARTITIONS
    )
    return {"request": wanted}


def _update(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _statistics(f"wide{connection}", WIDE)}


def _aggregate(connection: int) -> Mapping[str, Any]:
    sets = [_statistics(f"parted{connection}", NARROW, name) for name in PARTITIONS]
    return {"request": api.SetPartitionsStatsRequest(colStats=sets, needMerge=False)}


SCENARIOS = (
    Scenario("get_table_column_statistics, 1 column", "get_table_column_statistics", _one_column),
    Scenario("get_table_statistics_req, 50 columns", "get_table_statistics_req", _many_columns),
    Scenario("get_partitions_statistics_req, 100 x 20", "get_partitions_statistics_req", _many_partitions),
    Scenario("update_table_column_statistics, 50 columns", "update_table_column_statistics", _update),
    Scenario("set_aggr_stats_for, 100 x 20", "set_aggr_stats_for", _aggregate),
)


def fill(port: int) -> None:
    """Make the tables of every connection, with their statistics."""
    metastore = Metastore("bench", port, 2.3, DATABASE)
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        for connection in range(max(CONNECTIONS)):
            metastore.table(f"wide{connection}", WIDE)
            metastore.table(f"parted{connection}", NARROW, keys=["k"])
            values = [[name.partition("=")[2]] for name in PARTITIONS]
            metastore.add_partitions(*values, table=f"parted{connection}", columns=NARROW)
            client.update_table_column_statistics(*_update(connection).values())
            client.set_aggr_stats_for(*_aggregate(connection).values())


def start(stack: ExitStack, folder: Path) -> dict[str, int]:
    """Start the three; their ports by name."""
    server = stack.enter_context(postgres._own_server())
    ours, hives = (stack.enter_context(postgres.fresh_database(server)) for _ in range(2))
    migrate.upgrade(ours)
    database = hives if shutil.which("mvn") else "derby"
    for name in ("sqlite", "postgres"):
        (folder / name).mkdir()
    return {
        OURS_SQLITE: stack.enter_context(serving(folder / "sqlite")),
        OURS_POSTGRES: stack.enter_context(serving(folder / "postgres", database=ours)),
        HIVE: stack.enter_context(hive("2.3", folder / "hive", database=database)),
    }


def measure(clients: Clients, ports: Mapping[str, int], scenario: Scenario, seconds: float) -> list[list[str]]:
    """The table's rows of a scenario, one for each number of connections; every server is warmed up before."""
    requests = [request(scenario.method, **scenario.arguments(number)) for number in range(max(CONNECTIONS))]
    for port in ports.values():
        clients.calls_per_second(port, scenario.method, requests, seconds)
    rows = []
    for connections in CONNECTIONS:
        rates = {
            name: clients.calls_per_second(port, scenario.method, requests[:connections], seconds)
            for name, port in ports.items()
        }
        ratios = [f"{rates[name] / rates[HIVE]:.1f}" for name in (OURS_SQLITE, OURS_POSTGRES)]
        rows.append([scenario.title, str(connections), *(f"{rate:,.1f}" for rate in rates.values()), *ratios])
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=1.5, help="of each measurement; there are 45")
    given = parser.parse_args()
    table = Table(title="Calls per second, and how many times Hive's")
    for name in ("call", "connections", OURS_SQLITE, OURS_POSTGRES, HIVE, "SQLite : Hive", "PostgreSQL : Hive"):
        table.add_column(name, justify="left" if name == "call" else "right")
    with ExitStack() as stack:
        ports = start(stack, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-"))))
        for port in ports.values():
            fill(port)
        clients = stack.enter_context(Clients(max(CONNECTIONS)))
        for scenario in SCENARIOS:
            for row in measure(clients, ports, scenario, given.seconds):
                table.add_row(*row)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
