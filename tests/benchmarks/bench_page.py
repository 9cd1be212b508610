"""Measures how soon the page answers over a large catalog: `python -m tests.benchmarks.bench_page --tables 10000`.

Tables, partitions and columns are made over Thrift on SQLite; then each page is asked for 100 times on one connection.
The processor time of the page and of the server is told beside the time of the first byte, which depends on what else
the machine does. With `--folder` the catalog stays there, and is not made again.
"""

import argparse
import http.client
import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving
from tests.web.tables import collected

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api

_DATABASES = 100
_CLIENTS = 3
_TIMES = 100
_PARTITIONS_A_CALL = 5_000
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
PAGES = (
    "/",
    "/tables",
    "/tables?q=t0099",
    "/tables/d5.t000005",
    "/tables/d0.wide",
    "/tables/d0.wide/columns/c1",
    "/tables/d0.wide/history",
    "/tables/d0.parted",
    "/tables/d0.parted/partitions",
)


def main() -> None:
    """Make the catalog, then print a line for each page."""
    parser = argparse.ArgumentParser()
    for name, default in (("tables", 10_000), ("partitions", 100_000), ("columns", 2_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        is_new = not (folder / "hmstats.sqlite").exists()
        with serving(folder, "--workers", "2") as port:
            if is_new:
                fill(port, given.tables, given.partitions, given.columns)
            command = [HMSTATS, "web", "--port", "0", "--metastore", f"thrift://127.0.0.1:{port}"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
                assert page.stdout is not None
                measure(page.stdout.readline().split()[-1].rpartition("/")[2], [page.pid, *_workers(folder)])
                page.terminate()


def fill(port: int, tables: int, partitions: int, columns: int) -> None:
    """Make so many tables in 100 databases, a table of so many partitions, and one of so many columns."""
    metastore = Metastore("hmstats-sqlite", port, 4.0, database="d0")
    with metastore.clients:
        for number in range(_DATABASES):
            metastore.client().create_database(api.Database(name=f"d{number}", description="", parameters={}))
        threads = [
            threading.Thread(target=_make, args=(port, range(first, tables, _CLIENTS))) for first in range(_CLIENTS)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        parted = _table("d0", "parted", ["a"], keys=["ds", "h"])
        metastore.client().create_table(parted)
        for begin in range(0, partitions, _PARTITIONS_A_CALL):
            numbers = range(begin, min(begin + _PARTITIONS_A_CALL, partitions))
            metastore.client().add_partitions([_partition(parted, each) for each in numbers])
        names = [f"c{number}" for number in range(columns)]
        metastore.client().create_table(_table("d0", "wide", names))
    with client.connect(f"thrift://127.0.0.1:{port}") as service:
        every = tuple(collected(name, "int", range(2_000)) for name in names)
        service.put_table_statistics(TableName("hive", "d0", "wide"), StatisticsSet(every))


def measure(host: str, pids: Sequence[int]) -> None:
    """Print of each page the first time, the median and the 95th percentile of its first byte, processor time, size.

    The processor time is that of all requests but the first.
    """
    print(f"load {os.getloadavg()[0]:.0f}; ms: first, median, 95th percentile, processor; kB", flush=True)
    connection = http.client.HTTPConnection(host)
    connection.request("GET", "/api/v1/health")
    after = json.load(connection.getresponse()).get("next")
    for path in (*PAGES, *([f"/?after={quote(after)}"] if after else [])):
        seconds = []
        busy = 0.0
        for time_number in range(_TIMES):
            if time_number == 1:
                busy = _busy_seconds(pids)
            began = time.perf_counter()
            connection.request("GET", path)
            response = connection.getresponse()
            first = response.read(1)
            seconds.append(time.perf_counter() - began)
            size = len(first) + len(response.read())
        busy = (_busy_seconds(pids) - busy) / (_TIMES - 1)
        shown = [seconds[0], *(sorted(seconds)[_TIMES * each // 100] for each in (50, 95)), busy]
        print(f"{path:32} {' '.join(f'{1000 * each:8.1f}' for each in shown)} {size / 1000:7.1f}", flush=True)


def _workers(folder: Path) -> list[int]:
    lines = map(json.loads, (folder / "server.log").read_text().splitlines())
    return [each["pid"] for each in lines if each["event"] == "worker_started"]


def _busy_seconds(pids: Sequence[int]) -> float:
    """Processor time that the processes have taken."""
    every = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in pids]
    return sum(int(user) + int(system) for *_, user, system in (each[:13] for each in every)) / os.sysconf("SC_CLK_TCK")


def _make(port: int, numbers: Sequence[int]) -> None:
    metastore = Metastore("hmstats-sqlite", port, 4.0, database="d0")
    with metastore.clients:
        client = metastore.client()
        for each in numbers:
            client.create_table(_table(f"d{each % _DATABASES}", f"t{each:06}", ["a"]))


def _table(database: str, name: str, columns: Sequence[str], keys: Sequence[str] = ()) -> api.Table:
    storage = api.StorageDescriptor(
        cols=[api.FieldSchema(name=each, type="int") for each in columns],
        inputFormat=f"{_PARQUET}.MapredParquetInputFormat",
        outputFormat=f"{_PARQUET}.MapredParquetOutputFormat",
        serdeInfo=api.SerDeInfo(serializationLib=f"{_PARQUET}.serde.ParquetHiveSerDe", parameters={}),
        bucketCols=[],
        sortCols=[],
        parameters={},
    )
    return api.Table(
        tableName=name,
        dbName=database,
        owner="bench",
        sd=storage,
        partitionKeys=[api.FieldSchema(name=each, type="string") for each in keys],
        parameters={"EXTERNAL": "TRUE", "numRows": "1000", "totalSize": "1"},
        tableType="EXTERNAL_TABLE",
    )


def _partition(table: api.Table, number: int) -> api.Partition:
    values = [f"2{number // 24:05}", str(number % 24)]
    parameters = {"numRows": "5", "totalSize": "7"}
    return api.Partition(values=values, dbName="d0", tableName=table.tableName, sd=table.sd, parameters=parameters)


if __name__ == "__main__":
    main()
