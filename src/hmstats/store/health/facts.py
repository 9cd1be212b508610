"""Reads the stored facts of tables and partitions that the health of their statistics depends on.

A statement a kind of fact, whatever the number of tables and partitions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, distinct, func, select, text

from hmstats.model.catalog.objects import LAST_DDL, VIRTUAL_VIEW, Parameters
from hmstats.model.health.health import Facts, Size
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS, row_count
from hmstats.model.spark.spark_schema import PROVIDER
from hmstats.model.statistics.column_types import kind_of
from hmstats.store.health.rewritten import Rewritten
from hmstats.store.schema import (
    COLUMNS_V2,
    HMSTATS_TABLE_VERSION,
    PART_COL_STATS,
    PARTITION_KEYS,
    PARTITIONS,
    SDS,
    TAB_COL_STATS,
    TBLS,
)
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES, ParameterTable

_KEYS = (NUM_ROWS, NUM_FILES, TOTAL_SIZE, PARAMETER, LAST_DDL)


@dataclass(frozen=True, slots=True)
class HealthTable:
    """A table whose health is kept. `columns` is the number of columns that can have statistics."""

    id: int
    version: int
    partitioned: bool
    columns: int


@dataclass(frozen=True, slots=True)
class HealthPartition:
    """A partition, with its table."""

    id: int
    table: HealthTable


def tables(connection: Connection, table_ids: Sequence[int]) -> list[HealthTable]:
    """The tables with these ids that exist and are no views."""
    keys = select(PARTITION_KEYS.c.TBL_ID).where(PARTITION_KEYS.c.TBL_ID == TBLS.c.TBL_ID).exists()
    query = (
        select(TBLS.c.TBL_ID, HMSTATS_TABLE_VERSION.c.VERSION, keys.label("PARTITIONED"))
        .select_from(TBLS.outerjoin(HMSTATS_TABLE_VERSION, HMSTATS_TABLE_VERSION.c.TBL_ID == TBLS.c.TBL_ID))
        .where(one_of(connection, TBLS.c.TBL_ID, table_ids), TBLS.c.TBL_TYPE != VIRTUAL_VIEW)
    )
    rows = connection.execute(query).all()
    columns = _columns(connection, table_ids)
    return [HealthTable(row.TBL_ID, row.VERSION or 0, bool(row.PARTITIONED), columns[row.TBL_ID]) for row in rows]


def _columns(connection: Connection, table_ids: Sequence[int]) -> Counter[int]:
    """The number of columns that can have statistics, by table."""
    query = (
        select(TBLS.c.TBL_ID, COLUMNS_V2.c.TYPE_NAME, func.count())
        .select_from(TBLS.join(SDS, SDS.c.SD_ID == TBLS.c.SD_ID).join(COLUMNS_V2, COLUMNS_V2.c.CD_ID == SDS.c.CD_ID))
        .where(one_of(connection, TBLS.c.TBL_ID, table_ids))
        .group_by(TBLS.c.TBL_ID, COLUMNS_V2.c.TYPE_NAME)
    )
    found = Counter[int]()
    for table_id, kind, number in connection.execute(query):
        if kind_of(kind or "") is not None:
            found[table_id] += number
    return found


def partitions(
    connection: Connection, whole: Sequence[HealthTable], named: Mapping[HealthTable, Sequence[str]]
) -> list[HealthPartition]:
    """The partitions of whole tables, and those of other tables that are named and exist."""
    p, by_id = PARTITIONS.c, {each.id: each for each in (*whole, *named)}
    query = select(p.PART_ID, p.TBL_ID)
    found: list[Any] = []
    if whole:
        found += connection.execute(query.where(one_of(connection, p.TBL_ID, [each.id for each in whole])))
    for table, names in named.items():
        found += connection.execute(query.where(p.TBL_ID == table.id, one_of(connection, p.PART_NAME, names)))
    return [HealthPartition(part_id, by_id[table_id]) for part_id, table_id in found]


def of_tables(
    connection: Connection, given: Sequence[HealthTable], written: Mapping[tuple[int, int], Rewritten]
) -> dict[int, Facts]:
    """The facts of tables without partitions, by their ids; `written` is what was rewritten since the last look."""
    ids = [each.id for each in given]
    stored = _statistics(connection, TAB_COL_STATS.c.TBL_ID, TAB_COL_STATS, ids)
    seen = _rows_seen(connection, "TBL_ID", ids)
    described = _parameters(connection, OF_TABLES, ids, (*_KEYS, PROVIDER))
    return {
        each.id: _facts(
            each,
            described.get(each.id, {}),
            stored.get(each.id),
            seen.get(each.id),
            written.get((each.id, OF_TABLE)),
        )
        for each in given
    }


def of_partitions(
    connection: Connection, given: Sequence[HealthPartition], written: Mapping[tuple[int, int], Rewritten]
) -> dict[int, Facts]:
    """The facts of partitions, by their ids; `written` is what was rewritten since the last look."""
    ids = [each.id for each in given]
    stored = _statistics(connection, PART_COL_STATS.c.PART_ID, PART_COL_STATS, ids)
    seen = _rows_seen(connection, "PART_ID", ids)
    described = _parameters(connection, OF_PARTITIONS, ids, _KEYS)
    return {
        each.id: _facts(
            each.table,
            described.get(each.id, {}),
            stored.get(each.id),
            seen.get(each.id),
            written.get((each.table.id, each.id)),
        )
        for each in given
    }


def _parameters(
    connection: Connection, of: ParameterTable, ids: Sequence[int], keys: Sequence[str]
) -> dict[int, dict[str, str]]:
    return parameters.read(connection, of, ids, keys) if ids else {}


def _statistics(
    connection: Connection, owner: ColumnElement[Any], table: Any, ids: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """The number of columns with statistics of any engine, and the time of the oldest, by owner."""
    if not ids:
        return {}
    number, oldest = func.count(distinct(table.c.COLUMN_NAME)), func.min(table.c.LAST_ANALYZED)
    query = select(owner, number, oldest).where(one_of(connection, owner, ids)).group_by(owner)
    return {each: (columns, at) for each, columns, at in connection.execute(query)}


_SEEN = {
    "sqlite": """
        SELECT "{owner}", MIN(json_extract(e.value, '$[5]')) FROM "HMSTATS_COLUMN_PROVENANCE", json_each("BY_COLUMN") e
        WHERE "{owner}" IN (SELECT value FROM json_each(:ids)) {own} AND json_extract(e.value, '$[6]') = 1
        GROUP BY "{owner}"
    """,
    "postgresql": """
        SELECT "{owner}", MIN((e.value ->> 5)::bigint) FROM "HMSTATS_COLUMN_PROVENANCE", jsonb_each("BY_COLUMN") e
        WHERE "{owner}" = ANY((:ids)::bigint[]) {own} AND (e.value ->> 6)::float8 = 1 GROUP BY "{owner}"
    """,
}
"""The rows of which statistics of all rows were made: positions 5 and 6 of provenance._FIELDS."""


def _rows_seen(connection: Connection, owner: str, ids: Sequence[int]) -> dict[int, int]:
    """The rows that statistics of all rows were made of, where their writer has said it, by owner."""
    if not ids:
        return {}
    dialect = connection.dialect.name
    own = f'AND "PART_ID" = {OF_TABLE}' if owner == "TBL_ID" else ""
    listed = ",".join(map(str, ids))
    bound = f"[{listed}]" if dialect == "sqlite" else f"{{{listed}}}"
    rows = connection.execute(text(_SEEN[dialect].format(owner=owner, own=own)), {"ids": bound})
    return {each: seen for each, seen in rows if seen is not None}


def _facts(
    table: HealthTable,
    known: Parameters,
    stored: tuple[int, int] | None,
    seen: int | None,
    written: Rewritten | None,
) -> Facts:
    analyzed, at_seconds = stored or (0, None)
    marks = Accurate.parse(known.get(PARAMETER))
    is_whole = written is not None and (written.columns is None or written.columns >= analyzed)
    marked = analyzed > 0 and len(marks.columns) >= analyzed
    then = {**known, **written.then} if written is not None and is_whole else None
    columns = table.columns
    if PROVIDER in known and not columns:  # Spark keeps the columns of such a table in its parameters
        columns = max(analyzed, 1)
    return Facts(
        _size(known),
        columns,
        min(analyzed, columns),
        counted=marks.basic,
        marked=marked,
        withdrawn=not marked and then is not None and 0 < analyzed <= len(Accurate.parse(then.get(PARAMETER)).columns),
        analyzed_at_seconds=at_seconds,
        seen_rows=seen if analyzed else None,
        changed_at_seconds=None if written is not None and written.untouched else row_count(known.get(LAST_DDL)),
        rewritten=is_whole,
        then=None if then is None else _size(then),
    )


def _size(known: Mapping[str, str | None]) -> Size:
    return Size(*(row_count(known.get(key)) for key in (NUM_ROWS, NUM_FILES, TOTAL_SIZE)))
