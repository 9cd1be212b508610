"""An analysis on a cluster: run by spark-submit, it prints one JSON object of what came of it.

spark-submit [--py-files ...] [--archives ...] cluster_session.py DB.TABLE thrift://HOST:PORT FOLDER [lose]

With `lose` an executor dies in the middle.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

from hmstats.collector.analysis import analyze
from hmstats.collector.scan import scan
from hmstats.collector.scan.files import splits
from hmstats.collector.scan.tasks import Job, Record, Task, read_tasks


def losing(folder: str) -> Any:
    """The first attempt at one partition's task delivers, and then its executor is killed."""

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        mine = list(tasks)
        records = list(read_tasks(mine, job))
        context = TaskContext.get()
        if context is not None and any(split.piece == "k=0" for task in mine for split in task.splits):
            (Path(folder) / f"attempt {context.attemptNumber()}").touch()
            if context.attemptNumber() == 0:
                os.kill(parent(os.getppid()), signal.SIGKILL)  # the JVM that started Spark's Python daemon
        return iter(records)

    return instead


def parent(process: int) -> int:
    """The process that started another."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def where(_: object) -> tuple[int, str]:
    """The process of an executor's Python, and where it has the package from."""
    import hmstats

    time.sleep(1)  # so that no executor does all the work
    return os.getppid(), hmstats.__file__


def run(table: str, metastore: str, folder: str, *flags: str) -> dict[str, Any]:
    """Analyse a table."""
    spark = SparkSession.builder.getOrCreate()
    places = spark.sparkContext.parallelize(range(4), 4).map(where).collect()
    if "lose" in flags:
        vars(scan)["read_tasks"] = losing(folder)
        vars(splits)["_LEAST_TASK_BYTES"] = 1  # a task for each partition
    report = analyze(spark, table, metastore=metastore, spool=f"{folder}/spool")
    spark.stop()
    return {
        "executors": len({process for process, _ in places}),
        "packages": sorted({file for _, file in places}),
        "rows": report.rows,
        "partitions": report.partitions,
        "spooled": report.spooled,
    }


if __name__ == "__main__":
    print(json.dumps(run(*sys.argv[1:])))
