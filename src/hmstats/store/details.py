"""What is kept beside column statistics, in HMSTATS_PROVENANCE and HMSTATS_TOP_K: both have one key.

The key is the table's id, the partition's id (OF_TABLE where the statistics are the table's own), the column's name and
the engine. Statistics without such rows are possible: another program may have written them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, null, select

from hmstats.model.provenance import Provenance
from hmstats.store import provenance
from hmstats.store.schema import HMSTATS_PROVENANCE, HMSTATS_TOP_K, PARTITIONS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit

OF_TABLE = 0
"""Stands where a partition's id would."""
_ROWS_AT_ONCE = 500


class Details(NamedTuple):
    """What is kept beside one column's statistics of the table (`partition` is None) or of a partition, of one engine.

    `top_k` is a sketch.
    """

    partition: str | None
    column: str
    engine: str
    top_k: bytes | None
    provenance: Provenance


def read_table(connection: Connection, table_id: int, columns: Sequence[str] | None) -> list[Details]:
    """The details of a table's own statistics, of these columns (None: all) and every engine."""
    p = HMSTATS_PROVENANCE.c
    query = _query(connection, null(), columns).where(p.TBL_ID == table_id, p.PART_ID == OF_TABLE)
    return [_details(row) for row in connection.execute(query)]


def read_partitions(
    connection: Connection, table_id: int, names: Sequence[str] | None, columns: Sequence[str] | None
) -> Iterator[Details]:
    """The same of partitions (None: all), in the order of their names; one statement, read as it is used."""
    p = HMSTATS_PROVENANCE.c
    query = _query(connection, PARTITIONS.c.PART_NAME, columns).where(p.TBL_ID == table_id)
    query = query.join(PARTITIONS, PARTITIONS.c.PART_ID == p.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    if names is not None:
        query = query.where(one_of(connection, PARTITIONS.c.PART_NAME, names))
    rows = connection.execute(query.order_by(PARTITIONS.c.PART_NAME), execution_options={"yield_per": _ROWS_AT_ONCE})
    return (_details(row) for row in rows)


def delete_tables(unit: Unit, table_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None) -> None:
    """Delete details of tables' own statistics, of these columns (None: all) and this engine (None: all)."""
    for table in (HMSTATS_PROVENANCE, HMSTATS_TOP_K):
        mine = and_(one_of(unit.connection, table.c.TBL_ID, table_ids), table.c.PART_ID == OF_TABLE)
        _delete(unit, table, mine, columns, engine)


def delete_partitions(
    unit: Unit, partition_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> None:
    """Delete details of partitions' statistics, of these columns (None: all) and this engine (None: all)."""
    for table in (HMSTATS_PROVENANCE, HMSTATS_TOP_K):
        _delete(unit, table, one_of(unit.connection, table.c.PART_ID, partition_ids), columns, engine)


def _delete(
    unit: Unit, table: Table, mine: ColumnElement[bool], columns: Sequence[str] | None, engine: str | None
) -> None:
    statement: Any = delete(table).where(mine)
    if columns is not None:
        statement = statement.where(one_of(unit.connection, table.c.COLUMN_NAME, columns))
    unit.connection.execute(statement if engine is None else statement.where(table.c.ENGINE == engine))


def _query(connection: Connection, partition: ColumnElement[Any], columns: Sequence[str] | None) -> Any:
    p, t = HMSTATS_PROVENANCE.c, HMSTATS_TOP_K.c
    same = and_(*(p[name] == t[name] for name in provenance.KEY))
    query = select(partition, p.COLUMN_NAME, p.ENGINE, t.ITEMS, *provenance.values())
    query = query.select_from(HMSTATS_PROVENANCE.outerjoin(HMSTATS_TOP_K, same))
    return query if columns is None else query.where(one_of(connection, p.COLUMN_NAME, columns))


def _details(row: Any) -> Details:
    partition, column, engine, sketch, *made = row
    return Details(partition, column, engine, None if sketch is None else bytes(sketch), provenance.from_row(made))
