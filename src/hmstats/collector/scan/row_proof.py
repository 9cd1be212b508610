"""Checks the number of rows from Spark: its scan must have counted as many as Python has received."""

from typing import Any

from pyspark.sql import DataFrame

from hmstats.errors import AnalysisIncomplete

_ROWS = "numOutputRows"
"""Spark's metric of the rows that an operator has passed on (org.apache.spark.sql.execution.metric.SQLMetric)."""


def check_rows(table: str, taken: int, source: DataFrame, run: DataFrame) -> None:
    """Raises AnalysisIncomplete if Python has not received the same number of rows that Spark has read.

    `run` is the frame over `source` that was executed. Its metrics cost nothing, but a task that ran twice counts
    twice; if they disagree or are missing, Spark counts the rows of `source` in a separate job.
    """
    if taken == rows_passed_on(run):
        return
    counted = source.count()
    if taken != counted:
        raise AnalysisIncomplete(
            f"table {table} has {counted:,} rows as Spark counts them, but {taken:,} were analysed: nothing of it is "
            "stored; analyze again if the table was written meanwhile"
        )


def rows_passed_on(run: DataFrame) -> int | None:
    """The rows that the input of an executed frame's top operator has counted; None if no operator counts them."""
    plan: Any = run._jdf.queryExecution().executedPlan()  # noqa: SLF001 - Spark has no other way to its metrics
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    return _sum_output_rows(plan.children())


def _sum_output_rows(operators: Any) -> int | None:
    """The sum of the operators' output rows, each from its own metric or from those of its inputs."""
    counts = [_operator_rows(operators.apply(place)) for place in range(operators.size())]
    known = [each for each in counts if each is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _operator_rows(operator: Any) -> int | None:
    metrics = operator.metrics()
    if metrics.contains(_ROWS):
        return int(metrics.apply(_ROWS).value())
    return _sum_output_rows(operator.children())
