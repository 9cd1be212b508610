"""Checks the result of Spark's rows before it is stored.

Every row that Spark has read must belong to a requested partition, or to one that was added meanwhile; and if a piece
has files but no row was read, Spark's own count must be 0 too.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hmstats.client import Metastore
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.planning.plan import Plan
from hmstats.collector.scan.placing import identity, placing
from hmstats.collector.scan.rows import rows
from hmstats.collector.scan.scan import each_as_stored
from hmstats.collector.scan.tasks import Outcome
from hmstats.errors import AnalysisIncomplete
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_name, partition_values, quote_name

_SHOWN = 5


def check_placed(service: Metastore, plan: Plan, strangers: Mapping[str, int]) -> None:
    """Raises AnalysisIncomplete if Spark has read rows of partitions that the metastore does not have.

    `strangers`: unrequested partitions, by Spark's names, with their numbers of rows.
    """
    if not strangers:
        return
    keys = plan.key_columns
    now = {identity(keys, partition_values(name, plan.keys)) for name in service.partition_names(plan.table)}
    unknown = {
        name: count
        for name, count in strangers.items()
        if count and identity(keys, partition_values(name, plan.keys)) not in now
    }
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        shown = ", ".join(sorted(unknown)[:_SHOWN]) + more
        raise AnalysisIncomplete(
            f"Spark has read {sum(unknown.values()):,} rows of {plan.table.typed} in partitions "
            f"that the metastore does not have: {shown}; the statistics of the table itself are not stored"
        )


def resolve_doubts(spark: SparkSession, plan: Plan, outcome: Outcome) -> tuple[list[str], Outcome]:
    """The doubted pieces that really have no rows, and the outcome, in which the other doubted pieces have failed."""
    if not outcome.doubted:
        return [], outcome
    counts = _counts(spark, plan, set(outcome.doubted))
    failed = {name: f"its files gave no row, but Spark counts {count:,} rows in them" for name, count in counts.items()}
    empty = [name for name in outcome.doubted if name not in failed]
    return empty, replace(outcome, doubted=(), failed={**outcome.failed, **failed})


def _counts(spark: SparkSession, plan: Plan, names: Collection[str]) -> dict[str, int]:
    """Spark's count of rows by piece, for the named pieces that have any."""
    rest = tuple(piece for piece in plan.pieces if piece.name not in names)
    doubted = replace(
        plan,
        pieces=tuple(piece for piece in plan.pieces if piece.name in names),
        unchanged=(*plan.pieces_left_out, *rest),
    )
    with each_as_stored(spark, plan):
        found = rows(spark, doubted)
        if not plan.keys:
            count = found.count()
            return {WHOLE_TABLE: count} if count else {}
        texts = [F.col(quote_name(key)).cast("string") for key in plan.keys]
        counted = found.groupBy(*texts).count().collect()
    places = placing(plan.key_columns, doubted.pieces, doubted.unchanged)
    spark_names = ((_name(plan, each[:-1]), int(each[-1])) for each in counted)
    return {piece: count for name, count in spark_names for piece in places.pieces_of(name)}


def _name(plan: Plan, values: Sequence[str | None]) -> str:
    return partition_name(plan.keys, [NULL_PARTITION_VALUE if value is None else value for value in values])
