"""Writes and appends whose statistics go to the metastore of the session. Run by test_hive.

What each write says of itself is printed as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from hmstats.collector.autogather.writer import writing
from hmstats.collector.spark.session import local_session


def main(metastore: str, folder: Path) -> None:
    """Write a plain table and a partitioned one, and append to both."""
    conf = {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri(), "spark.sql.shuffle.partitions": "2"}
    spark = local_session(metastore, master="local[2]", conf=conf)
    settings: dict[str, object] = {"hive.stats.dbclass": "fs", "hive.stats.dbconnectionstring": str(folder / "states")}
    spark.sql("CREATE DATABASE appends")
    for begin, end in ((0, 5000), (4000, 6000)):
        for name, keys in (("plain", ()), ("parted", ("k",))):
            write = writing(_numbers(spark, begin, end), settings=settings)
            written = write.save_table(f"appends.{name}", mode="append", partition_by=keys)
            print(json.dumps({"gathered": written.gathered, "rows": written.rows, "reason": written.reason}))
    spark.stop()


def _numbers(spark: Any, begin: int, end: int) -> Any:
    return spark.range(begin, end, 1, 2).select("id", (F.col("id") % 3).alias("k"))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
