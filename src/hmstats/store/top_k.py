"""HMSTATS_TOP_K: the frequent values of each column, as sketches."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, and_, delete, or_

from hmstats.store.schema import HMSTATS_TOP_K as TOP_K
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit
from hmstats.store.upserts import upsert

_KEY = ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE")


def replace(unit: Unit, table_id: int, engine: str, given: Mapping[int, Mapping[str, bytes | None]]) -> None:
    """Write sketches by partition id (or details.OF_TABLE) and column; None: there is none any more.

    What a sketch was made of is gone when new statistics come without one: the old one would be wrong.
    """
    _delete(unit, table_id, engine, given)
    rows = [
        dict(zip((*_KEY, "ITEMS"), (table_id, partition_id, column, engine, sketch), strict=True))
        for partition_id in sorted(given)
        for column, sketch in sorted(given[partition_id].items())
        if sketch is not None
    ]
    upsert(unit, TOP_K, _KEY, rows, lambda _, new: {"ITEMS": new.ITEMS})


def _delete(unit: Unit, table_id: int, engine: str, given: Mapping[int, Mapping[str, bytes | None]]) -> None:
    """Delete those that have become None: one statement, with a condition for each set of columns."""
    ids_of: dict[tuple[str, ...], list[int]] = {}
    for partition_id, columns in given.items():
        gone = tuple(sorted(column for column, sketch in columns.items() if sketch is None))
        if gone:
            ids_of.setdefault(gone, []).append(partition_id)
    if not ids_of:
        return
    c = TOP_K.c
    mine = [_one_of_both(unit, ids, columns) for columns, ids in ids_of.items()]
    unit.connection.execute(delete(TOP_K).where(c.TBL_ID == table_id, c.ENGINE == engine, or_(*mine)))


def _one_of_both(unit: Unit, ids: Sequence[int], columns: Sequence[str]) -> ColumnElement[bool]:
    return and_(one_of(unit.connection, TOP_K.c.PART_ID, ids), one_of(unit.connection, TOP_K.c.COLUMN_NAME, columns))
