"""Tells how many of Spark's tasks are done while a job runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import SparkSession

Progress = Callable[[int, int], None]
"""Called with the tasks that are done and the tasks in all, from another thread."""

_GROUP_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
_INTERVAL_SECONDS = 0.2


@contextmanager
def watched(spark: SparkSession, progress: Progress | None, description: str) -> Iterator[None]:
    """Report the tasks of the jobs that this thread runs meanwhile."""
    context = spark.sparkContext
    if progress is None:
        yield
        return
    before = {name: context.getLocalProperty(name) for name in _GROUP_PROPERTIES}
    group = f"hmstats-{uuid4()}"
    context.setJobGroup(group, description)
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(context, group, progress, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        for name, value in before.items():
            context.setLocalProperty(name, value)  # type: ignore[arg-type, unused-ignore]


def _watch(context: SparkContext, group: str, progress: Progress, done: threading.Event) -> None:
    while not done.wait(_INTERVAL_SECONDS):
        progress(*_tasks(context, group))
    progress(*_tasks(context, group))


def _tasks(context: SparkContext, group: str) -> tuple[int, int]:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(each.numCompletedTasks for each in stages if each), sum(each.numTasks for each in stages if each)
