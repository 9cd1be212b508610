"""Reports the progress of Spark's tasks while a job runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of an analysis: finished tasks and known tasks, finished partitions and all partitions, and rows."""

    tasks: int
    tasks_in_all: int
    partitions: int
    partitions_in_all: int
    rows: int


Progress: TypeAlias = Callable[[JobProgress], None]
"""Called periodically with the progress, from another thread."""

_GROUP_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
_INTERVAL_SECONDS = 0.2


class Counters:
    """Counters of finished work for tasks. Approximate, since a task that is retried counts again."""

    def __init__(self, context: SparkContext, partitions: int) -> None:
        self._in_all = partitions
        self._partitions: Any = context.accumulator(0)
        self._rows: Any = context.accumulator(0)

    def add(self, *, partitions: int = 0, rows: int = 0) -> None:
        """Add to the counters in a task. The driver sees the sums when the task has ended."""
        self._partitions.add(partitions)
        self._rows.add(rows)

    def progress(self, tasks: int, tasks_in_all: int) -> JobProgress:
        """The counts, on the driver."""
        return JobProgress(tasks, tasks_in_all, self._partitions.value, self._in_all, self._rows.value)


@contextmanager
def report_progress(
    spark: SparkSession, progress: Progress | None, description: str, partitions: int = 0
) -> Iterator[Counters | None]:
    """Report the progress of the jobs that this thread runs during the block; yields None without a `progress`.

    `partitions`: the number of all partitions.
    """
    context = spark.sparkContext
    if progress is None:
        yield None
        return
    before = {name: context.getLocalProperty(name) for name in _GROUP_PROPERTIES}
    group, counters = f"hmstats-{uuid4()}", Counters(context, partitions)
    context.setJobGroup(group, description)
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, group, counters, progress, ended), daemon=True)
    watcher.start()
    try:
        yield counters
    finally:
        ended.set()
        watcher.join()
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[arg-type, unused-ignore]


def _watch(context: SparkContext, group: str, counters: Counters, progress: Progress, ended: threading.Event) -> None:
    while not ended.wait(_INTERVAL_SECONDS):
        progress(counters.progress(*_tasks(context, group)))
    progress(counters.progress(*_tasks(context, group)))


def _tasks(context: SparkContext, group: str) -> tuple[int, int]:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(each.numCompletedTasks for each in stages if each), sum(each.numTasks for each in stages if each)
