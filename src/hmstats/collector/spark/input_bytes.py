"""Counts the bytes that Spark reads of files, by the metrics of its stages, so that other jobs do not count.

These metrics are right for files that are read from beginning to end, such as text and Avro. Of Parquet and ORC, which
Spark reads by ranges in other threads, they include only a part.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_WAIT_MS = 10_000
"""How long to wait for the metrics of the last stage."""


class InputBytes:
    """The bytes of files that the jobs with a tag have read."""

    def __init__(self, spark: SparkSession, tag: str) -> None:
        self._context: Any = spark.sparkContext._jsc.sc()  # noqa: SLF001 - Spark has no other way to its metrics
        self._tag = tag

    def total(self) -> int | None:
        """The number of bytes; None if Spark has not kept the metrics of all stages, or if it read no files."""
        try:
            self._context.listenerBus().waitUntilEmpty(_WAIT_MS)
            jobs = self._context.statusTracker().getJobIdsForTag(self._tag)
            return sum(self._of_job(each) for each in jobs) or None
        except Py4JError:
            return None

    def _of_job(self, job: int) -> int:
        store = self._context.statusStore()
        stages = store.job(job).stageIds()
        return sum(self._of_stage(store, stages.apply(place)) for place in range(stages.size()))

    def _of_stage(self, store: Any, stage: int) -> int:
        """The bytes of all attempts of a stage."""
        attempts = store.stageData(stage, False, None, False, None)
        return sum(int(attempts.apply(place).inputBytes()) for place in range(attempts.size()))


@contextmanager
def count_input_bytes(spark: SparkSession) -> Iterator[InputBytes]:
    """Count the bytes that jobs of this thread read during the block."""
    tag = f"hmstats-{uuid4().hex}"
    spark.sparkContext.addJobTag(tag)
    try:
        yield InputBytes(spark, tag)
    finally:
        spark.sparkContext.removeJobTag(tag)
