"""Reads column statistics of a table or partition by its name, in one statement with the table's version.

This answers most requests. If a name does not match exactly as written, or a column does not exist, the caller
uses the ordinary way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import CTE, BigInteger, Engine, Select, and_, bindparam, literal_column, null, select

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.flat_statistics import FlatColumns
from hmstats.store.changes import versions
from hmstats.store.schema import DBS, PART_COL_STATS, PARTITION_PARAMS, PARTITIONS, TAB_COL_STATS, TABLE_PARAMS, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements.single_read import OneOf, SingleRead, listed
from hmstats.store.statistics import statistics_rows
from hmstats.store.statistics.statistics_rows import DESCRIBED, SKETCHES, VALUES

_ROWS: Any = literal_column("'numRows'")
_ENGINE, _ANALYZED = len(VALUES), len(VALUES) + 1
_PARTITION, _TABLE_ID, _VERSION, _NUM_ROWS = range(-4, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedColumns(FlatColumns):
    """Columns' statistics, and texts of numRows by partition name ("" for the table's own), at a table's version."""

    rows: Mapping[str, str | None]
    table_id: int
    version: int


def of_table(engine: Engine, name: TableName, columns: Sequence[str], *, sketches: bool) -> VersionedColumns | None:
    """A table's own statistics of these columns by every engine; None if there are none. Notes the version."""
    return _read(engine, _OF_TABLE[sketches], name, columns, {})


def of_partition(
    engine: Engine, name: TableName, partition: str, columns: Sequence[str], *, sketches: bool
) -> VersionedColumns | None:
    """A partition's statistics of these columns by every engine; None if there are none. Notes the version.

    The partition's name must be as stored.
    """
    return _read(engine, _OF_PARTITION[sketches], name, columns, {"partition": partition})


def of_partitions(
    engine: Engine, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None, *, sketches: bool
) -> VersionedColumns | None:
    """Statistics of partitions of a table by every engine, of these columns (None: all). Notes no version.

    None if the table does not exist.
    """
    values = {"table_id": table_id, "partitions": listed(engine, partitions)}
    if columns is not None:
        values["columns"] = listed(engine, columns)
    rows = _OF_PARTITIONS[sketches, columns is None].rows(engine, values)
    if not rows:
        return None
    version = rows[0][_VERSION]
    if rows[0][_PARTITION] is None:
        rows = []
    counts = {row[_PARTITION]: row[_NUM_ROWS] for row in rows}
    return _columns(rows, counts, table_id, version)


def _read(
    engine: Engine, read: SingleRead, name: TableName, columns: Sequence[str], more: dict[str, str]
) -> VersionedColumns | None:
    named = {"catalog": name.catalog, "database": name.database, "table": name.table}
    rows = read.rows(engine, {**named, **more, "columns": listed(engine, columns)})
    if not rows:
        return None
    first = rows[0]
    table_id, version = first[_TABLE_ID], first[_VERSION]
    versions.note_read(table_id, version, [more["partition"]] if more else ())
    return _columns(rows, {first[_PARTITION]: first[_NUM_ROWS]}, table_id, version)


def _columns(
    rows: Sequence[tuple[Any, ...]], counts: Mapping[str, str | None], table_id: int, version: int
) -> VersionedColumns:
    partitions, engines, analyzed = ([row[index] for row in rows] for index in (_PARTITION, _ENGINE, _ANALYZED))
    return VersionedColumns(
        statistics=statistics_rows.flat_statistics(rows),
        partitions=partitions,
        engines=engines,
        analyzed_seconds=analyzed,
        rows=counts,
        table_id=table_id,
        version=version,
    )


def _values(table: Any, *, sketches: bool) -> list[Any]:
    values = [table.c[name] if sketches or name not in SKETCHES else null() for name in VALUES]
    return [*values, *(table.c[name] for name in DESCRIBED)]


def _table_facts(query: Select[Any]) -> CTE:
    """The table's facts as a CTE that is looked up once, not again for each row of statistics."""
    by_name = query.where(
        DBS.c.NAME == bindparam("database"),
        DBS.c.CTLG_NAME == bindparam("catalog"),
        TBLS.c.TBL_NAME == bindparam("table"),
    )
    return by_name.cte("found").prefix_with("MATERIALIZED", dialect="postgresql")


def _table_query(one_of: OneOf, *, sketches: bool) -> Select[Any]:
    s, p = TAB_COL_STATS.c, TABLE_PARAMS.c
    tables = (
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .join(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
        .outerjoin(TABLE_PARAMS, and_(p.TBL_ID == TBLS.c.TBL_ID, p.PARAM_KEY == _ROWS))
    )
    facts = _table_facts(select(TBLS.c.TBL_ID, VERSIONS.c.VERSION, p.PARAM_VALUE).select_from(tables))
    described = [literal_column("''"), facts.c.TBL_ID, facts.c.VERSION, facts.c.PARAM_VALUE]
    read = facts.join(TAB_COL_STATS, and_(s.TBL_ID == facts.c.TBL_ID, one_of(s.COLUMN_NAME, "columns")))
    return select(*_values(TAB_COL_STATS, sketches=sketches), *described).select_from(read)


def _partition_query(one_of: OneOf, *, sketches: bool) -> Select[Any]:
    s, p, n = PART_COL_STATS.c, PARTITIONS.c, PARTITION_PARAMS.c
    tables = (
        TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .join(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID)
        .join(PARTITIONS, and_(p.TBL_ID == TBLS.c.TBL_ID, p.PART_NAME == bindparam("partition")))
        .outerjoin(PARTITION_PARAMS, and_(n.PART_ID == p.PART_ID, n.PARAM_KEY == _ROWS))
    )
    described = [p.PART_NAME, TBLS.c.TBL_ID, VERSIONS.c.VERSION, n.PARAM_VALUE]
    facts = _table_facts(select(p.PART_ID, *described).select_from(tables))
    read = facts.join(PART_COL_STATS, and_(s.PART_ID == facts.c.PART_ID, one_of(s.COLUMN_NAME, "columns")))
    values = _values(PART_COL_STATS, sketches=sketches)
    return select(*values, *(facts.c[column.name] for column in described)).select_from(read)


def _partitions_query(one_of: OneOf, *, sketches: bool, every: bool) -> Select[Any]:
    """The query for partitions; if the table exists it has at least one row, with the version alone if all lack any."""
    s, p, n = PART_COL_STATS.c, PARTITIONS.c, PARTITION_PARAMS.c
    here = [s.PART_ID == p.PART_ID] if every else [s.PART_ID == p.PART_ID, one_of(s.COLUMN_NAME, "columns")]
    stored = PARTITIONS.join(PART_COL_STATS, and_(*here))
    tables = VERSIONS.outerjoin(
        stored, and_(p.TBL_ID == bindparam("table_id", type_=BigInteger()), one_of(p.PART_NAME, "partitions"))
    ).outerjoin(PARTITION_PARAMS, and_(n.PART_ID == p.PART_ID, n.PARAM_KEY == _ROWS))
    described = [p.PART_NAME, VERSIONS.c.TBL_ID, VERSIONS.c.VERSION, n.PARAM_VALUE]
    query = select(*_values(PART_COL_STATS, sketches=sketches), *described).select_from(tables)
    return query.where(VERSIONS.c.TBL_ID == bindparam("table_id", type_=BigInteger()))


_OF_TABLE = {each: SingleRead(partial(_table_query, sketches=each)) for each in (True, False)}
_OF_PARTITION = {each: SingleRead(partial(_partition_query, sketches=each)) for each in (True, False)}
"""Queries by `sketches`: whether sketches are read."""
_OF_PARTITIONS = {
    (sketches, every): SingleRead(partial(_partitions_query, sketches=sketches, every=every))
    for sketches in (True, False)
    for every in (True, False)
}
"""Queries by `sketches` and `every`: whether sketches are read, and every column."""
