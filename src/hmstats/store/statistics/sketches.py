"""Reads one kind of sketch of some columns, of many partitions, in batches of partitions.

A partition without any sketch has a row too, so that the caller sees what is missing.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Select, Table, and_, bindparam, null, select

from hmstats.sketch.distinct.bit_vector import is_absent
from hmstats.store.schema import HMSTATS_TOP_K, PART_COL_STATS, PARTITIONS, TAB_COL_STATS
from hmstats.store.statements import copied_rows
from hmstats.store.statements.value_sets import bound, one_of, one_of_bound
from hmstats.store.statistics.details import OF_TABLE

_ROWS_AT_ONCE = 500


class SketchKind(Enum):
    """The kinds of sketches; the value is the name for people."""

    BIT_VECTOR = "bit vector"
    HISTOGRAM = "histogram"
    TOP_K = "top-k sketch"


class StoredSketch(NamedTuple):
    """A sketch (`data`) of a column and a partition (None: of the table); `data` is None if there is none.

    `engine` is its writer's engine, `analyzed_seconds` the time of its statistics, in epoch seconds.
    """

    partition: str | None
    column: str | None
    engine: str | None
    analyzed_seconds: int
    data: bytes | None


def of_table(connection: Connection, table_id: int, columns: Sequence[str], kind: SketchKind) -> list[StoredSketch]:
    """A table's own sketches of these columns, of every engine."""
    table = HMSTATS_TOP_K if kind is SketchKind.TOP_K else TAB_COL_STATS
    query = select(null(), *_values(table, kind)).where(
        table.c.TBL_ID == table_id, one_of(connection, table.c.COLUMN_NAME, columns)
    )
    if table is HMSTATS_TOP_K:
        query = query.where(table.c.PART_ID == OF_TABLE)
    return [_parse_row(row) for row in connection.execute(query)]


def of_partitions(
    connection: Connection, table_id: int, names: Sequence[str] | None, columns: Sequence[str], kind: SketchKind
) -> Iterator[StoredSketch]:
    """Sketches of these columns and partitions (None: all), grouped by partition."""
    size = max(1, _ROWS_AT_ONCE // len(columns))
    if names is None:
        query = select(PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == table_id)
        names = connection.execute(query.order_by(PARTITIONS.c.PART_ID)).scalars().all()
    query = _of_named_partitions(connection.dialect.name, kind)
    parameters = {"table_id": table_id, "columns": bound(connection, columns)}
    for start in range(0, len(names), size):
        some = bound(connection, names[start : start + size])
        for row in copied_rows.rows(connection, query, {**parameters, "partitions": some}):
            yield _parse_row(row)


@lru_cache
def _of_named_partitions(dialect_name: str, kind: SketchKind) -> Select[Any]:
    table = HMSTATS_TOP_K if kind is SketchKind.TOP_K else PART_COL_STATS
    table_id = bindparam("table_id", type_=BigInteger())
    mine = and_(table.c.PART_ID == PARTITIONS.c.PART_ID, one_of_bound(dialect_name, table.c.COLUMN_NAME, "columns"))
    if table is HMSTATS_TOP_K:
        mine = and_(mine, table.c.TBL_ID == table_id)
    query = select(PARTITIONS.c.PART_NAME, *_values(table, kind)).select_from(PARTITIONS.outerjoin(table, mine))
    named = one_of_bound(dialect_name, PARTITIONS.c.PART_NAME, "partitions")
    return query.where(PARTITIONS.c.TBL_ID == table_id, named).order_by(PARTITIONS.c.PART_ID)


def _values(table: Table, kind: SketchKind) -> Sequence[Any]:
    """The columns for column name, engine, time and sketch."""
    if kind is SketchKind.TOP_K:
        return (table.c.COLUMN_NAME, table.c.ENGINE, null(), table.c.ITEMS)
    return (table.c.COLUMN_NAME, table.c.ENGINE, table.c.LAST_ANALYZED, table.c[kind.name])


def _parse_row(row: Any) -> StoredSketch:
    partition, column, engine, analyzed, data = row
    return StoredSketch(partition, column, engine, analyzed or 0, None if is_absent(data) else bytes(data))
