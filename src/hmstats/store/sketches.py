"""One kind of sketch of one column, of many partitions: a single statement, whose rows are read as they are used.

A partition without the sketch has a row too, so that a reader sees what is missing.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, and_, null, select

from hmstats.sketch.bit_vector import is_absent
from hmstats.store.details import OF_TABLE
from hmstats.store.schema import HMSTATS_TOP_K, PART_COL_STATS, PARTITIONS, TAB_COL_STATS
from hmstats.store.sets import one_of

_ROWS_AT_ONCE = 256


class What(Enum):
    """The kinds of sketches; the value is what a person calls it."""

    BIT_VECTOR = "bit vector"
    HISTOGRAM = "histogram"
    TOP_K = "top-k sketch"


class Stored(NamedTuple):
    """A sketch of a partition (None: of the table), or None where there is none; of which engine, and when made."""

    partition: str | None
    engine: str | None
    analyzed_seconds: int
    data: bytes | None


def of_table(connection: Connection, table_id: int, column: str, what: What) -> list[Stored]:
    """A table's own sketches of a column, of every engine."""
    table = HMSTATS_TOP_K if what is What.TOP_K else TAB_COL_STATS
    query = select(null(), *_values(table, what)).where(table.c.TBL_ID == table_id, table.c.COLUMN_NAME == column)
    if table is HMSTATS_TOP_K:
        query = query.where(table.c.PART_ID == OF_TABLE)
    return [_stored(row) for row in connection.execute(query)]


def of_partitions(
    connection: Connection, table_id: int, names: Sequence[str] | None, column: str, what: What
) -> Iterator[Stored]:
    """The same of partitions (None: all); those of one partition come together."""
    table = HMSTATS_TOP_K if what is What.TOP_K else PART_COL_STATS
    mine = and_(table.c.PART_ID == PARTITIONS.c.PART_ID, table.c.COLUMN_NAME == column)
    if table is HMSTATS_TOP_K:
        mine = and_(mine, table.c.TBL_ID == table_id)
    query = (
        select(PARTITIONS.c.PART_NAME, *_values(table, what))
        .select_from(PARTITIONS.outerjoin(table, mine))
        .where(PARTITIONS.c.TBL_ID == table_id)
        .order_by(PARTITIONS.c.PART_ID)
    )
    if names is not None:
        query = query.where(one_of(connection, PARTITIONS.c.PART_NAME, names))
    return (_stored(row) for row in connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}))


def _values(table: Table, what: What) -> Sequence[Any]:
    """Engine, time and sketch."""
    if what is What.TOP_K:
        return (table.c.ENGINE, null(), table.c.ITEMS)
    return (table.c.ENGINE, table.c.LAST_ANALYZED, table.c[what.name])


def _stored(row: Any) -> Stored:
    partition, engine, analyzed, data = row
    return Stored(partition, engine, analyzed or 0, None if is_absent(data) else bytes(data))
