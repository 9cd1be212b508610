"""Observes which partitions a write puts rows into: Spark collects them in the JVM on the way to the files.

No row passes through Python for that. Rows of a task that ran twice count too, so there may be a partition too many.
"""

import time
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812

from hmstats.collector.autogather.target import Target
from hmstats.collector.planning.plan import Plan
from hmstats.collector.scan.placing import identity
from hmstats.errors import GatheringFailed
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_name

_PATIENCE_SECONDS = 10.0
_TRY_SECONDS = 0.01


class Touched:
    """Observes the values of the partition keys of one write."""

    def __init__(self, target: Target) -> None:
        self._texts = target.values[len(target.types) :]
        self._observation = Observation()

    def observe(self, rows: DataFrame) -> DataFrame:
        """The rows unchanged, to be written."""
        return rows.observe(self._observation, F.collect_set(F.array(*self._texts)).alias("values"))

    def names(self, plan: Plan) -> set[str]:
        """The names of the partitions with rows of the write.

        Raises GatheringFailed if Spark does not report them, or if the metastore does not have a partition.
        """
        if not self._wait_for_spark():
            raise GatheringFailed(f"Spark has not told within {_PATIENCE_SECONDS:.0f} s which partitions it wrote to")
        keys = plan.key_columns
        pieces = {identity(keys, piece.values): piece.name for piece in plan.pieces}
        values = [[text or NULL_PARTITION_VALUE for text in texts] for texts in self._observation.get["values"]]
        for texts in values:
            if identity(keys, texts) not in pieces:
                name = partition_name(plan.keys, texts)
                raise GatheringFailed(f"partition {name} was written, but the metastore does not have it")
        return {pieces[identity(keys, texts)] for texts in values}

    def _wait_for_spark(self) -> bool:
        """Wait for Spark's report, which comes a moment after the write. Returns False if it does not come."""
        told: Any = self._observation._jo.future()  # noqa: SLF001 - get() waits for ever if Spark does not tell
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not told.isCompleted() and time.monotonic() < deadline:
            time.sleep(_TRY_SECONDS)
        return bool(told.isCompleted())
