"""Calls about tables and partitions: our server against a real Hive Metastore, both on the same PostgreSQL, in one run.

Run with `python -m tests.benchmarks.bench_catalog [--partitions 100000]`. A round is one or two calls after which the
catalog is as it was before. Prints rounds per second, ratios, and the memory of our server; asserts none.
"""

import argparse
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from tests.benchmarks.load import first_reply, read
from tests.benchmarks.processes import listener_of, peak_megabytes
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.postgres import fresh_database, own_server
from tests.fixtures.servers import serving
from tests.server.requests import request

from hmstats.store import migrate
from hmstats.wire.idl import hive_metastore as api

OURS, HIVE = "hmstats", "Hive"
DATABASE = "bench"
ADDED, NAMED = 1_000, 1_000
FILL_AT_ONCE = 5_000

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A title, and the calls of a round over a table that has the given number of partitions."""

    title: str
    calls: Callable[[int], Sequence[Call]]


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


def _make_and_drop(_: int) -> Sequence[Call]:
    make = ("create_table", {"tbl": table_of("made")})
    return make, ("drop_table", {"dbname": DATABASE, "name": "made", "deleteData": False})


def _add_and_drop(_: int) -> Sequence[Call]:
    values = [f"w{number:06}" for number in range(ADDED)]
    return adding(values), dropping(values)


def _by_names(partitions: int) -> Sequence[Call]:
    step = max(partitions // NAMED, 1)
    names = [f"k={filled(number)}" for number in range(0, partitions, step)][:NAMED]
    wanted = api.GetPartitionsByNamesRequest(db_name=f"@hive#{DATABASE}", tbl_name="t", names=names)
    return (("get_partitions_by_names_req", {"req": wanted}),)


def _by_filter(partitions: int) -> Sequence[Call]:
    text = f"k >= '{filled(partitions // 2)}' and k < '{filled(partitions // 2 + 100)}'"
    return (("get_partitions_by_filter", {"db_name": DATABASE, "tbl_name": "t", "filter": text, "max_parts": -1}),)


def _names(_: int) -> Sequence[Call]:
    return (("get_partition_names", {"db_name": DATABASE, "tbl_name": "t", "max_parts": -1}),)


SCENARIOS = (
    Scenario("create_table and drop_table", _make_and_drop),
    Scenario(f"add_partitions_req and drop_partitions_req of {ADDED:,}", _add_and_drop),
    Scenario(f"get_partitions_by_names_req of {NAMED:,}", _by_names),
    Scenario("get_partitions_by_filter, 100 found", _by_filter),
    Scenario("get_partition_names, all", _names),
)


def rounds_per_second(port: int, calls: Sequence[Call], seconds: float) -> float:
    """How often a round is done on one connection; the replies of later rounds are only counted by their bytes."""
    requests = [request(method, **arguments) for method, arguments in calls]
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sizes = [first_reply(connection, method, sent) for (method, _), sent in zip(calls, requests, strict=True)]
        began = now = time.perf_counter()
        done = 0
        while now < began + seconds:
            for sent, size in zip(requests, sizes, strict=True):
                connection.sendall(sent)
                read(connection, size)
            done += 1
            now = time.perf_counter()
        return done / (now - began)


def fill(port: int, partitions: int) -> float:
    """Make the database and its table; the seconds that adding its partitions took."""
    metastore = Metastore("bench", port, 4.0, DATABASE)
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        client.create_table(table_of("t"))
        began = time.perf_counter()
        for start in range(0, partitions, FILL_AT_ONCE):
            numbers = range(start, min(start + FILL_AT_ONCE, partitions))
            method, arguments = adding([filled(number) for number in numbers])
            getattr(client, method)(*arguments.values())
        return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--partitions", type=int, default=10_000, help="of the table that is asked about")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--hive", choices=("2.3", "3.1", "4.0"), default="4.0", help="the release to compare with")
    given = parser.parse_args()
    table = Table(title=f"Rounds per second over {given.partitions:,} partitions, one connection")
    for name in ("round", OURS, f"Hive {given.hive}", "ratio"):
        table.add_column(name, justify="left" if name == "round" else "right")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        server = stack.enter_context(own_server())
        ours, hives = (stack.enter_context(fresh_database(server)) for _ in range(2))
        migrate.upgrade(ours)
        (folder / "ours").mkdir()
        mine = stack.enter_context(serving(folder / "ours", database=ours, settings={"log_level": "warning"}))
        theirs = stack.enter_context(hive(given.hive, folder / "hive", database=hives))
        filling = [fill(port, given.partitions) for port in (mine, theirs)]
        table.add_row("filling, seconds", *(f"{each:,.1f}" for each in filling), f"{filling[1] / filling[0]:.1f}")
        for scenario in SCENARIOS:
            calls = scenario.calls(given.partitions)
            rates = [rounds_per_second(port, calls, given.seconds) for port in (mine, theirs)]
            table.add_row(scenario.title, *(f"{each:,.1f}" for each in rates), f"{rates[0] / rates[1]:.1f}")
        table.caption = f"peak memory of hmstats: {peak_megabytes(listener_of(mine)):,.0f} MB"
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
