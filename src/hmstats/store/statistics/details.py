"""Details of column statistics: HMSTATS_COLUMN_PROVENANCE, and HMSTATS_TOP_K with a row for each column.

Both have in their key the table's id, the partition's id (OF_TABLE for the table's own statistics) and the
engine. Statistics may have no such rows, or provenance that is older than they are, if another program or a
server of the version before wrote them. Older provenance is not read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, Text, and_, case, cast, delete, func, literal, null, select

from hmstats.model.statistics.provenance import Provenance
from hmstats.store.beside_hive.adapted_statements import is_adapted
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE, HMSTATS_TOP_K, PART_COL_STATS, PARTITIONS, TAB_COL_STATS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import provenance
from hmstats.store.unit.unit import Unit

OF_TABLE = 0
"""The partition id in rows about a table's own statistics."""
_ROWS_AT_ONCE = 500


class Details(NamedTuple):
    """Details of one column's statistics, of the table (`partition` is None) or of a partition, by one engine.

    `top_k` is a sketch as bytes.
    """

    partition: str | None
    column: str
    engine: str
    top_k: bytes | None
    provenance: Provenance | None


def read_table(connection: Connection, table_id: int, columns: Sequence[str] | None) -> list[Details]:
    """The details of a table's own statistics, of these columns (None: all) and every engine."""
    s = TAB_COL_STATS.c
    query = _query(connection, table_id, TAB_COL_STATS, literal(OF_TABLE), null(), columns)
    query = query.where(s.TBL_ID == table_id)
    return list(_details(connection, connection.execute(query.order_by(s.ENGINE, s.COLUMN_NAME))))


def read_partitions(
    connection: Connection, table_id: int, names: Sequence[str] | None, columns: Sequence[str] | None
) -> Iterator[Details]:
    """The details of partitions' statistics (None: all), in the order of their names; one statement, streamed."""
    s, name = PART_COL_STATS.c, PARTITIONS.c.PART_NAME
    query = _query(connection, table_id, PART_COL_STATS, s.PART_ID, name, columns)
    query = query.join(PARTITIONS, PARTITIONS.c.PART_ID == s.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    if names is not None:
        query = query.where(one_of(connection, name, names))
    query = query.order_by(by_bytes(connection, name), s.ENGINE, s.COLUMN_NAME)
    rows = connection.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE})
    return _details(connection, rows)


def delete_tables(unit: Unit, table_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None) -> None:
    """Delete details of tables' own statistics, of these columns (None: all) and this engine (None: all)."""

    def mine(table: Table) -> ColumnElement[bool]:
        return and_(one_of(unit.connection, table.c.TBL_ID, table_ids), table.c.PART_ID == OF_TABLE)

    _delete(unit, mine, columns, engine)


def delete_partitions(
    unit: Unit, partition_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> None:
    """Delete details of partitions' statistics, of these columns (None: all) and this engine (None: all)."""
    _delete(unit, lambda table: one_of(unit.connection, table.c.PART_ID, partition_ids), columns, engine)


def _delete(
    unit: Unit, mine: Callable[[Table], ColumnElement[bool]], columns: Sequence[str] | None, engine: str | None
) -> None:
    provenance_rows, sketches = (
        mine(table) if engine is None else and_(mine(table), table.c.ENGINE == engine)
        for table in (HMSTATS_COLUMN_PROVENANCE, HMSTATS_TOP_K)
    )
    if columns is not None:
        sketches = and_(sketches, one_of(unit.connection, HMSTATS_TOP_K.c.COLUMN_NAME, columns))
    provenance.remove(unit, provenance_rows, columns)
    unit.connection.execute(delete(HMSTATS_TOP_K).where(sketches))


def _query(
    connection: Connection,
    table_id: int,
    statistics: Table,
    partition_id: ColumnElement[int],
    partition: ColumnElement[Any],
    columns: Sequence[str] | None,
) -> Any:
    """The query for `_details`; the first row of each partition and engine has the text of the provenance."""
    s, p, t = statistics.c, HMSTATS_COLUMN_PROVENANCE.c, HMSTATS_TOP_K.c
    first = func.row_number().over(partition_by=[partition, s.ENGINE], order_by=s.COLUMN_NAME) == 1
    provenance_text = case((first, func.coalesce(cast(p.BY_COLUMN, Text), provenance.EMPTY)))

    def mine(c: Any) -> ColumnElement[bool]:
        return and_(c.TBL_ID == table_id, c.PART_ID == partition_id, c.ENGINE == s.ENGINE)

    query = select(provenance_text, partition, s.COLUMN_NAME, s.ENGINE, s.LAST_ANALYZED, t.ITEMS).select_from(
        statistics
    )
    query = query.outerjoin(HMSTATS_COLUMN_PROVENANCE, mine(p))
    query = query.outerjoin(HMSTATS_TOP_K, and_(mine(t), t.COLUMN_NAME == s.COLUMN_NAME))
    return query if columns is None else query.where(one_of(connection, s.COLUMN_NAME, columns))


def _details(connection: Connection, rows: Iterable[Any]) -> Iterator[Details]:
    by_column: Mapping[str, Provenance] = {}
    beside_hive = is_adapted(connection.engine)
    for text, partition, column, engine, analyzed, sketch in rows:
        if text is not None:
            by_column = provenance.read(text)
        stored = by_column.get(column)
        if stored and (stored.written_at_seconds or 0) < analyzed:
            stored = None
        if stored is None and (sketch is None or beside_hive):  # Hive does not delete the old statistics' sketch
            continue
        yield Details(partition, column, engine, None if sketch is None else bytes(sketch), stored)
