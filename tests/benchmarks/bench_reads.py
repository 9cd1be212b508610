"""What an analysis reads of a table in an object store: hmstats beside Spark's own ANALYZE, as the store sees both.

Run with `python -m tests.benchmarks.bench_reads [--rows 300000]`. A proxy before the store counts bytes and requests of
the table's files and of their listings. The table has a wide column beside those that are analysed, in Parquet, ORC
and JSON. Beside that stands what hmstats reports itself. Prints numbers and asserts none. Needs Maven, for S3A.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table
from tests.fixtures.object_stores.object_store import BUCKET, MOTO, object_store
from tests.fixtures.object_stores.store_proxy import StoreProxy, store_proxy
from tests.fixtures.servers import serving
from tests.peers.spark_jars import hadoop_s3

from hmstats.collector import Report, analyze
from hmstats.collector.spark.session import local_session

FORMATS = ("parquet", "orc", "json")
WANTED = ("id", "name")
FILES = 8


def reads_of(proxy: StoreProxy, act: Callable[[], object]) -> tuple[int, int]:
    """The bytes that the store has sent meanwhile, and the requests that it has got."""
    proxy.requests.clear()
    act()
    found = [each for each in proxy.requests if each.method in ("GET", "HEAD")]
    return sum(each.bytes for each in found if each.method == "GET"), len(found)


def measure(spark: SparkSession, proxy: StoreProxy, form: str, rows: int) -> list[tuple[str, str, str]]:
    """A row for each way: its name, megabytes and requests."""
    name = f"bench.of_{form}"
    wide = "repeat(cast(rand(1) AS STRING), 20) AS wide"
    query = f"SELECT /*+ REPARTITION({FILES}) */ id, concat('n', id % 1000) AS name, {wide} FROM range({rows})"
    spark.sql(f"CREATE TABLE {name} USING {form} LOCATION 's3a://{BUCKET}/{form}' AS {query}")
    reports: list[Report] = []
    ours = reads_of(proxy, lambda: reports.append(analyze(spark, name, columns=list(WANTED))))
    statement = f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR COLUMNS {', '.join(WANTED)}"
    theirs = reads_of(proxy, lambda: spark.sql(statement))
    said = reports[0].reads
    size = reports[0].bytes
    return [
        (f"{form}, {size / 1e6:.1f} MB in {FILES} files: hmstats", f"{ours[0] / 1e6:.2f}", str(ours[1])),
        (
            "as it reports, without listings",
            _megabytes(said.bytes if said else None),
            _number(said.requests if said else None),
        ),
        ("Spark's ANALYZE", f"{theirs[0] / 1e6:.2f}", str(theirs[1])),
    ]


def _megabytes(found: int | None) -> str:
    return "-" if found is None else f"{found / 1e6:.2f}"


def _number(found: int | None) -> str:
    return "-" if found is None else str(found)


def main() -> None:
    """Measure each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    given = parser.parse_args()
    shown = Table(title=f"{given.rows:,} rows, {len(WANTED)} of 3 columns")
    for title in ("by", "read, MB", "requests"):
        shown.add_column(title, justify="left" if title == "by" else "right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with object_store(folder, MOTO) as store, store_proxy(store) as proxy:
            os.environ.update(proxy.store.environment)
            environment, place = proxy.store.environment, f"s3://{BUCKET}/warehouse"
            with serving(folder, environment=environment, warehouse=place) as port:
                conf = {f"spark.hadoop.{key}": value for key, value in proxy.store.hadoop.items()}
                conf["spark.jars"] = ",".join(map(str, hadoop_s3.jars()))
                conf["spark.sql.warehouse.dir"] = f"s3a://{BUCKET}/warehouse"
                conf["spark.hadoop.fs.s3.impl"] = "org.apache.hadoop.fs.s3a.S3AFileSystem"
                spark = local_session(f"thrift://127.0.0.1:{port}", master="local[2]", conf=conf)
                try:
                    spark.sql("CREATE DATABASE bench")
                    for form in FORMATS:
                        for row in measure(spark, proxy, form, given.rows):
                            shown.add_row(*row)
                finally:
                    spark.stop()
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
