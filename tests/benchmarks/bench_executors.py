"""How fast a cluster of several hosts analyses a table: hmstats against Spark's own ANALYZE, by numbers of executors.

Run as root with `python -m tests.benchmarks.bench_executors [--scale 0.3] [--executors 1 2 4] [--rounds 3]
[--runs 2] [--data FOLDER]`. The table is TPC-H's lineitem as tpchgen-cli writes it. Each executor has one core and a
host of its own, a network namespace; all share this machine's processors, so more executors than it has cores cannot be
faster. Each round starts a session for each number of executors; in it each way runs once to warm up, and then some
times in turns. Medians are shown; the processor's time is that of driver, executors, Spark's daemons and the metastore.
Prints numbers and asserts none.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table
from tests.benchmarks.bench_collector import ANALYZE, OURS, Cost, cost_of, lineitem
from tests.fixtures.servers import serving
from tests.fixtures.spark.hosts import Cluster, HostsUnavailable, connected_hosts, spark_cluster

from hmstats.collector import analyze
from hmstats.collector.spark.session import local_session

TABLE = "bench.lineitem"
Costs = dict[tuple[str, int], list[Cost]]
"""By way and number of executors what each round took."""


@contextmanager
def session(cluster: Cluster, port: int, warehouse: Path, executors: int) -> Iterator[SparkSession]:
    """A session with so many executors, each on its own host, which begins when all are there."""
    conf = cluster.conf() | {
        "spark.cores.max": str(executors),
        "spark.executor.memory": "1g",
        "spark.executor.extraJavaOptions": "",  # all of Java's compilers, as ANALYZE needs them
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        "spark.sql.warehouse.dir": warehouse.as_uri(),
    }
    spark = local_session(f"thrift://{cluster.network.address}:{port}", master=cluster.url, conf=conf)
    try:
        yield spark
    finally:
        spark.stop()


def check_hosts(spark: SparkSession, executors: int) -> None:
    """Raise RuntimeError unless tasks run on so many hosts."""

    def host(_: object) -> Iterator[str]:
        yield os.environ["HMSTATS_TEST_HOST"]

    found = set(spark.sparkContext.parallelize(range(executors), executors).mapPartitions(host).collect())
    if len(found) != executors:
        raise RuntimeError(f"tasks should run on {executors} hosts, found {sorted(found)}")


def measure(cluster: Cluster, port: int, folder: Path, place: Path, given: argparse.Namespace) -> tuple[int, Costs]:
    """How many rows the table has, and what each way took with each number of executors."""
    costs: Costs = {(way, number): [] for number in given.executors for way in (OURS, ANALYZE)}
    rows = 0
    for turn in range(given.rounds):
        for number in given.executors:
            with session(cluster, port, folder / "warehouse", number) as spark:
                if not rows:
                    spark.sql("CREATE DATABASE bench")
                    spark.sql(f"CREATE TABLE {TABLE} USING parquet LOCATION '{place}'")
                    rows = spark.table(TABLE).count()
                check_hosts(spark, number)
                for run in range(1 + given.runs):
                    for way, act in ways(spark).items():
                        cost = cost_of(act)
                        if run:
                            costs[way, number].append(cost)
            print(f"round {turn + 1}, {number} executors, load {os.getloadavg()[0]:.0f}", file=sys.stderr)
    return rows, costs


def ways(spark: SparkSession) -> dict[str, Callable[[], Any]]:
    """The ways to analyse the table."""
    statement = f"ANALYZE TABLE {TABLE} COMPUTE STATISTICS FOR ALL COLUMNS"
    return {OURS: lambda: analyze(spark, TABLE), ANALYZE: lambda: spark.sql(statement)}


def report(rows: int, costs: Costs, executors: Sequence[int]) -> Table:
    """A row for each number of executors."""
    shown = Table(title=f"{rows:,} rows, {os.cpu_count()} cores for all hosts")
    for title in ("executors", *(f"{way}, {unit}" for way in (OURS, ANALYZE) for unit in ("s", "CPU s", ": with one"))):
        shown.add_column(title, justify="right")
    shown.add_column("ANALYZE : hmstats", justify="right")
    seconds = {key: median(each.seconds for each in found) for key, found in costs.items()}
    cpu = {key: median(each.cpu for each in found) for key, found in costs.items()}
    for number in executors:
        cells = [
            f"{value:.2f}"
            for way in (OURS, ANALYZE)
            for value in (seconds[way, number], cpu[way, number], seconds[way, number] / seconds[way, executors[0]])
        ]
        shown.add_row(str(number), *cells, f"{seconds[ANALYZE, number] / seconds[OURS, number]:.1f}")
    return shown


def main() -> None:
    """Measure all numbers of executors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="0.3")
    parser.add_argument("--executors", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path("demo-data"))
    given = parser.parse_args()
    data = given.data.resolve()
    data.mkdir(parents=True, exist_ok=True)
    place = lineitem(data, given.scale)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        try:
            network = stack.enter_context(connected_hosts(1 + max(given.executors)))
        except HostsUnavailable as error:
            sys.exit(str(error))
        os.environ["SPARK_LOCAL_IP"] = network.address
        port = stack.enter_context(serving(folder, settings={"host": network.address}))
        cluster = stack.enter_context(spark_cluster(network, folder))
        Console(width=150).print(report(*measure(cluster, port, folder, place, given), given.executors))


if __name__ == "__main__":
    main()
