"""A stock Spark writes tables through the collector, in each of its ways, where Hadoop's settings alone say how.

    python spark_writes.py thrift://HOST:PORT WAREHOUSE [KEY=VALUE ...] > out.jsonl

A line of JSON per table: {"table", "written": what each write said, "rows": by partition ("" is the table), "files":
how many an analysis and the metastore count, "same": whether an analysis finds what the writes have stored,
"unchanged": whether an analysis of what has changed passes over all}. KEY=VALUE are further settings of Spark.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tests.collector.parted import stored
from tests.engines.spark.sessions.spark_session import session

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze, writing

WAYS: Mapping[str, Mapping[str, object]] = {
    "through_thrift": {},
    "through_files": {"hive.stats.dbclass": "fs"},
    "from_files": {"hmstats.autogather.reads": "files"},
}
"""How the statistics of a write come together, by name."""
NAMES = ("k=0", "k=1", "k=2")


def main(address: str, warehouse: str, *conf: str) -> None:
    """Write a plain table and a partitioned one in each way, one of ORC, and one where the server puts databases."""
    dynamic = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
    spark = session(address, warehouse, dict(each.split("=", 1) for each in conf) | dynamic)
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE DATABASE writes")
    for way, settings in WAYS.items():
        for keys in ((), ("k",)):
            _told(spark, address, f"writes.{way}{'_parted' if keys else ''}", keys, settings)
    _told(spark, address, "writes.of_orc", (), {}, "orc")
    _told(spark, address, "default.of_the_server", (), {})
    spark.stop()


def _told(
    spark: SparkSession,
    address: str,
    name: str,
    keys: tuple[str, ...],
    settings: Mapping[str, object],
    form: str = "parquet",
) -> None:
    """Write a table, append to it, replace a part of it, and print what is known then."""
    reliable = {"hive.stats.reliable": True, **settings}
    written = [
        writing(_numbers(spark, 0, 3000), settings=reliable).save_table(name, format=form, partition_by=keys),
        writing(_numbers(spark, 2000, 3600), settings=reliable).save_table(
            name, mode="append", format=form, partition_by=keys
        ),
        writing(_numbers(spark, 9000, 9030).where("k = 1"), settings=reliable).insert_into(name, overwrite=True),
    ]
    unchanged = analyze(spark, name, changed_only=True)
    before, files = _stored(address, name, keys), _files(address, name, keys)
    report = analyze(spark, name)
    line = {
        "table": name,
        "written": [each.gathered and each.rows for each in written],
        "rows": {place: int(rows) for place, (rows, _) in before.items()},
        "files": [report.files, files],
        "same": before == _stored(address, name, keys),
        "unchanged": unchanged.files == 0,
    }
    print(json.dumps(line), flush=True)


def _numbers(spark: SparkSession, begin: int, end: int) -> Any:
    return spark.range(begin, end, 1, 2).select("id", (F.col("id") % 3).alias("k"))


def _stored(address: str, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    return stored(int(address.rpartition(":")[2]), named_table(name, "default"), NAMES if keys else ())


def _files(address: str, name: str, keys: tuple[str, ...]) -> int:
    """How many files the metastore says that the table or its partitions have."""
    with connect(address) as service:
        table = service.find_table(named_table(name, "default"))
        assert table is not None
        found = list(service.partitions(table.name, NAMES)) if keys else [table]
    return sum(int(each.parameters["numFiles"]) for each in found)


if __name__ == "__main__":
    main(*sys.argv[1:])
