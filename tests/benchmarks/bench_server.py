"""Our server against a real Hive Metastore, both on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_server`. It prints calls per second and ratios, and asserts none: only ratios
of one run mean something, since machines differ. Each connection has tables of its own. Reads of ours are measured
twice: answered anew at each call (first touch) and answered again while nothing changes. Hive is the newest that can
be started here: 4.0.1, or without Maven 2.3.10 on Derby.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.benchmarks.load import Clients
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.postgres import fresh_database, own_server
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store import migrate
from hmstats.wire.idl import hive_metastore as api

DATABASE = "bench"
ENGINE = "hive"
WIDE = {f"c{number}": "bigint" for number in range(50)}
NARROW = dict(list(WIDE.items())[:20])
PARTITIONS = [f"k=v{number:04}" for number in range(1_000)]
AT_ONCE = 100
"""Partitions of a call that reads or writes them one by one; an aggregate is of them all."""
ANEW, AGAIN, HIVE = "hmstats, first touch", "hmstats, asked again", "Hive"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A call, and its arguments for the tables of one connection."""

    title: str
    method: str
    arguments: Callable[[int], Mapping[str, Any]]
    reads: bool = True


def _statistics(table: str, columns: Mapping[str, str], partition: str | None = None) -> Any:
    data = api.LongColumnStatsData(lowValue=1, highValue=1_000_000, numNulls=10, numDVs=90_000)
    objects = [
        api.ColumnStatisticsObj(colName=name, colType=kind, statsData=api.ColumnStatisticsData(longStats=data))
        for name, kind in columns.items()
    ]
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=DATABASE, tableName=table, partName=partition
    )
    return api.ColumnStatistics(statsDesc=description, statsObj=objects, engine=ENGINE)


def _one_column(connection: int) -> Mapping[str, Any]:
    return {"db_name": DATABASE, "tbl_name": f"wide{connection}", "col_name": "c7"}


def _many_columns(connection: int) -> Mapping[str, Any]:
    wanted = api.TableStatsRequest(dbName=DATABASE, tblName=f"wide{connection}", colNames=list(WIDE), engine=ENGINE)
    return {"request": wanted}


def _one_partition(connection: int) -> Mapping[str, Any]:
    return {"db_name": DATABASE, "tbl_name": f"parted{connection}", "part_name": PARTITIONS[7], "col_name": "c7"}


def _partitions(connection: int, names: Sequence[str]) -> Mapping[str, Any]:
    wanted = api.PartitionsStatsRequest(
        dbName=DATABASE, tblName=f"parted{connection}", colNames=list(NARROW), partNames=names, engine=ENGINE
    )
    return {"request": wanted}


def _update(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _statistics(f"wide{connection}", WIDE)}


def _update_partition(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _statistics(f"parted{connection}", NARROW, PARTITIONS[7])}


def _set(connection: int, names: Sequence[str]) -> Mapping[str, Any]:
    sets = [_statistics(f"parted{connection}", NARROW, name) for name in names]
    return {"request": api.SetPartitionsStatsRequest(colStats=sets, needMerge=False, engine=ENGINE)}


SCENARIOS = (
    Scenario("get_table_column_statistics, 1 column", "get_table_column_statistics", _one_column),
    Scenario("get_table_statistics_req, 50 columns", "get_table_statistics_req", _many_columns),
    Scenario("get_partition_column_statistics, 1 column", "get_partition_column_statistics", _one_partition),
    Scenario(
        "get_partitions_statistics_req, 100 x 20",
        "get_partitions_statistics_req",
        lambda connection: _partitions(connection, PARTITIONS[:AT_ONCE]),
    ),
    Scenario(
        "get_aggr_stats_for, 1,000 x 20", "get_aggr_stats_for", lambda connection: _partitions(connection, PARTITIONS)
    ),
    Scenario("update_table_column_statistics, 50", "update_table_column_statistics", _update, reads=False),
    Scenario(
        "update_partition_column_statistics, 20", "update_partition_column_statistics", _update_partition, reads=False
    ),
    Scenario(
        "set_aggr_stats_for, 100 x 20",
        "set_aggr_stats_for",
        lambda connection: _set(connection, PARTITIONS[:AT_ONCE]),
        reads=False,
    ),
)


def fill(port: int, connections: int) -> None:
    """Make the tables of every connection, with their statistics."""
    metastore = Metastore("bench", port, 4.0, DATABASE)
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        for connection in range(connections):
            metastore.table(f"wide{connection}", WIDE)
            metastore.table(f"parted{connection}", NARROW, keys=["k"])
            values = [[name.partition("=")[2]] for name in PARTITIONS]
            metastore.add_partitions(*values, table=f"parted{connection}", columns=NARROW)
            client.update_table_column_statistics(*_update(connection).values())
            for start in range(0, len(PARTITIONS), AT_ONCE):
                client.set_aggr_stats_for(*_set(connection, PARTITIONS[start : start + AT_ONCE]).values())


def start(stack: ExitStack, folder: Path, release: str, connections: int) -> dict[str, int]:
    """Start Hive and two servers of ours over one filled database, one of which keeps no answers; ports by name."""
    server = stack.enter_context(own_server())
    ours, hives = (stack.enter_context(fresh_database(server)) for _ in range(2))
    migrate.upgrade(ours)
    ports = {}
    for name, answers_bytes in ((ANEW, 0), (AGAIN, 2**26)):
        (folder / name).mkdir()
        settings = {"answers_bytes": answers_bytes}
        ports[name] = stack.enter_context(serving(folder / name, database=ours, settings=settings))
    database = hives if shutil.which("mvn") else "derby"
    ports[HIVE] = stack.enter_context(hive(release, folder / "hive", database=database))
    fill(ports[AGAIN], connections)
    fill(ports[HIVE], connections)
    return ports


def measure(
    clients: Clients, ports: Mapping[str, int], scenario: Scenario, connections: Sequence[int], seconds: float
) -> list[list[str]]:
    """The table's rows of a scenario, one for each number of connections; every server is warmed up before."""
    requests = [request(scenario.method, **scenario.arguments(number)) for number in range(max(connections))]
    asked = {name: port for name, port in ports.items() if scenario.reads or name != ANEW}
    for port in asked.values():
        clients.calls_per_second(port, scenario.method, requests, seconds)
    rows = []
    for count in connections:
        rates = {
            name: clients.calls_per_second(port, scenario.method, requests[:count], seconds)
            for name, port in asked.items()
        }
        numbers = [f"{rates[name]:,.1f}" if name in rates else "" for name in ports]
        ratios = [f"{rates[name] / rates[HIVE]:.1f}" if name in rates else "" for name in (ANEW, AGAIN)]
        rows.append([scenario.title, str(count), *numbers, *ratios])
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    newest = "4.0" if shutil.which("mvn") else "2.3"
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement; there are some seventy")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), default=newest, help="the release to compare with")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4], help="numbers of connections")
    parser.add_argument("--only", default="", help="measure calls with this text in their title")
    given = parser.parse_args()
    table = Table(title=f"Calls per second, and how many times those of Hive {given.hive}")
    for name in ("call", "connections", ANEW, AGAIN, HIVE, "first touch : Hive", "again : Hive"):
        table.add_column(name, justify="left" if name == "call" else "right")
    most = max(given.connections)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        ports = start(stack, folder, given.hive, most)
        clients = stack.enter_context(Clients(most))
        for scenario in SCENARIOS:
            if given.only in scenario.title:
                for row in measure(clients, ports, scenario, given.connections, given.seconds):
                    table.add_row(*row)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
