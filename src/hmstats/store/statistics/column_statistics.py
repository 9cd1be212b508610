"""Column statistics: TAB_COL_STATS and PART_COL_STATS.

One statement reads or writes all partitions and columns of a call. A write is an upsert by (table or partition,
column, engine). An unknown new value, except NDV, does not replace the stored one, as in Hive; if the type changed,
the write replaces the whole row. Rows have ids and names, since Hive 2.3 to 4.0 look statistics up by name. Details
(details.py) are deleted with the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from sqlalchemy import Column, Connection, Table, case, delete, func, literal, null, select, update

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.flat_statistics import FlatColumns
from hmstats.model.statistics.statistics_by_field import StatisticsByField, by_kind
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.schema import PART_COL_STATS, PARTITIONS, TAB_COL_STATS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.upserts import update_columns, upsert_columns
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import details, statistics_rows
from hmstats.store.statistics.statistics_rows import DESCRIBED, SKETCHES, VALUES
from hmstats.store.unit.ids import Sequence as IdSequence
from hmstats.store.unit.unit import Unit


@dataclass(frozen=True, slots=True)
class _StatisticsTable:
    """One of the two tables, with the column of the owner's id and the sequence of its row ids."""

    table: Table
    owner: Column[Any]
    sequence: IdSequence


_OF_TABLES = _StatisticsTable(TAB_COL_STATS, TAB_COL_STATS.c.TBL_ID, IdSequence.TABLE_STATISTICS)
_OF_PARTITIONS = _StatisticsTable(PART_COL_STATS, PART_COL_STATS.c.PART_ID, IdSequence.PARTITION_STATISTICS)
_DESCRIBED = slice(len(VALUES), len(VALUES) + len(DESCRIBED))
_FEW_COLUMNS = 200
"""Most rows of one owner that an update finds by scanning all of its rows."""
_ENGINE, _ANALYZED = len(VALUES), len(VALUES) + 1


def read_table(
    connection: Connection,
    table_id: int,
    columns: Sequence[str] | None,
    engine: str | None,
    *,
    sketches: bool = True,
) -> list[StatisticsSet]:
    """A table's statistics of these columns (None: all), one set for each engine, or only for the asked one.

    Without `sketches`, bit vectors and histograms are not read, which are most of the bytes.
    """
    query = _query(connection, _OF_TABLES, [], columns, engine, sketches=sketches)
    query = query.where(TAB_COL_STATS.c.TBL_ID == table_id)
    return _sets(connection.execute(query).all(), None)


def read_partitions(
    connection: Connection,
    table_id: int,
    partition_names: Sequence[str] | None,
    columns: Sequence[str] | None,
    engine: str | None,
    *,
    sketches: bool = True,
) -> dict[str, list[StatisticsSet]]:
    """Statistics of partitions (None: all) by name, in name order, as `read_table`; partitions without any are absent.

    One statement.
    """
    query = _of_partitions(connection, table_id, partition_names, columns, engine, sketches=sketches)
    rows = connection.execute(query.order_by(by_bytes(connection, PARTITIONS.c.PART_NAME))).all()
    found = {name: _sets(of_one, name) for name, of_one in groupby(rows, key=itemgetter(-1))}
    return {name: sets for name, sets in found.items() if sets}


def read_columns_of_table(
    connection: Connection, table_id: int, columns: Sequence[str], engine: str | None
) -> dict[str, dict[str, list[StatisticsSet]]]:
    """A table's statistics by column and "", a set of that column alone for each engine; one statement."""
    query = _query(connection, _OF_TABLES, [literal("")], columns, engine, sketches=True)
    return _by_column(connection.execute(query.where(TAB_COL_STATS.c.TBL_ID == table_id)))


def read_columns_of_partitions(
    connection: Connection,
    table_id: int,
    partition_names: Sequence[str] | None,
    columns: Sequence[str],
    engine: str | None,
    *,
    sketches: bool = False,
) -> dict[str, dict[str, list[StatisticsSet]]]:
    """Statistics of partitions (None: all) by column and partition, a set of that column alone for each engine.

    One statement.
    """
    query = _of_partitions(connection, table_id, partition_names, columns, engine, sketches=sketches)
    return _by_column(connection.execute(query))


def read_flat_table(
    connection: Connection, table_id: int, columns: Sequence[str] | None, *, sketches: bool
) -> FlatColumns:
    """A table's statistics of these columns (None: all) by all engines, as tuples in no order."""
    query = _query(connection, _OF_TABLES, [literal("")], columns, None, sketches=sketches)
    return _flat(connection, query.where(TAB_COL_STATS.c.TBL_ID == table_id))


def read_flat_partitions(
    connection: Connection,
    table_id: int,
    partition_names: Sequence[str],
    columns: Sequence[str] | None,
    *,
    sketches: bool,
) -> FlatColumns:
    """Partitions' statistics of these columns (None: all) by all engines, as tuples in no order."""
    return _flat(connection, _of_partitions(connection, table_id, partition_names, columns, None, sketches=sketches))


def write_table(
    unit: Unit, table_id: int, name: TableName, statistics: StatisticsSet, *, replaces: bool = False
) -> None:
    """Write statistics of a table, with the unit's time unless they have another.

    A value that they do not know stays as it is stored, as in Hive, unless they replace what is stored.
    """
    _write(unit, _OF_TABLES, name, {table_id: statistics}, _replaced if replaces else _changes)


def write_partitions(
    unit: Unit, name: TableName, statistics: Mapping[int, StatisticsSet], *, replaces: bool = False
) -> None:
    """Write statistics of partitions by partition id, as write_table does."""
    _write(unit, _OF_PARTITIONS, name, statistics, _replaced if replaces else _changes)


def write_by_field(
    unit: Unit,
    name: TableName,
    ids: Sequence[int],
    statistics: StatisticsByField,
    values: Mapping[str, Sequence[Any]],
    *,
    of_table: bool,
    are_stored: bool = False,
) -> None:
    """Write statistics of the table with the single id, or of the partitions with these ids, with the unit's time.

    `values` are those of statistics_rows.values. Rows are not sorted: the unit has locked the table's row, so that no
    other writer can conflict. A unit that expects the table may know that the rows of its only owner `are_stored`, with
    these types.
    """
    stored, width = _OF_TABLES if of_table else _OF_PARTITIONS, len(statistics.columns)
    columns: dict[str, Sequence[Any]] = {
        stored.owner.name: [each for each in ids for _ in range(width)],
        "COLUMN_NAME": [each.column for each in statistics.columns] * len(ids),
        "ENGINE": [statistics.engine] * statistics.size,
        "LAST_ANALYZED": [unit.now_seconds] * statistics.size,
    }
    columns |= values
    key = [stored.owner.name, "COLUMN_NAME", "ENGINE"]
    if are_stored and width <= _FEW_COLUMNS:
        update_columns(unit, stored.table, key, columns, _changes_of_values)
        return
    columns |= _key_columns(unit, stored, name, statistics.size)
    columns["COLUMN_TYPE"] = [each.column_type for each in statistics.columns] * len(ids)
    if not of_table:
        columns["PARTITION_NAME"] = [each for each in statistics.partitions for _ in range(width)]
    upsert_columns(unit, stored.table, key, columns, _changes)


def delete_tables(unit: Unit, table_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None) -> int:
    """Delete tables' statistics of these columns (None: all) and this engine (None: all). Returns the row count."""
    before_writes.of_columns(unit, OwnerKind.TABLES, table_ids, columns, engine)
    details.delete_tables(unit, table_ids, columns, engine)
    return _delete(unit, _OF_TABLES, table_ids, columns, engine)


def delete_partitions(
    unit: Unit, partition_ids: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> int:
    """Delete partitions' statistics of these columns (None: all) and this engine (None: all).

    Returns the number of rows.
    """
    before_writes.of_columns(unit, OwnerKind.PARTITIONS, partition_ids, columns, engine)
    details.delete_partitions(unit, partition_ids, columns, engine)
    return _delete(unit, _OF_PARTITIONS, partition_ids, columns, engine)


def rename_table(unit: Unit, table_id: int, name: TableName) -> None:
    """Update the table's name in its rows of statistics and in those of its partitions."""
    texts = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    partition_ids = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    unit.connection.execute(update(TAB_COL_STATS).where(TAB_COL_STATS.c.TBL_ID == table_id).values(texts))
    unit.connection.execute(update(PART_COL_STATS).where(PART_COL_STATS.c.PART_ID.in_(partition_ids)).values(texts))


def rename_partition(unit: Unit, partition_id: int, name: str) -> None:
    """Update the partition's name in its rows of statistics."""
    here = PART_COL_STATS.c.PART_ID == partition_id
    unit.connection.execute(update(PART_COL_STATS).where(here).values(PARTITION_NAME=name))


def _of_partitions(
    connection: Connection,
    table_id: int,
    partition_names: Sequence[str] | None,
    columns: Sequence[str] | None,
    engine: str | None,
    *,
    sketches: bool,
) -> Any:
    query = (
        _query(connection, _OF_PARTITIONS, [PARTITIONS.c.PART_NAME], columns, engine, sketches=sketches)
        .join(PARTITIONS, PARTITIONS.c.PART_ID == PART_COL_STATS.c.PART_ID)
        .where(PARTITIONS.c.TBL_ID == table_id)
    )
    if partition_names is None:
        return query
    return query.where(one_of(connection, PARTITIONS.c.PART_NAME, partition_names))


def _flat(connection: Connection, query: Any) -> FlatColumns:
    # The driver's rows: SQLAlchemy's take longer to make than everything that is done with them.
    rows = connection.execute(query).cursor.fetchall()
    partitions, engines, analyzed = ([row[index] for row in rows] for index in (-1, _ENGINE, _ANALYZED))
    return FlatColumns(
        statistics=statistics_rows.flat_statistics(rows),
        partitions=partitions,
        engines=engines,
        analyzed_seconds=analyzed,
    )


def _query(
    connection: Connection,
    stored: _StatisticsTable,
    extra: Sequence[Any],
    columns: Sequence[str] | None,
    engine: str | None,
    *,
    sketches: bool,
) -> Any:
    c = stored.table.c
    values = [c[name] if sketches or name not in SKETCHES else null() for name in VALUES]
    described = [c[name] for name in DESCRIBED]
    query = select(*values, *described, *extra).select_from(stored.table)
    if columns is not None:
        query = query.where(one_of(connection, c.COLUMN_NAME, columns))
    return query if engine is None else query.where(c.ENGINE == engine)


def _sets(rows: Iterable[Any], partition: str | None) -> list[StatisticsSet]:
    """One set for each engine in the rows; its time is that of its oldest row."""
    by_engine: dict[str, list[tuple[ColumnStatistics, int]]] = {}
    for row in rows:
        engine, analyzed, column, column_type = row[_DESCRIBED]
        read = statistics_rows.column_statistics(column, column_type, row)
        if read is not None:
            by_engine.setdefault(engine, []).append((read, analyzed))
    return [
        StatisticsSet(tuple(each for each, _ in found), partition, engine, min(analyzed for _, analyzed in found))
        for engine, found in by_engine.items()
    ]


def _by_column(rows: Iterable[Any]) -> dict[str, dict[str, list[StatisticsSet]]]:
    """Sets of one column each, by column and the last value of the row."""
    found: dict[str, dict[str, list[StatisticsSet]]] = {}
    for row in rows:
        for each in _sets([row], row[-1] or None):
            found.setdefault(each.columns[0].column, {}).setdefault(row[-1], []).append(each)
    return found


def _write(
    unit: Unit,
    stored: _StatisticsTable,
    name: TableName,
    statistics: Mapping[int, StatisticsSet],
    changes: Callable[[Any, Any], dict[str, Any]],
) -> None:
    each = [(owner, statistics[owner], column) for owner, column in _in_order(statistics)]
    if not each:
        return
    columns: dict[str, Sequence[Any]] = {
        **_key_columns(unit, stored, name, len(each)),
        stored.owner.name: [owner for owner, _, _ in each],
        "COLUMN_NAME": [column.column for _, _, column in each],
        "COLUMN_TYPE": [column.column_type for _, _, column in each],
        "ENGINE": [of.engine for _, of, _ in each],
        "LAST_ANALYZED": [_analyzed(unit, of) for _, of, _ in each],
    }
    if stored is _OF_PARTITIONS:
        columns["PARTITION_NAME"] = [of.partition for _, of, _ in each]
    columns |= statistics_rows.values(by_kind([column for _, _, column in each]), len(each))
    upsert_columns(unit, stored.table, [stored.owner.name, "COLUMN_NAME", "ENGINE"], columns, changes)


def _key_columns(unit: Unit, stored: _StatisticsTable, name: TableName, rows: int) -> dict[str, Sequence[Any]]:
    """Columns of new rows that do not depend on statistics: row ids and the table's name."""
    texts = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    return {"CS_ID": unit.ids(stored.sequence, rows), **{column: [text] * rows for column, text in texts.items()}}


def _in_order(statistics: Mapping[int, StatisticsSet]) -> Iterator[tuple[int, ColumnStatistics]]:
    """Owners and column statistics in a fixed order, so that two writers cannot deadlock."""
    for owner in sorted(statistics):
        for column in sorted(statistics[owner].columns, key=attrgetter("column")):
            yield owner, column


def _analyzed(unit: Unit, statistics: StatisticsSet) -> int:
    analyzed = statistics.last_analyzed_seconds
    return unit.now_seconds if analyzed is None else analyzed


def _changes(old: Any, new: Any) -> dict[str, Any]:
    """New values of a stored row: stored values replace unknown ones, except NDV, if the column's type is the same."""
    same = old.COLUMN_TYPE == new.COLUMN_TYPE
    stored = {name: case((same, old[name])) for name in VALUES}
    kept = {name: func.coalesce(new[name], stored[name]) if name in new else stored[name] for name in VALUES}
    return {
        **kept,
        "NUM_DISTINCTS": new.NUM_DISTINCTS if "NUM_DISTINCTS" in new else null(),
        "COLUMN_TYPE": new.COLUMN_TYPE,
        "LAST_ANALYZED": new.LAST_ANALYZED,
    }


def _replaced(_: Any, new: Any) -> dict[str, Any]:
    """New values of a stored row, of which nothing stays: what is not given is unknown."""
    values = {name: new[name] if name in new else null() for name in VALUES}
    return {**values, "COLUMN_TYPE": new.COLUMN_TYPE, "LAST_ANALYZED": new.LAST_ANALYZED}


def _changes_of_values(old: Any, new: Any) -> dict[str, Any]:
    """New values of a stored row of the same type, from the given columns only."""
    kept = {name: func.coalesce(new[name], old[name]) for name in VALUES if name in new}
    if "NUM_DISTINCTS" in new:
        kept["NUM_DISTINCTS"] = new.NUM_DISTINCTS
    return {**kept, "LAST_ANALYZED": new.LAST_ANALYZED}


def _delete(
    unit: Unit, stored: _StatisticsTable, owners: Sequence[int], columns: Sequence[str] | None, engine: str | None
) -> int:
    statement = delete(stored.table).where(one_of(unit.connection, stored.owner, owners))
    if columns is not None:
        statement = statement.where(one_of(unit.connection, stored.table.c.COLUMN_NAME, columns))
    if engine is not None:
        statement = statement.where(stored.table.c.ENGINE == engine)
    return unit.connection.execute(statement).rowcount
