"""Column statistics: TAB_COL_STATS and PART_COL_STATS.

One statement reads or writes all partitions and columns of a call. A write is an upsert by (table or partition,
column, engine) that keeps a stored value where the new one is unknown, as Hive does; where the column's type changed,
the whole row is new. Rows carry ids and names, since Hive 2.3 to 4.0 look statistics up by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from sqlalchemy import Column, Connection, Table, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import (
    DATA_CLASSES,
    ColumnStatistics,
    Data,
    Kind,
    StatisticsSet,
)
from hmstats.model.column_types import kind_of
from hmstats.store.ids import Sequence as IdSequence
from hmstats.store.schema import PART_COL_STATS, PARTITIONS, TAB_COL_STATS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit

_UNKNOWN_NULLS = -1
"""NUM_NULLS may not be NULL in Hive's tables; Hive and Impala write -1 for unknown."""

_NO_BIT_VECTOR = b"HL"
"""What Hive on PostgreSQL stores for no bit vector."""

_COUNTED = {"nulls": "NUM_NULLS", "ndv": "NUM_DISTINCTS", "bit_vector": "BIT_VECTOR"}
_LENGTHS = {"max_length": "MAX_COL_LEN", "average_length": "AVG_COL_LEN"}


def _bounded(prefix: str) -> dict[str, str]:
    bounds = {"low": f"{prefix}_LOW_VALUE", "high": f"{prefix}_HIGH_VALUE"}
    return {**bounds, **_COUNTED, "histogram": "HISTOGRAM"}


_COLUMNS: dict[Kind, dict[str, str]] = {
    Kind.BOOLEAN: {"trues": "NUM_TRUES", "falses": "NUM_FALSES", "nulls": "NUM_NULLS"},
    Kind.LONG: _bounded("LONG"),
    Kind.DATE: _bounded("LONG"),
    Kind.TIMESTAMP: _bounded("LONG"),
    Kind.DOUBLE: _bounded("DOUBLE"),
    Kind.DECIMAL: _bounded("BIG_DECIMAL"),
    Kind.STRING: {**_LENGTHS, **_COUNTED},
    Kind.BINARY: {**_LENGTHS, "nulls": "NUM_NULLS"},
}
"""Field of the model to column of the table, for each kind (Hive's StatObjectConverter)."""

_VALUES = sorted({column for columns in _COLUMNS.values() for column in columns.values()})


@dataclass(frozen=True, slots=True)
class _Place:
    """One of the two tables: whose statistics it holds, and where its ids come from."""

    table: Table
    owner: Column[Any]
    sequence: IdSequence


_OF_TABLES = _Place(TAB_COL_STATS, TAB_COL_STATS.c.TBL_ID, IdSequence.TABLE_STATISTICS)
_OF_PARTITIONS = _Place(PART_COL_STATS, PART_COL_STATS.c.PART_ID, IdSequence.PARTITION_STATISTICS)


def read_table(
    connection: Connection, table_id: int, columns: Sequence[str] | None, engine: str | None
) -> list[StatisticsSet]:
    """A table's statistics of these columns (None: all), one set for each engine (or only the asked one's)."""
    query = _query(connection, _OF_TABLES, [], columns, engine).where(TAB_COL_STATS.c.TBL_ID == table_id)
    return _sets(connection.execute(query), None)


def read_partitions(
    connection: Connection,
    table_id: int,
    partition_names: Sequence[str],
    columns: Sequence[str] | None,
    engine: str | None,
) -> dict[str, list[StatisticsSet]]:
    """The same of partitions, by name in name order; one statement for all. Those without statistics are left out."""
    query = (
        _query(connection, _OF_PARTITIONS, [PARTITIONS.c.PART_NAME], columns, engine)
        .join(PARTITIONS, PARTITIONS.c.PART_ID == PART_COL_STATS.c.PART_ID)
        .where(PARTITIONS.c.TBL_ID == table_id, one_of(connection, PARTITIONS.c.PART_NAME, partition_names))
        .order_by(PARTITIONS.c.PART_NAME)
    )
    rows: dict[str, list[Any]] = {}
    for *row, name in connection.execute(query):
        rows.setdefault(name, []).append(row)
    return {name: _sets(found, name) for name, found in rows.items()}


def write_table(unit: Unit, table_id: int, name: TableName, statistics: StatisticsSet) -> None:
    """Write statistics of a table."""
    _write(unit, _OF_TABLES, name, {table_id: statistics})


def write_partitions(unit: Unit, name: TableName, statistics: Mapping[int, StatisticsSet]) -> None:
    """Write statistics of partitions, by partition id."""
    _write(unit, _OF_PARTITIONS, name, statistics)


def delete_tables(unit: Unit, table_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None) -> None:
    """Delete statistics of tables, of these columns (None: all) and this engine (None: all)."""
    _delete(unit, _OF_TABLES, table_ids, columns, engine)


def delete_partitions(
    unit: Unit, partition_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> None:
    """Delete statistics of partitions, of these columns (None: all) and this engine (None: all)."""
    _delete(unit, _OF_PARTITIONS, partition_ids, columns, engine)


def rename_table(unit: Unit, table_id: int, name: TableName) -> None:
    """Write a table's new name beside its statistics and those of its partitions."""
    texts = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    partition_ids = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    unit.connection.execute(update(TAB_COL_STATS).where(TAB_COL_STATS.c.TBL_ID == table_id).values(texts))
    unit.connection.execute(update(PART_COL_STATS).where(PART_COL_STATS.c.PART_ID.in_(partition_ids)).values(texts))


def _query(
    connection: Connection, place: _Place, extra: Sequence[Any], columns: Sequence[str] | None, engine: str | None
) -> Any:
    c = place.table.c
    values = [c[name] for name in _VALUES]
    query = select(c.COLUMN_NAME, c.COLUMN_TYPE, c.ENGINE, c.LAST_ANALYZED, *values, *extra).select_from(place.table)
    if columns is not None:
        query = query.where(one_of(connection, c.COLUMN_NAME, columns))
    return query if engine is None else query.where(c.ENGINE == engine)


def _sets(rows: Iterable[Any], partition: str | None) -> list[StatisticsSet]:
    """One set for each engine among the rows; the oldest row says when they were analysed."""
    by_engine: dict[str, list[tuple[ColumnStatistics, int]]] = {}
    for column, column_type, engine, analyzed, *values in rows:
        kind = kind_of(column_type or "")
        if kind is not None:
            data = _data(kind, dict(zip(_VALUES, values, strict=True)))
            by_engine.setdefault(engine, []).append((ColumnStatistics(column, column_type, data), analyzed))
    return [
        StatisticsSet(tuple(each for each, _ in found), partition, engine, min(analyzed for _, analyzed in found))
        for engine, found in by_engine.items()
    ]


def _data(kind: Kind, values: Mapping[str, Any]) -> Data:
    fields = {field: values[column] for field, column in _COLUMNS[kind].items()}
    if fields["nulls"] is not None and fields["nulls"] < 0:
        fields["nulls"] = None
    if kind is Kind.DECIMAL:
        fields["low"], fields["high"] = _decimal(fields["low"]), _decimal(fields["high"])
    if "bit_vector" in fields:
        fields["bit_vector"] = _bytes(fields["bit_vector"])
    if "histogram" in fields:
        fields["histogram"] = _bytes(fields["histogram"])
    return DATA_CLASSES[kind](**fields)


def _bytes(value: Any) -> bytes | None:
    content = bytes(value) if value is not None else b""
    return None if content in (b"", _NO_BIT_VECTOR) else content


def _decimal(text: str | None) -> Decimal | None:
    """The decimal in a row; None for a text that is no number, which older engines have written."""
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None


def _write(unit: Unit, place: _Place, name: TableName, statistics: Mapping[int, StatisticsSet]) -> None:
    rows = [
        _row(place, name, owner, statistics[owner], column)
        for owner in sorted(statistics)
        for column in sorted(statistics[owner].columns, key=lambda each: each.column)
    ]
    if not rows:
        return
    ids = unit.ids(place.sequence, len(rows))
    numbered = [{"CS_ID": cs_id, **row} for cs_id, row in zip(ids, rows, strict=True)]
    unit.connection.execute(_upsert(unit.connection.dialect.name, place), numbered)


def _upsert(dialect_name: str, place: _Place) -> Any:
    dialect = sqlite if dialect_name == "sqlite" else postgresql
    statement = dialect.insert(place.table)
    old, new = place.table.c, statement.excluded
    same = new.COLUMN_TYPE == old.COLUMN_TYPE
    kept = {column: case((same, func.coalesce(new[column], old[column])), else_=new[column]) for column in _VALUES}
    always = {column: new[column] for column in ("LAST_ANALYZED", "COLUMN_TYPE", "NUM_NULLS")}
    return statement.on_conflict_do_update(
        index_elements=[place.owner, old.COLUMN_NAME, old.ENGINE], set_={**kept, **always}
    )


def _row(
    place: _Place, name: TableName, owner: int, statistics: StatisticsSet, column: ColumnStatistics
) -> dict[str, Any]:
    fields = {target: getattr(column.data, field) for field, target in _COLUMNS[column.kind].items()}
    if column.kind is Kind.DECIMAL:
        for bound in ("BIG_DECIMAL_LOW_VALUE", "BIG_DECIMAL_HIGH_VALUE"):
            fields[bound] = None if fields[bound] is None else str(fields[bound])
    if fields["NUM_NULLS"] is None:
        fields["NUM_NULLS"] = _UNKNOWN_NULLS
    texts = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    if statistics.partition is not None and place is _OF_PARTITIONS:
        texts["PARTITION_NAME"] = statistics.partition
    return {
        **dict.fromkeys(_VALUES),
        **texts,
        place.owner.name: owner,
        "COLUMN_NAME": column.column,
        "COLUMN_TYPE": column.column_type,
        "ENGINE": statistics.engine,
        "LAST_ANALYZED": statistics.last_analyzed_seconds,
        **fields,
    }


def _delete(
    unit: Unit, place: _Place, owners: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> None:
    statement = delete(place.table).where(one_of(unit.connection, place.owner, owners))
    if columns is not None:
        statement = statement.where(one_of(unit.connection, place.table.c.COLUMN_NAME, columns))
    if engine is not None:
        statement = statement.where(place.table.c.ENGINE == engine)
    unit.connection.execute(statement)
