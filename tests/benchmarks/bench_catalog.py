"""Calls about tables and partitions: our server against a real Hive Metastore, both on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_catalog [--partitions 100000] [--workers 2]`. A round is one or two calls
after which the catalog is as it was before; connections that write have tables of their own. Prints rounds and calls
per second, ratios, the processor's time of a round, and the memory of our server; asserts none. Reads of ours are
measured twice: answered anew at each call (first touch) and answered again while nothing changes.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psycopg2
from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.processes import cpu_seconds, listener_of, peak_megabytes
from tests.benchmarks.harness.rounds import Call, Rounds
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

ANEW, AGAIN, HIVE = "first touch", "asked again", "Hive"
_ANSWERS_BYTES = {ANEW: 0, AGAIN: 2**26}
DATABASE = "bench"
ADDED, NAMED, FEW = 1_000, 1_000, 10
FILL_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """The calls of a round of one connection, over a table that has the given number of partitions."""

    title: str
    calls: Callable[[int, int], Sequence[Call]]
    reads: bool = True


class Rate(NamedTuple):
    """How a server did: rounds per second, each call per second, and the processor's milliseconds for a round."""

    rounds: float
    calls: Sequence[float]
    server_ms: float
    database_ms: float


def table_of(name: str, location: str | None = None) -> Any:
    """An external table with ten columns and one partition key."""
    columns = [api.FieldSchema(name=f"c{number}", type="bigint") for number in range(10)]
    return api.Table(
        tableName=name,
        dbName=DATABASE,
        tableType="EXTERNAL_TABLE",
        parameters={"EXTERNAL": "TRUE"},
        partitionKeys=[api.FieldSchema(name="k", type="string")],
        sd=storage(columns, location),
    )


def storage(columns: Sequence[Any], location: str | None = None) -> Any:
    """A storage descriptor of Parquet files."""
    package = "org.apache.hadoop.hive.ql.io.parquet"
    return api.StorageDescriptor(
        cols=list(columns),
        location=location,
        inputFormat=f"{package}.MapredParquetInputFormat",
        outputFormat=f"{package}.MapredParquetOutputFormat",
        serdeInfo=api.SerDeInfo(serializationLib=f"{package}.serde.ParquetHiveSerDe", parameters={}),
        bucketCols=[],
        sortCols=[],
        parameters={},
    )


def partition(value: str, table: str = "t") -> Any:
    """A partition of a table."""
    columns = [api.FieldSchema(name=f"c{number}", type="bigint") for number in range(10)]
    return api.Partition(values=[value], dbName=DATABASE, tableName=table, sd=storage(columns), parameters={})


def adding(values: Sequence[str], table: str = "t") -> Call:
    """The call that adds partitions."""
    parts = [partition(value, table) for value in values]
    wanted = api.AddPartitionsRequest(
        dbName=DATABASE, tblName=table, parts=parts, ifNotExists=False, needResult=False, catName="hive"
    )
    return "add_partitions_req", {"request": wanted}


def dropping(values: Sequence[str], table: str = "t") -> Call:
    """The call that drops partitions."""
    parts = api.RequestPartsSpec(names=[f"k={value}" for value in values])
    wanted = api.DropPartitionsRequest(
        dbName=DATABASE, tblName=table, parts=parts, deleteData=False, needResult=False, catName="hive"
    )
    return "drop_partitions_req", {"req": wanted}


def filled(number: int) -> str:
    """The value of a partition that is there from the start."""
    return f"v{number:06}"


def _make_and_drop(connection: int, _: int) -> Sequence[Call]:
    name = f"made{connection}"
    make = ("create_table", {"tbl": table_of(name)})
    return make, ("drop_table", {"dbname": DATABASE, "name": name, "deleteData": False})


def _alter_and_read(connection: int, _: int) -> Sequence[Call]:
    """Two commits to a table of a lake format, each of which changes a parameter."""
    name = f"added{connection}"
    calls: list[Call] = []
    for commit in ("1", "2"):
        table = table_of(name, f"file:/bench/{name}")
        table.parameters["metadata_location"] = f"file:/bench/{name}/metadata/{commit}.json"
        calls.append(("alter_table", {"dbname": DATABASE, "tbl_name": name, "new_tbl": table}))
        calls.append(("get_table_req", {"req": api.GetTableRequest(dbName=DATABASE, tblName=name)}))
    return calls


def _add_and_drop(connection: int, _: int) -> Sequence[Call]:
    values = [f"w{number:06}" for number in range(ADDED)]
    return adding(values, f"added{connection}"), dropping(values, f"added{connection}")


def _by_names(_: int, partitions: int) -> Sequence[Call]:
    step = max(partitions // NAMED, 1)
    names = [f"k={filled(number)}" for number in range(0, partitions, step)][:NAMED]
    wanted = api.GetPartitionsByNamesRequest(db_name=f"@hive#{DATABASE}", tbl_name="t", names=names)
    return (("get_partitions_by_names_req", {"req": wanted}),)


def _by_filter(_: int, partitions: int) -> Sequence[Call]:
    text = f"k >= '{filled(partitions // 2)}' and k < '{filled(partitions // 2 + 100)}'"
    return (("get_partitions_by_filter", {"db_name": DATABASE, "tbl_name": "t", "filter": text, "max_parts": -1}),)


def _names(_: int, __: int) -> Sequence[Call]:
    return (("get_partition_names", {"db_name": DATABASE, "tbl_name": "t", "max_parts": -1}),)


def _few_by_names(_: int, partitions: int) -> Sequence[Call]:
    names = [f"k={filled(number)}" for number in range(partitions // 2, partitions // 2 + FEW)]
    wanted = api.GetPartitionsByNamesRequest(db_name=f"@hive#{DATABASE}", tbl_name="t", names=names)
    return (("get_partitions_by_names_req", {"req": wanted}),)


def _partition(_: int, partitions: int) -> Sequence[Call]:
    wanted = api.GetPartitionRequest(catName="hive", dbName=DATABASE, tblName="t", partVals=[filled(partitions // 2)])
    return (("get_partition_req", {"req": wanted}),)


def _table(_: int, __: int) -> Sequence[Call]:
    return (("get_table_req", {"req": api.GetTableRequest(catName="hive", dbName=DATABASE, tblName="t")}),)


def _database(_: int, __: int) -> Sequence[Call]:
    return (("get_database_req", {"request": api.GetDatabaseRequest(name=DATABASE, catalogName="hive")}),)


def _tables(_: int, __: int) -> Sequence[Call]:
    return (("get_all_tables", {"db_name": DATABASE}),)


SCENARIOS = (
    Scenario("create_table, drop_table", _make_and_drop, reads=False),
    Scenario("alter_table, get_table_req, twice", _alter_and_read, reads=False),
    Scenario(f"add_partitions_req, drop_partitions_req of {ADDED:,}", _add_and_drop, reads=False),
    Scenario(f"get_partitions_by_names_req of {NAMED:,}", _by_names),
    Scenario("get_partitions_by_filter, 100 found", _by_filter),
    Scenario("get_partition_names, all", _names),
    Scenario("get_database_req", _database),
    Scenario("get_all_tables", _tables),
    Scenario("get_table_req", _table),
    Scenario("get_partition_req", _partition),
    Scenario(f"get_partitions_by_names_req of {FEW}", _few_by_names),
)


def fill(port: int, partitions: int, connections: int) -> float:
    """Make the database and its tables; the seconds that adding the partitions of the one that is asked about took."""
    metastore = Metastore("bench", port, 4.0, DATABASE)
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        for name in ("t", *(f"added{connection}" for connection in range(connections))):
            client.create_table(table_of(name))
        began = time.perf_counter()
        for start in range(0, partitions, FILL_AT_ONCE):
            numbers = range(start, min(start + FILL_AT_ONCE, partitions))
            method, arguments = adding([filled(number) for number in numbers])
            getattr(client, method)(*arguments.values())
        return time.perf_counter() - began


def _analyze(url: str) -> None:
    """Have PostgreSQL count what is in a database."""
    connection = psycopg2.connect(url.replace("+psycopg2", ""))
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    connection.close()


class Bench:
    """Hive, and two servers of ours over one filled database, one of which keeps no answers."""

    def __init__(self, stack: ExitStack, folder: Path, given: argparse.Namespace) -> None:
        self._given = given
        most = max(given.connections)
        server = stack.enter_context(durable_server())
        ours, hives = (stack.enter_context(fresh_database(server)) for _ in range(2))
        migrate.upgrade(ours)
        self._ports = {}
        for name, answers_bytes in _ANSWERS_BYTES.items():
            (folder / name).mkdir()
            settings = {
                "answers_bytes": answers_bytes,
                "notifications": given.log,
                "workers": given.workers,
                "log_level": "warning",
            }
            self._ports[name] = stack.enter_context(serving(folder / name, database=ours, settings=settings))
        self._ports[HIVE] = stack.enter_context(hive(given.hive, folder / "hive", database=hives, measured=True))
        self.filling = [fill(self._ports[name], given.partitions, most) for name in (AGAIN, HIVE)]
        for each in (ours, hives):  # what autovacuum does within a minute or two
            _analyze(each)
        self._database = listener_of(make_url(server).port or 0)
        self._servers = {name: listener_of(port) for name, port in self._ports.items()}
        self._rounds = stack.enter_context(Rounds(most))

    @property
    def peak_megabytes(self) -> float:
        """The memory of our server."""
        return peak_megabytes(self._servers[AGAIN])

    def rates(self, scenario: Scenario) -> list[tuple[int, dict[str, Rate]]]:
        """For each number of connections each server's rate; all are warmed up before."""
        names = [name for name in self._ports if scenario.reads or name != ANEW]
        for name in names:
            self._rate(name, scenario, max(self._given.connections), 2 * self._given.seconds)
        return [
            (count, {name: self._rate(name, scenario, count) for name in names}) for count in self._given.connections
        ]

    def _rate(self, name: str, scenario: Scenario, connections: int, seconds: float | None = None) -> Rate:
        calls = [scenario.calls(connection, self._given.partitions) for connection in range(connections)]
        processes = (self._servers[name], self._database)
        before = [cpu_seconds(each) for each in processes]
        pace = self._rounds.pace(self._ports[name], calls, seconds or self._given.seconds)
        server, database = (cpu_seconds(each) - start for each, start in zip(processes, before, strict=True))
        return Rate(pace.rounds, pace.calls, 1_000 * server / pace.done, 1_000 * database / pace.done)


def row(scenario: Scenario, connections: int, rates: Mapping[str, Rate]) -> list[str]:
    """A line of the table; behind the rounds each call of a round that has several."""
    hives = rates[HIVE]
    found = [rates.get(name) for name in (ANEW, AGAIN)]
    speeds = [_speed(each) for each in (*found, hives)]
    ratios = [f"{each.rounds / hives.rounds:.1f}{_ratios(each, hives)}" if each else "" for each in found]
    costs = [f"{each.server_ms:.1f} + {each.database_ms:.1f}" if each else "" for each in (*found, hives)]
    return [scenario.title, str(connections), *speeds, *ratios, *costs]


def _speed(rate: Rate | None) -> str:
    if rate is None:
        return ""
    each = " (" + ", ".join(f"{calls:,.1f}" for calls in rate.calls) + ")" if len(rate.calls) > 1 else ""
    return f"{rate.rounds:,.1f}{each}"


def _ratios(rate: Rate, hives: Rate) -> str:
    if len(rate.calls) == 1:
        return ""
    each = [f"{ours / theirs:.1f}" for ours, theirs in zip(rate.calls, hives.calls, strict=True)]
    return " (" + ", ".join(each) + ")"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--partitions", type=int, default=10_000, help="of the table that is asked about")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), default="4.0", help="the release to compare with")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4], help="numbers of connections")
    parser.add_argument("--workers", type=int, default=1, help="processes of our server")
    parser.add_argument("--log", action="store_true", help="our server keeps the notification log, which Hive does not")
    parser.add_argument("--only", default="", help="measure rounds with this text in their title")
    given = parser.parse_args()
    title = f"Rounds (and calls) per second over {given.partitions:,} partitions, {given.workers} process(es) of ours"
    table = Table(title=f"{title}; how many times Hive {given.hive}; CPU ms for a round, server + database")
    table.add_column("round")
    names = ("connections", ANEW, AGAIN, HIVE, "first : Hive", "again : Hive", "first ms", "again ms", "Hive ms")
    for name in names:
        table.add_column(name, justify="right")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        bench = Bench(stack, folder, given)
        ours, hives = bench.filling
        table.add_row("filling, seconds", "1", "", f"{ours:,.1f}", f"{hives:,.1f}", "", f"{hives / ours:.1f}")
        for scenario in SCENARIOS:
            if given.only in scenario.title:
                for connections, rates in bench.rates(scenario):
                    table.add_row(*row(scenario, connections, rates))
        table.caption = f"peak memory of hmstats: {bench.peak_megabytes:,.0f} MB"
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
