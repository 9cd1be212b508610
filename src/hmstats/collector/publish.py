"""Pushes what was found to the metastore: partitions in batches, then the table.

Parameters go before column statistics: the metastore marks in the parameters which columns are accurate, and that mark
must not be overwritten with an older one.
"""

from collections.abc import Mapping

from hmstats.client import Metastore
from hmstats.collector.plan import Plan
from hmstats.collector.report import Finding
from hmstats.model.column_statistics import StatisticsSet


def publish(metastore: Metastore, plan: Plan, pieces: Mapping[str, Finding], whole: Finding | None) -> None:
    """Store the findings of partitions (`pieces`, by name) and of the table (`whole`).

    Raises ServiceUnavailable and CallRefused. What was pushed before stays; pushing again changes nothing twice.
    """
    if plan.keys and pieces:
        metastore.put_partition_parameters(
            plan.table, plan.keys, {name: finding.parameters for name, finding in pieces.items()}
        )
        if plan.types:
            sets = (StatisticsSet(finding.columns, name) for name, finding in pieces.items())
            metastore.put_partition_statistics(plan.table, sets)
    if whole is None:
        return
    partitions = {"numPartitions": str(len(plan.pieces))} if plan.keys else {}
    metastore.put_table_parameters(plan.table, {**whole.parameters, **partitions})
    if plan.types:
        metastore.put_table_statistics(plan.table, StatisticsSet(whole.columns))
