"""HMSTATS_BLAME: who was to blame for wrong estimates, each shape of query once a day."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select

from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import BlameSum, Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.store.schema import DBS, HMSTATS_BLAME, HMSTATS_HEALTH, TBLS
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_B = HMSTATS_BLAME.c
_DAY_MS = 86_400_000


def record(unit: Unit, seen: Sequence[Seen]) -> int:
    """Store blame; the last entry of a shape, day, column and use replaces earlier ones. Returns the number of rows."""
    rows = {_id(each): _row(each) for each in seen}
    upsert(unit, HMSTATS_BLAME, ["BLAME_ID"], [rows[each] for each in sorted(rows)], _replaced)
    return len(rows)


def _replaced(_old: Any, new: Any) -> Mapping[str, Any]:
    return {name: new[name] for name in ("VERDICT", "SEEN_AT", "ESTIMATED", "NUM_ROWS", "FACTOR", "WEIGHT")}


def _id(each: Seen) -> str:
    blame = each.blame
    parts = (each.at_ms // _DAY_MS, each.shape, str(blame.table), blame.column or "", blame.use.value)
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=20).hexdigest()


def _row(each: Seen) -> dict[str, Any]:
    blame = each.blame
    return {
        "BLAME_ID": _id(each),
        "CAT_NAME": blame.table.catalog,
        "DB_NAME": blame.table.database,
        "TBL_NAME": blame.table.table,
        "COLUMN_NAME": blame.column,
        "USED_FOR": blame.use.value,
        "VERDICT": blame.verdict.value,
        "ENGINE": each.engine,
        "SHAPE": each.shape,
        "SEEN_AT": each.at_ms,
        "ESTIMATED": blame.estimated,
        "NUM_ROWS": blame.rows,
        "FACTOR": blame.factor,
        "WEIGHT": blame.weight,
    }


def sums(
    connection: Connection,
    catalog: str,
    databases: Sequence[str] | None,
    tables: Sequence[str] | None,
    since_ms: int,
    most: int,
) -> list[BlameSum]:
    """Who is to blame most, in these databases and tables (None: all), for queries since a time."""
    group = (_B.DB_NAME, _B.TBL_NAME, _B.COLUMN_NAME, _B.USED_FOR, _B.VERDICT)
    query = select(
        HMSTATS_BLAME,
        func.count().over(partition_by=group).label("QUERIES"),
        func.sum(_B.WEIGHT).over(partition_by=group).label("WEIGHTS"),
        func.max(_B.SEEN_AT).over(partition_by=group).label("LAST"),
        func.row_number().over(partition_by=group, order_by=(_B.WEIGHT.desc(), _B.BLAME_ID)).label("PLACE"),
    ).where(_B.CAT_NAME == catalog, since_ms <= _B.SEEN_AT)
    if databases is not None:
        query = query.where(one_of(connection, _B.DB_NAME, databases))
    if tables is not None:
        query = query.where(one_of(connection, _B.TBL_NAME, tables))
    found = query.subquery("found")
    f = found.c
    whole = (
        select(found, HMSTATS_HEALTH.c.ANALYZED_AT)
        .select_from(
            found.join(DBS, and_(DBS.c.CTLG_NAME == f.CAT_NAME, DBS.c.NAME == f.DB_NAME))
            .join(TBLS, and_(TBLS.c.DB_ID == DBS.c.DB_ID, TBLS.c.TBL_NAME == f.TBL_NAME))
            .outerjoin(
                HMSTATS_HEALTH, and_(HMSTATS_HEALTH.c.TBL_ID == TBLS.c.TBL_ID, HMSTATS_HEALTH.c.PART_ID == OF_TABLE)
            )
        )
        .where(f.PLACE == 1)
        .order_by(f.WEIGHTS.desc(), f.BLAME_ID)
        .limit(most)
    )
    return [_sum(each) for each in connection.execute(whole)]


def tables_of(connection: Connection, catalog: str, databases: Sequence[str] | None, since_ms: int) -> list[str]:
    """The names of tables, in these databases (None: all), that were to blame since a time."""
    query = select(_B.TBL_NAME).distinct().where(_B.CAT_NAME == catalog, since_ms <= _B.SEEN_AT)
    if databases is not None:
        query = query.where(one_of(connection, _B.DB_NAME, databases))
    return sorted(connection.execute(query).scalars())


def _sum(row: Any) -> BlameSum:
    table = TableName(row.CAT_NAME, row.DB_NAME, row.TBL_NAME)
    use, verdict = Use(row.USED_FOR), Verdict(row.VERDICT)
    blame = Blame(table, row.COLUMN_NAME, use, verdict, row.ESTIMATED, row.NUM_ROWS, row.FACTOR, row.WEIGHT)
    worst = Seen(blame, row.ENGINE, row.SHAPE, row.SEEN_AT)
    return BlameSum(worst, row.QUERIES, row.WEIGHTS, row.LAST, row.ANALYZED_AT)


def remove_older(unit: Unit, before_ms: int) -> int:
    """Remove what queries before a time were to blame for. Returns the number of rows."""
    return unit.connection.execute(delete(HMSTATS_BLAME).where(before_ms > _B.SEEN_AT)).rowcount
