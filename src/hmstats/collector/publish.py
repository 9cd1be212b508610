"""Pushes what was found to the metastore: partitions in batches, then the table.

Parameters go before column statistics: the metastore marks in the parameters which columns are accurate, and that mark
must not be overwritten with an older one. Top-k sketches and what is known of the making of the statistics go with
them; hmstats keeps both, a Hive Metastore neither.
"""

from collections.abc import Mapping
from dataclasses import replace

from hmstats import __version__
from hmstats.client import Metastore
from hmstats.collector.plan import Plan
from hmstats.collector.report import Finding
from hmstats.model.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.model.provenance import Provenance

_TOOL = f"hmstats {__version__}"
_UNCOUNTED_KINDS = (Kind.BOOLEAN, Kind.BINARY)
"""Kinds that have no distinct count, so that all of their numbers are exact."""


def publish(metastore: Metastore, plan: Plan, pieces: Mapping[str, Finding], whole: Finding | None) -> None:
    """Store the findings of partitions (`pieces`, by name) and of the table (`whole`).

    Raises ServiceUnavailable and CallRefused. What was pushed before stays; pushing again changes nothing twice.
    """
    if plan.keys and pieces:
        metastore.put_partition_parameters(
            plan.table, plan.keys, {name: finding.parameters for name, finding in pieces.items()}
        )
        if plan.types:
            sets = (StatisticsSet(_signed(finding), name) for name, finding in pieces.items())
            metastore.put_partition_statistics(plan.table, sets)
    if whole is None:
        return
    partitions = {"numPartitions": str(len(plan.pieces))} if plan.keys else {}
    metastore.put_table_parameters(plan.table, {**whole.parameters, **partitions})
    if plan.types:
        metastore.put_table_statistics(plan.table, StatisticsSet(_signed(whole)))


def _signed(finding: Finding) -> tuple[ColumnStatistics, ...]:
    """The columns' statistics with what is known of their making."""
    made = Provenance(exact=False, rows_seen=finding.rows, sample_fraction=1.0, tool=_TOOL)
    exact = replace(made, exact=True)
    return tuple(
        replace(column, provenance=exact if column.kind in _UNCOUNTED_KINDS else made) for column in finding.columns
    )
