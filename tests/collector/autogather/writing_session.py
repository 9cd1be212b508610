"""Writes on a cluster of two workers in which something goes wrong. Run by test_writing_failures.

Each scenario writes a table through a publisher that does harm in the first attempt of task 0, and nowhere else, after
it has published. Spark may start a second one before that, which then waits for it. The outcomes are printed as JSON.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812

from hmstats.client import connect
from hmstats.collector.autogather import strategies
from hmstats.collector.autogather import writer as module
from hmstats.collector.autogather.publishers.protocols import Publisher
from hmstats.collector.autogather.publishers.thrift import ThriftAggregator, ThriftPublisher
from hmstats.collector.autogather.writer import writing
from hmstats.collector.spark.session import local_session
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.running_writes import PartialState

SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.task.maxFailures": "3",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
}
LATE_SECONDS = 30
MOST_TRIES = 3
"""Spark puts a twin on another executor only; the one that died may not have been started again yet."""


def harmful(harm: str, mark: str) -> type[Publisher]:
    """A publisher that harms once, after it has published; `mark` is the file that tells of it."""

    class Harmful(ThriftPublisher):
        def publish(self, states: Sequence[PartialState]) -> None:
            super().publish(states)
            task = TaskContext.get()
            if task.partitionId():
                return
            if task.attemptNumber():
                _wait_for(Path(mark))
                return
            Path(mark).touch()
            if harm == "raises":
                raise RuntimeError("the first attempt fails")
            if harm == "dies":
                os._exit(1)
            if harm == "is late":
                time.sleep(LATE_SECONDS)

    return Harmful


def _wait_for(mark: Path) -> None:
    end = time.monotonic() + LATE_SECONDS
    while not mark.exists() and time.monotonic() < end:
        time.sleep(0.05)


def main(folder: Path, metastore: str, master: str) -> None:
    """Run the scenarios; at the last one this process is killed."""
    settings = {**SETTINGS, "spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
    spark = local_session(metastore, master=master, conf=settings)
    for harm in ("raises", "dies", "is late"):
        for number in range(MOST_TRIES):
            name = f"{harm.replace(' ', '_')}_{number}"
            publisher = harmful(harm, str(folder / name))
            with mock.patch.object(module, "publisher_and_aggregator", return_value=(publisher, ThriftAggregator)):
                written = writing(_rows(spark)).save_table(name, partition_by=["k"])
            outcome = {"harm": harm, **_outcome(spark, metastore, name), "gathered": written.gathered}
            if outcome["attempts"] == [0, 1]:
                break
        print(json.dumps(outcome), flush=True)
    _die(spark)


def _rows(spark: Any) -> Any:
    """Rows that say which attempt of its task has made them."""

    def attempt(_: int) -> int:
        return int(TaskContext.get().attemptNumber())

    rows = spark.range(0, 900, 1, 4).select("id", (F.col("id") % 3).alias("k"))
    return rows.withColumn("attempt", F.udf(attempt, "int").asNondeterministic()("id")).select("id", "attempt", "k")


def _outcome(spark: Any, metastore: str, name: str) -> dict[str, Any]:
    """What is in the table, and what the metastore has of it."""
    table = TableName("hive", "default", name)
    low, high, rows = spark.table(name).agg(F.min("attempt"), F.max("attempt"), F.count("*")).first()
    with connect(metastore) as service:
        found = service.find_table(table)
        parameters = {} if found is None else found.parameters
        (column,) = service.table_statistics(table, ["attempt"])
        counted = [
            int(each.parameters["numRows"]) for each in service.partitions(table, service.partition_names(table))
        ]
    return {
        "rows": rows,
        "attempts": [low, high],
        "numRows": int(parameters["numRows"]),
        "partitions": counted,
        "bounds": [column.data.low, column.data.high],  # type: ignore[union-attr]
    }


def _die(spark: Any) -> None:
    """A driver that ends when its tasks have published."""

    def dead(*_: object) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    with mock.patch.object(strategies, "collect_pieces", dead):
        writing(_rows(spark)).save_table("died")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
