"""HMSTATS_HEALTH: stored health, and its sums over partitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, case, cast, delete, func, select

from hmstats.model.health.health import WHOLE, Health, Part, Reason, Size
from hmstats.store.schema import HMSTATS_HEALTH as HEALTH
from hmstats.store.schema import PARTITIONS, TBLS
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_KEY = ("TBL_ID", "PART_ID")
_ROWS_AT_ONCE = 5_000
"""Rows of a statement: each takes a kilobyte here."""
_H = HEALTH.c
COLUMNS = tuple(each for each in HEALTH.c if each.name not in (*_KEY, "VERSION"))
"""The columns that `parse_row` reads, in their order."""


def _total(column: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(cast(column, Double)), 0.0)


def _weighed(weight: ColumnElement[Any]) -> ColumnElement[Any]:
    return func.coalesce(func.sum(cast(_H.HEALTH, Double) * cast(weight, Double)), 0.0)


_SUMS: Mapping[str, ColumnElement[Any]] = {
    "partitions": func.count(),
    "stale": func.sum(case((_H.HEALTH < WHOLE, 1), else_=0)),
    "health": func.sum(_H.HEALTH),
    "knowing_rows": func.count(_H.NUM_ROWS),
    "rows": _total(_H.NUM_ROWS),
    "health_by_rows": _weighed(_H.NUM_ROWS),
    "knowing_bytes": func.count(_H.TOTAL_SIZE),
    "size_bytes": _total(_H.TOTAL_SIZE),
    "health_by_bytes": _weighed(_H.TOTAL_SIZE),
    "files": _total(_H.NUM_FILES),
    "columns": func.max(_H.NUM_COLUMNS),
    "analyzed": func.min(_H.ANALYZED_COLUMNS),
    "analyzed_at_seconds": func.min(_H.ANALYZED_AT),
    "stale_since_ms": func.min(_H.STALE_SINCE),
}
"""Field of `Part` to its sum over partitions. Totals are doubles, since PostgreSQL's sum of BIGINT is a decimal."""
_COUNTS = ("stale", "health", "rows", "size_bytes", "files")
"""The sums that are whole numbers and that a database may return as another type."""


def of_tables(connection: Connection, table_ids: Sequence[int]) -> dict[int, tuple[int, Health]]:
    """The stored health of tables with the version of the table that it was judged at, by id."""
    query = select(_H.TBL_ID, _H.VERSION, *COLUMNS).where(_H.PART_ID == OF_TABLE)
    rows = connection.execute(query.where(one_of(connection, _H.TBL_ID, table_ids)))
    return {row[0]: (row[1], parse_row(row[2:])) for row in rows}


def of_partitions(connection: Connection, tables_of: Mapping[int, int]) -> dict[tuple[int, int], Health]:
    """The stored health of partitions, given with their tables' ids, by ids of table and partition."""
    if not tables_of:
        return {}
    of_tables = one_of(connection, _H.TBL_ID, sorted({*tables_of.values()}))
    query = select(_H.TBL_ID, _H.PART_ID, *COLUMNS).where(of_tables, one_of(connection, _H.PART_ID, [*tables_of]))
    return {(row[0], row[1]): parse_row(row[2:]) for row in connection.execute(query)}


def put(unit: Unit, judged: Mapping[tuple[int, int], Health], versions: Mapping[int, int]) -> None:
    """Upsert health by ids of table and partition (OF_TABLE: the table), at these versions of the tables."""
    keys = sorted(judged)
    for start in range(0, len(keys), _ROWS_AT_ONCE):
        some = keys[start : start + _ROWS_AT_ONCE]
        upsert(unit, HEALTH, _KEY, _rows({each: judged[each] for each in some}, versions), _replaced)


def _rows(judged: Mapping[tuple[int, int], Health], versions: Mapping[int, int]) -> list[dict[str, Any]]:
    return [
        {
            "TBL_ID": table_id,
            "PART_ID": part_id,
            "VERSION": versions[table_id] if part_id == OF_TABLE else 0,
            "HEALTH": each.health,
            "REASON": each.reason.value,
            "NUM_ROWS": each.now.rows,
            "NUM_FILES": each.now.files,
            "TOTAL_SIZE": each.now.size_bytes,
            "ROWS_THEN": each.then.rows,
            "FILES_THEN": each.then.files,
            "SIZE_THEN": each.then.size_bytes,
            "MOVED_ROWS": each.moved_rows,
            "MARKED": each.marked,
            "NUM_COLUMNS": each.columns,
            "ANALYZED_COLUMNS": each.analyzed,
            "ANALYZED_AT": each.analyzed_at_seconds,
            "STALE_SINCE": each.stale_since_ms,
            "NUM_PARTITIONS": each.partitions,
            "STALE_PARTITIONS": each.stale_partitions,
        }
        for (table_id, part_id), each in judged.items()
    ]


def _replaced(_old: Any, new: Any) -> Mapping[str, Any]:
    return {each.name: new[each.name] for each in HEALTH.c if each.name not in _KEY}


def sums(connection: Connection, table_ids: Sequence[int]) -> dict[int, list[Part]]:
    """The partitions of tables, summed by reason."""
    query = (
        select(_H.TBL_ID, _H.REASON, *_SUMS.values())
        .where(_H.PART_ID != OF_TABLE, one_of(connection, _H.TBL_ID, table_ids))
        .group_by(_H.TBL_ID, _H.REASON)
    )
    parts: dict[int, list[Part]] = {}
    for table_id, reason, *values in connection.execute(query):
        numbers = dict(zip(_SUMS, values, strict=True))
        counts = {name: int(numbers[name]) for name in _COUNTS}
        parts.setdefault(table_id, []).append(Part(Reason(reason), **(numbers | counts)))
    return parts


def forget_gone(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove the health of partitions that these tables no longer have."""
    p = PARTITIONS.c
    there = select(p.PART_ID).where(p.PART_ID == _H.PART_ID, p.TBL_ID == _H.TBL_ID)
    gone = delete(HEALTH).where(one_of(unit.connection, _H.TBL_ID, table_ids), _H.PART_ID != OF_TABLE)
    unit.connection.execute(gone.where(~there.exists()))


def forget_dropped(unit: Unit) -> None:
    """Remove the health of tables that no longer exist."""
    there = select(TBLS.c.TBL_ID).where(TBLS.c.TBL_ID == _H.TBL_ID)
    unit.connection.execute(delete(HEALTH).where(~there.exists()))


def parse_row(row: Sequence[Any]) -> Health:
    """The health in a row of COLUMNS."""
    health, reason, rows, files, size, rows_then, files_then, size_then, *rest = row
    return Health(health, Reason(reason), Size(rows, files, size), Size(rows_then, files_then, size_then), *rest)
