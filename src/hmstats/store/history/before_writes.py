"""The hooks of the write path: each keeps what a write is about to replace, in the transaction of the write.

On PostgreSQL the statements are queued (Unit.queue): they share the round trip of the write. A step may copy more than
the write replaces; the first step of a version that names an owner and a column says what there was before it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from sqlalchemy import Table

from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.statistics_keys import RESTORED, SPARK, is_restored
from hmstats.store.history import replaced_rows
from hmstats.store.history.caller import caller
from hmstats.store.history.replaced_rows import OwnerKind, RowSelection
from hmstats.store.history.steps import Kind
from hmstats.store.history.stored_values import StoredValues
from hmstats.store.schema import (
    HMSTATS_HISTORY,
    HMSTATS_HISTORY_COLUMN,
    HMSTATS_HISTORY_PARAMETER,
    HMSTATS_HISTORY_PARTITION,
)
from hmstats.store.statements.value_sets import bound
from hmstats.store.unit.unit import Unit

_STEP, _COLUMNS, _PARAMETERS = HMSTATS_HISTORY, HMSTATS_HISTORY_COLUMN, HMSTATS_HISTORY_PARAMETER
_NAMES = HMSTATS_HISTORY_PARTITION


class Written(Protocol):
    """The known facts of a table whose statistics are written."""

    @property
    def id(self) -> int:
        """Its id."""

    @property
    def has_top_k(self) -> bool:
        """False if no frequent values are stored for the table and its partitions."""


def of_columns(
    unit: Unit, of: OwnerKind, ids: Sequence[int], columns: Collection[str] | None = None, engine: str | None = None
) -> None:
    """Keep the statistics of tables or partitions, of these columns (None: all) and this engine (None: all)."""
    wanted = RowSelection(of, columns=columns is not None, engine=engine is not None)
    _copy_to_history(unit, Kind.COLUMNS, [(wanted, (_STEP, _COLUMNS))], ids, columns, engine)


def of_written(
    unit: Unit,
    of: OwnerKind,
    name: TableName,
    target: Written,
    ids: Sequence[int],
    columns: Sequence[str],
    engine: str,
    *,
    stored: StoredValues | None = None,
    since: int | None = None,
) -> None:
    """Keep the statistics of a known table, or of partitions of it, that a write of statistics is about to replace.

    A write that says what it has `stored` need copy no rows if those before it said so `since` a version of the table,
    but the sketches that it replaces, of which they told the hashes.
    """
    wanted = RowSelection(of, columns=True, engine=True, known=True, top_k=target.has_top_k)
    known = {
        "table_id": target.id,
        "since": since,
        "said_CAT_NAME": name.catalog,
        "said_DB_NAME": name.database,
        "said_TBL_NAME": name.table,
        "said_STORED": stored and stored.text,
        "said_STORED_SKETCHES": stored and stored.hashes,
        "said_COLUMN_NAMES": json.dumps(columns),  # in the order of what is stored
    }
    if since is None:
        _copy_to_history(unit, Kind.COLUMNS, [(wanted, (_STEP, _COLUMNS))], ids, columns, engine, known)
        return
    _copy_to_history(unit, Kind.COLUMNS, [(wanted, (_STEP,))], ids, None, engine, known)
    if stored is not None and stored.kinds:
        text = replaced_rows.sketches_text(unit.shape, of, stored.kinds)
        wanted_rows = {"ids": bound(unit.connection, ids), "columns": bound(unit.connection, columns)}
        of_table = {"table_id": target.id, "said_ENGINE": engine}
        text.queue(unit, {**wanted_rows, **of_table, **(unit.expects.values if unit.expects else {})})


def of_parameters(unit: Unit, of: OwnerKind, ids: Sequence[int], keys: Collection[str] | None = None) -> None:
    """Keep the parameters of statistics of tables or partitions, unless none is among the `keys` (None: all)."""
    if keys is None or any(map(is_restored, keys)):
        _copy_to_history(unit, Kind.PARAMETERS, [(RowSelection(of), (_STEP, _PARAMETERS))], ids)


def of_created(unit: Unit, ids: Sequence[int]) -> None:
    """Keep when partitions were made, before a client's alter states another time, or none."""
    selection = RowSelection(OwnerKind.PARTITIONS)
    _copy_to_history(unit, Kind.PARAMETERS, [(selection, (_STEP, _PARAMETERS, _NAMES))], ids)


def of_dropped_tables(unit: Unit, ids: Sequence[int]) -> None:
    """Keep all statistics of tables and of their partitions, and the partitions' names."""
    own, below = RowSelection(OwnerKind.TABLES), RowSelection(OwnerKind.PARTITIONS, whole_tables=True)
    parts = [(own, (_STEP, _COLUMNS)), (own, (_PARAMETERS,)), (below, (_COLUMNS,)), (below, (_PARAMETERS, _NAMES))]
    _copy_to_history(unit, Kind.DROPPED, parts, ids)


def of_dropped_partitions(unit: Unit, ids: Sequence[int]) -> None:
    """Keep all statistics of partitions, and their names."""
    rows = (_STEP, _COLUMNS, _PARAMETERS, _NAMES)
    _copy_to_history(unit, Kind.DROPPED, [(RowSelection(OwnerKind.PARTITIONS), rows)], ids)


def of_arrived_partitions(unit: Unit, ids: Sequence[int]) -> None:
    """Note that partitions have come from another table, after they were moved: there was nothing of them before."""
    _copy_to_history(unit, Kind.ARRIVED, [(RowSelection(OwnerKind.PARTITIONS), (_STEP,))], ids)


def of_names(unit: Unit, of: OwnerKind, ids: Sequence[int]) -> None:
    """Keep the names of tables or partitions that are renamed."""
    rows = (_STEP, _NAMES) if of is OwnerKind.PARTITIONS else (_STEP,)
    _copy_to_history(unit, Kind.RENAMED, [(RowSelection(of), rows)], ids)


def _copy_to_history(
    unit: Unit,
    kind: Kind,
    parts: Sequence[tuple[RowSelection, tuple[Table, ...]]],
    ids: Sequence[int],
    columns: Collection[str] | None = None,
    engine: str | None = None,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Copy the rows of a step of the unit's write."""
    if not unit.keeps_history or not ids or unit.shape.lacks(HMSTATS_HISTORY):
        return
    whole = any(wanted.of is OwnerKind.TABLES for wanted, _ in parts)
    values = _step_parameters(unit, kind, engine)
    values["said_PART_IDS"] = None if whole else json.dumps(list(ids))
    if known and all(rows == (_STEP,) for _, rows in parts):  # the step of a known table reads no other rows
        values |= known
    else:
        values |= _row_parameters(unit, ids, columns) | dict(known)
    for wanted, rows in parts:
        if unit.connection.dialect.name == "sqlite":
            for each in replaced_rows.for_sqlite(rows, wanted):
                unit.connection.execute(each, values)
            continue
        guarded = wanted._replace(expecting=bool(unit.expects))
        for text in replaced_rows.texts(unit.shape, rows, guarded):
            text.queue(unit, values | (unit.expects.values if unit.expects else {}))


def _step_parameters(unit: Unit, kind: Kind, engine: str | None) -> dict[str, Any]:
    """The description of a step's write: the parameters of all of its statements."""
    who = caller.get()
    return {
        "at": unit.now_milliseconds,
        "step": unit.next_step(),
        "counted": bound(unit.connection, sorted(unit.counted)),
        "said_WRITER": who.writer and who.writer.replace("\0", "\ufffd")[:256],
        "said_CALL_NAME": who.call,
        "said_KIND": kind.value,
        "said_ENGINE": engine,
    }


def _row_parameters(unit: Unit, ids: Sequence[int], columns: Collection[str] | None) -> dict[str, Any]:
    """The parameters of statements that read the rows of a step."""
    connection, ordered = unit.connection, None if columns is None else sorted(columns)
    return {
        "ids": bound(connection, list(ids)),
        "columns": None if ordered is None else bound(connection, ordered),
        "keys": bound(connection, RESTORED),
        "of_spark": f"{SPARK}%",
        "said_COLUMN_NAMES": None if ordered is None else json.dumps(ordered),
    }
