"""How fast a table is analysed: hmstats against Spark's own ANALYZE and its nearest aggregates, in one session.

Run with `python -m tests.benchmarks.bench_collector [--scales 0.1 1 3] [--runs 3] [--data FOLDER]`. The table is
TPC-H's lineitem, as tpchgen-cli writes it and once as Spark writes it, in Parquet and in ORC, on two cores. The ways
take turns; the first run and the best of each are shown, and the processor's time. hmstats makes bit vectors,
histograms and top-k beside all that ANALYZE makes. Prints numbers and asserts none.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, DateType, DecimalType, StringType
from rich.console import Console
from rich.table import Table
from tests.benchmarks.harness.processes import bytes_read, cpu_seconds
from tests.fixtures.servers import serving

from hmstats.collector import Report, analyze
from hmstats.collector.spark.session import local_session

CORES = 2
OURS, ANALYZE, AGGREGATES = "hmstats", "ANALYZE", "aggregates"
PARQUET, ORC = "parquet", "orc"


@dataclass(frozen=True, slots=True)
class Cost:
    """Time on the clock, and the processor's time of Python and Java together."""

    seconds: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Result:
    """What each way took at each of its runs, and the most memory that one of Spark's Python workers held.

    `read` is what each has read in its last run: megabytes of files, pipes and sockets, and for hmstats those of files
    and how many requests an object store would get.
    """

    table: str
    rows: int
    costs: dict[str, list[Cost]]
    worker_megabytes: float
    read: dict[str, str]

    def best(self, way: str) -> tuple[float, float]:
        """The least time on the clock and the least of the processor."""
        return min(each.seconds for each in self.costs[way]), min(each.cpu for each in self.costs[way])


def lineitem(folder: Path, scale: str) -> Path:
    """A folder with TPC-H's lineitem at this scale factor in one Parquet file; made unless it is there."""
    target = folder / f"lineitem-{scale}"
    if not target.is_dir():
        program = Path(sys.executable).with_name("tpchgen-cli")
        arguments = ["parquet", "--scale-factor", scale, "--tables", "lineitem", "--output-dir"]
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            subprocess.run([str(program), *arguments, unfinished], check=True, stdout=subprocess.DEVNULL)
            Path(unfinished).rename(target)
            Path(unfinished).mkdir()
    return target


def rewritten(spark: SparkSession, folder: Path, scale: str, form: str) -> Path:
    """The same rows in the files of a format that Spark writes."""
    target = folder / f"lineitem-{scale}-{form}-by-spark"
    if not (target / "_SUCCESS").exists():
        spark.read.parquet(str(lineitem(folder, scale))).write.mode("overwrite").format(form).save(str(target))
    return target


def aggregates(spark: SparkSession, table: str) -> str:
    """A query of Spark's nearest aggregates: counts, bounds, lengths and a sketch of the distinct values."""
    parts = ["count(1)"]
    for field in spark.table(table).schema:
        name, text = field.name, isinstance(field.dataType, StringType)
        ends = ("max(octet_length({0}))", "avg(octet_length({0}))") if text else ("min({0})", "max({0})")
        sketched = _countable(name, field.dataType)
        parts += [f"count({name})", f"hll_sketch_estimate(hll_sketch_agg({sketched}))", *(e.format(name) for e in ends)]
    return f"SELECT {', '.join(parts)} FROM {table}"


def _countable(name: str, type_: DataType) -> str:
    """The column as a type that hll_sketch_agg takes."""
    if isinstance(type_, DecimalType):
        return f"CAST({name} * {10**type_.scale} AS BIGINT)"
    return f"unix_date({name})" if isinstance(type_, DateType) else name


def worker_megabytes(spark: SparkSession) -> float:
    """The most memory that one of Spark's Python workers has held so far."""

    def peak(_: Iterable[int]) -> Iterable[int]:
        time.sleep(0.2)
        return [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]

    peaks = spark.sparkContext.parallelize(range(CORES), CORES).mapPartitions(peak).collect()
    return float(max(peaks)) / 1024


def cost_of(act: Callable[[], object]) -> Cost:
    """What it takes."""
    start, spent = time.perf_counter(), cpu_seconds(os.getpid())
    act()
    return Cost(time.perf_counter() - start, cpu_seconds(os.getpid()) - spent)


def measure(spark: SparkSession, name: str, place: Path, runs: int, form: str) -> Result:
    """Every way in turn, so many times."""
    table = f"bench.{name}"
    spark.sql(f"CREATE TABLE {table} USING {form} LOCATION '{place}'")
    query = aggregates(spark, table)
    ways: dict[str, Callable[[], object]] = {
        OURS: lambda: reports.append(analyze(spark, table)),
        ANALYZE: lambda: spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS"),
        AGGREGATES: lambda: spark.sql(query).collect(),
    }
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    peaks, reports, read = [], list[Report](), dict[str, str]()
    for _ in range(runs):
        for way, act in ways.items():
            before = bytes_read(os.getpid())
            costs[way].append(cost_of(act))
            read[way] = f"{(bytes_read(os.getpid()) - before) / 1e6:.1f}"
            if way == OURS:
                peaks.append(worker_megabytes(spark))  # now, as Spark ends workers that have nothing to do
    ours = reports[-1].reads
    if ours is not None:
        read[OURS] += f", {ours.bytes / 1e6:.1f} in {ours.requests}"
    return Result(name, spark.table(table).count(), costs, max(peaks), read)


def report(result: Result) -> Table:
    """A row for each way."""
    shown = Table(title=f"{result.table}: {result.rows:,} rows on {CORES} cores")
    columns = (
        "by",
        "first, s",
        "best, s",
        "CPU, s",
        ": hmstats",
        "CPU : hmstats",
        "µs a row",
        "worker, MB",
        "read, MB",
    )
    for title in columns:
        shown.add_column(title, justify="left" if title == "by" else "right")
    ours_seconds, ours_cpu = result.best(OURS)
    for way, costs in result.costs.items():
        seconds, cpu = result.best(way)
        shown.add_row(
            way,
            *(f"{each:.2f}" for each in (costs[0].seconds, seconds, cpu)),
            *(f"{each:.1f}" for each in (seconds / ours_seconds, cpu / ours_cpu)),
            f"{seconds / result.rows * 1e6:.2f}",
            f"{result.worker_megabytes:.0f}" if way == OURS else "",
            result.read[way],
        )
    return shown


def main() -> None:
    """Measure every scale, and one of them as Spark writes it too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scales", nargs="+", default=["0.1", "1", "3"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("demo-data"))
    given = parser.parse_args()
    data = given.data.resolve()
    data.mkdir(parents=True, exist_ok=True)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as port:
        conf = {"spark.sql.warehouse.dir": Path(folder, "spark").as_uri(), "spark.driver.memory": "2g"}
        spark = local_session(f"thrift://127.0.0.1:{port}", master=f"local[{CORES}]", conf=conf)
        try:
            spark.sql("CREATE DATABASE bench")
            places = {f"tpch_{scale.replace('.', '_')}": (PARQUET, lineitem(data, scale)) for scale in given.scales}
            one = "1" if "1" in given.scales else given.scales[0]
            places |= {f"tpch_{form}_by_spark": (form, rewritten(spark, data, one, form)) for form in (PARQUET, ORC)}
            for name, (form, place) in places.items():
                Console(width=150).print(report(measure(spark, name, place, given.runs, form)))
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
