"""HMSTATS_PENDING and HMSTATS_PENDING_COLUMN: pending statistics.

No answer to planners is read from these tables: only a publish moves pending statistics to the tables of statistics.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    delete,
    exists,
    func,
    literal_column,
    select,
)

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.pending.pending import HeldBy, HoldReason, Pending, PendingListed
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.store.schema import DBS, PARTITIONS, TBLS
from hmstats.store.schema import HMSTATS_PENDING as OWNERS
from hmstats.store.schema import HMSTATS_PENDING_COLUMN as COLUMNS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import statistics_rows
from hmstats.store.unit.unit import Unit

KIND = "pending"
"""The kind of the row, among the parts of a table, that says that the table has pending statistics."""
_OWNER, _KEY = ("TBL_ID", "PART_ID"), ("TBL_ID", "PART_ID", "ENGINE", "COLUMN_NAME")
_O, _C = OWNERS.c, COLUMNS.c


def row_of(table_id: ColumnElement[Any], *before: ColumnElement[Any]) -> Select[Any]:
    """The query for a row of a part of a table, after `before`, if anything of the table waits."""
    zero: ColumnElement[int] = literal_column("0", BigInteger)
    nothing = literal_column("''", String)
    waits = exists().where(_O.TBL_ID == table_id)
    return select(*before, literal_column(f"'{KIND}'", String), zero, nothing, nothing).where(waits)


def put(unit: Unit, table_id: int, pending: Mapping[int, Pending]) -> None:
    """Put statistics aside, by partition id (0: of the table); pending ones of the same columns are replaced.

    If other columns stay pending, the counts from the time when they were put aside stay, since they are of those rows.
    """
    earlier = read(unit.connection, table_id, list(pending))
    owners, columns = [], []
    for part_id, each in pending.items():
        change = _combine(earlier[part_id].change, each.change) if part_id in earlier else each.change
        said = {
            "put": dict(change.put),
            "remove": sorted(change.remove),
            "base": dict(_base(earlier.get(part_id), each)),
        }
        owners.append(
            {
                "TBL_ID": table_id,
                "PART_ID": part_id,
                "HELD_BY": each.reason.held_by.value,
                "REASON": each.reason.text,
                "WRITER": each.writer,
                "HELD_AT": unit.now_seconds,
                "PARAMETERS": json.dumps(said, ensure_ascii=False),
            }
        )
        for found in each.sets:
            columns += [_row(table_id, part_id, found.engine, column) for column in found.columns]
    upsert(unit, OWNERS, _OWNER, owners, _replaced_owner)
    upsert(unit, COLUMNS, _KEY, columns, _replaced_column)


def of_tables(connection: Connection, names: Sequence[TableName]) -> list[TableName]:
    """The tables among these that have pending statistics, in the order of their ids."""
    if not names:
        return []
    tables = OWNERS.join(TBLS, TBLS.c.TBL_ID == _O.TBL_ID).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME, TBLS.c.TBL_ID).select_from(tables).distinct()
    query = query.where(one_of(connection, TBLS.c.TBL_NAME, sorted({each.table for each in names})))
    found = [TableName(*row[:3]) for row in connection.execute(query.order_by(TBLS.c.TBL_ID))]
    wanted = set(names)
    return [each for each in found if each in wanted]


def read(connection: Connection, table_id: int, part_ids: Sequence[int] | None = None) -> dict[int, Pending]:
    """The pending statistics of a table and its partitions, of these (None: all), by partition id (0: of the table)."""
    owners = _owners(connection, table_id, part_ids)
    query = select(COLUMNS).where(_mine(connection, COLUMNS, table_id, part_ids))
    sets: dict[tuple[int, str], list[ColumnStatistics]] = {}
    for row in connection.execute(query.order_by(_C.PART_ID, _C.ENGINE, _C.COLUMN_NAME)).mappings():
        found = _column(dict(row))
        if found is not None:
            sets.setdefault((row["PART_ID"], row["ENGINE"]), []).append(found)
    return {
        part_id: Pending(
            each.reason,
            [StatisticsSet(tuple(sets[key]), None, key[1]) for key in sets if key[0] == part_id],
            each.change,
            each.base,
            each.writer,
            each.held_at_seconds,
        )
        for part_id, each in owners.items()
    }


def remove(unit: Unit, table_id: int, part_ids: Sequence[int] | None = None) -> int:
    """Remove the pending statistics of a table and its partitions, of these (None: all). Returns how many had any."""
    if unit.shape.lacks(OWNERS):
        return 0
    unit.connection.execute(delete(COLUMNS).where(_mine(unit.connection, COLUMNS, table_id, part_ids)))
    gone = delete(OWNERS).where(_mine(unit.connection, OWNERS, table_id, part_ids))
    return unit.connection.execute(gone).rowcount


def supersede(unit: Unit, table_id: int, written: Mapping[int, Sequence[str]], engine: str) -> None:
    """Remove the pending statistics of columns that were just written, by partition id (0: of the table).

    If no column of an owner is pending then, the rest of the owner's pending changes is removed too.
    """
    part_ids_of: dict[frozenset[str], list[int]] = {}
    for part_id, names in written.items():
        part_ids_of.setdefault(frozenset(names), []).append(part_id)
    for columns, part_ids in part_ids_of.items():
        named = and_(_C.ENGINE == engine, one_of(unit.connection, _C.COLUMN_NAME, sorted(columns)))
        _remove_columns(unit, table_id, and_(_mine(unit.connection, COLUMNS, table_id, part_ids), named))


def forget_columns(unit: Unit, table_id: int, columns: Sequence[str]) -> None:
    """Remove the pending statistics of columns that are gone, of a table and its partitions."""
    named = one_of(unit.connection, _C.COLUMN_NAME, columns)
    _remove_columns(unit, table_id, and_(_C.TBL_ID == table_id, named))


def _remove_columns(unit: Unit, table_id: int, gone: ColumnElement[bool]) -> None:
    """Remove these columns, and then their owners that have no pending columns left."""
    if unit.shape.lacks(OWNERS):
        return
    part_ids = unit.connection.execute(select(_C.PART_ID).where(gone).distinct()).scalars().all()
    if not part_ids:
        return
    unit.connection.execute(delete(COLUMNS).where(gone))
    left = exists().where(_C.TBL_ID == _O.TBL_ID, _C.PART_ID == _O.PART_ID)
    unit.connection.execute(delete(OWNERS).where(_mine(unit.connection, OWNERS, table_id, part_ids), ~left))


def tables(connection: Connection) -> list[TableName]:
    """The tables with pending statistics, in all catalogs, by name."""
    of_tables = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    names = (DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME)
    waits = exists().where(_O.TBL_ID == TBLS.c.TBL_ID)
    found = connection.execute(select(*names).select_from(of_tables).where(waits))
    return [TableName(*row) for row in sorted(map(tuple, found))]


def listed(connection: Connection, catalog: str) -> list[PendingListed]:
    """The pending statistics of a catalog, by name."""
    names = (DBS.c.NAME, TBLS.c.TBL_NAME, PARTITIONS.c.PART_NAME)
    owners = (
        OWNERS.join(TBLS, TBLS.c.TBL_ID == _O.TBL_ID)
        .join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
        .outerjoin(PARTITIONS, PARTITIONS.c.PART_ID == _O.PART_ID)
    )
    columns = OWNERS.join(COLUMNS, and_(_C.TBL_ID == _O.TBL_ID, _C.PART_ID == _O.PART_ID))
    query = select(*names, _O.TBL_ID, _O.PART_ID, _O.HELD_BY, _O.REASON, _O.WRITER, _O.HELD_AT).select_from(owners)
    ordered = query.where(DBS.c.CTLG_NAME == catalog).order_by(
        *(by_bytes(connection, func.coalesce(each, "")) for each in names)
    )
    rows = connection.execute(ordered).all()
    named = (
        select(_C.TBL_ID, _C.PART_ID, _C.COLUMN_NAME)
        .select_from(columns)
        .where(one_of(connection, _C.TBL_ID, sorted({row.TBL_ID for row in rows})))
        .distinct()
    )
    by_owner: dict[tuple[int, int], list[str]] = {}
    for table_id, part_id, column in connection.execute(named) if rows else ():
        by_owner.setdefault((table_id, part_id), []).append(column)
    return [
        PendingListed(
            TableName(catalog, row.NAME, row.TBL_NAME),
            row.PART_NAME,
            HoldReason(HeldBy(row.HELD_BY), row.REASON),
            tuple(sorted(by_owner.get((row.TBL_ID, row.PART_ID), ()))),
            row.WRITER,
            row.HELD_AT,
        )
        for row in rows
    ]


def _mine(connection: Connection, table: Any, table_id: int, part_ids: Sequence[int] | None) -> ColumnElement[bool]:
    here: ColumnElement[bool] = table.c.TBL_ID == table_id
    return here if part_ids is None else and_(here, one_of(connection, table.c.PART_ID, part_ids))


def _owners(connection: Connection, table_id: int, part_ids: Sequence[int] | None) -> dict[int, Pending]:
    found = {}
    for row in connection.execute(select(OWNERS).where(_mine(connection, OWNERS, table_id, part_ids))):
        said = json.loads(row.PARAMETERS)
        change = ParameterChange(said["put"], frozenset(said["remove"]))
        reason, base = HoldReason(HeldBy(row.HELD_BY), row.REASON), dict[str, str](said["base"])
        found[row.PART_ID] = Pending(reason, (), change, base, row.WRITER, row.HELD_AT)
    return found


def _base(earlier: Pending | None, new: Pending) -> Parameters:
    """The counts by which pending statistics are recognised as old: those of the earliest columns that stay pending."""
    if earlier is None:
        return new.base
    columns = [{(found.engine, each.column) for found in of.sets for each in found.columns} for of in (earlier, new)]
    return earlier.base if columns[0] - columns[1] else new.base


def _combine(one: ParameterChange, other: ParameterChange) -> ParameterChange:
    """The change that has the effect of both, one after the other."""
    put: Parameters = {key: value for key, value in one.put.items() if key not in other.remove}
    return ParameterChange({**put, **other.put}, (one.remove - other.put.keys()) | other.remove)


def _row(table_id: int, part_id: int, engine: str, column: ColumnStatistics) -> dict[str, Any]:
    fields = statistics_rows.columns_of(column.kind)
    values = {name: _storable(getattr(column.data, field)) for field, name in fields.items()}
    made = None if column.provenance is None else json.dumps(asdict(column.provenance), ensure_ascii=False)
    return {
        "TBL_ID": table_id,
        "PART_ID": part_id,
        "ENGINE": engine,
        "COLUMN_NAME": column.column,
        "COLUMN_TYPE": column.column_type,
        **dict.fromkeys(statistics_rows.VALUES),
        **values,
        "TOP_K": column.top_k,
        "PROVENANCE": made,
    }


def _column(row: Mapping[str, Any]) -> ColumnStatistics | None:
    values = [_read(row[name]) for name in statistics_rows.VALUES]
    found = statistics_rows.column_statistics(row["COLUMN_NAME"], row["COLUMN_TYPE"], values)
    if found is None:
        return None
    made = None if row["PROVENANCE"] is None else Provenance(**json.loads(row["PROVENANCE"]))
    return ColumnStatistics(found.column, found.column_type, found.data, _read(row["TOP_K"]), made)


def _storable(value: Any) -> Any:
    # SQLite stores NULL for the number NaN; both databases accept the text.
    return str(value) if isinstance(value, Decimal) or value != value else value  # noqa: PLR0124


def _read(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def _replaced_owner(_old: Any, new: Any) -> Mapping[str, ColumnElement[Any]]:
    return {each.name: new[each.name] for each in OWNERS.c if each.name not in _OWNER}


def _replaced_column(_old: Any, new: Any) -> Mapping[str, ColumnElement[Any]]:
    return {each.name: new[each.name] for each in COLUMNS.c if each.name not in _KEY}
