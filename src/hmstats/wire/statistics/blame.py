"""Structs of blame for wrong estimates <-> model."""

from typing import Any

from hmstats.model.catalog.names import table_name
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import BlameSum, Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.wire.idl import extension


def seen_to_thrift(seen: Seen) -> Any:
    """The struct of who was to blame in a query."""
    blame = seen.blame
    return extension.Blame(
        dbName=blame.table.database,
        tblName=blame.table.table,
        catName=blame.table.catalog,
        colName=blame.column,
        usedFor=blame.use.value,
        verdict=blame.verdict.value,
        engine=seen.engine,
        shape=seen.shape,
        seenAt=seen.at_ms,
        estimated=blame.estimated,
        numRows=blame.rows,
        factor=blame.factor,
        weight=blame.weight,
    )


def seen_from_thrift(struct: Any) -> Seen:
    """The blame found in a query. Raises ValueError for an unknown use or verdict."""
    table = table_name(struct.dbName, struct.tblName, struct.catName)
    column = struct.colName.lower() if struct.colName else None
    use, verdict = Use(struct.usedFor), Verdict(struct.verdict)
    blame = Blame(table, column, use, verdict, struct.estimated, struct.numRows, struct.factor, struct.weight)
    return Seen(blame, struct.engine, struct.shape, struct.seenAt)


def sum_to_thrift(found: BlameSum) -> Any:
    """The struct of all that a table or column is to blame for."""
    return extension.BlameSum(
        worst=seen_to_thrift(found.worst),
        queries=found.queries,
        weight=found.weight,
        lastSeenAt=found.last_ms,
        analyzedAt=found.analyzed_at_seconds,
    )


def sum_from_thrift(struct: Any) -> BlameSum:
    """All that a table or column is to blame for."""
    worst = seen_from_thrift(struct.worst)
    return BlameSum(worst, struct.queries, struct.weight, struct.lastSeenAt, struct.analyzedAt)
