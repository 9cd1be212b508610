"""An analysis on a cluster of hosts: run by spark-submit, it prints one JSON object of what came of it.

spark-submit ... hosts_session.py DB.TABLE thrift://HOST:PORT FOLDER [stuck | stuck-merging | slow]

Files have tasks of their own, and those of several row groups several. With `stuck` the first attempt at a task that
reads delivers, leaves a file `stuck on HOST` in the folder, and does not come back; with `stuck-merging` a task that
merges what others have read. With `slow` each task that reads takes seconds more.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

from hmstats.collector.analysis import analyze
from hmstats.collector.scan import scan
from hmstats.collector.scan.files import splits
from hmstats.collector.scan.tasks import merge_records, read_tasks

HANG_SECONDS, SLOW_SECONDS = 300, 2


def harmed(function: Callable[..., Iterator[Any]], folder: str, harm: str) -> Callable[..., Iterator[Any]]:
    """A task's function that does its work, and then hangs or is slow."""

    def instead(items: Iterable[Any], *arguments: Any, **named: Any) -> Iterator[Any]:
        found = list(function(items, *arguments, **named))
        context = TaskContext.get()
        if harm == "slow":
            time.sleep(SLOW_SECONDS)
        elif context is not None and context.partitionId() == 0 and not any(Path(folder).glob("stuck on *")):
            (Path(folder) / f"stuck on {os.environ['HMSTATS_TEST_HOST']}").touch()
            time.sleep(HANG_SECONDS)
        return iter(found)

    return instead


def run(table: str, metastore: str, folder: str, harm: str = "") -> dict[str, Any]:
    """Analyse a table."""
    spark = SparkSession.builder.getOrCreate()
    vars(splits)["_LEAST_TASK_BYTES"] = 1
    if harm in ("stuck", "slow"):
        vars(scan)["read_tasks"] = harmed(read_tasks, folder, harm)
    elif harm == "stuck-merging":
        vars(scan)["merge_records"] = harmed(merge_records, folder, harm)
    report = analyze(spark, table, metastore=metastore)
    spark.stop()
    return {"rows": report.rows, "partitions": report.partitions, "spooled": report.spooled}


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
