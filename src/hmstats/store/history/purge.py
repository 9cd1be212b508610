"""Removes history that is too old, and thins what is old to one state a day.

A thinned day keeps only the first row of each key: the state at the day's beginning, which is the only time of the day
that can be requested. Sketches that no row needs any more are removed too. Each table is cleaned in a transaction of
its own, under the lock of its writers.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, or_, select, tuple_, update

from hmstats.store.history import stored_values
from hmstats.store.history.steps import BEGAN, Kind
from hmstats.store.schema import (
    HMSTATS_HISTORY,
    HMSTATS_HISTORY_COLUMN,
    HMSTATS_HISTORY_PARAMETER,
    HMSTATS_HISTORY_PARTITION,
    HMSTATS_HISTORY_SKETCH,
    TBLS,
)
from hmstats.store.statements.upserts import upsert
from hmstats.store.unit.unit import Unit

DAY_MS = 86_400_000
_ROWS = (HMSTATS_HISTORY_COLUMN, HMSTATS_HISTORY_PARAMETER, HMSTATS_HISTORY_PARTITION)
_ALL = (HMSTATS_HISTORY, *_ROWS, HMSTATS_HISTORY_SKETCH)
_KEYS_AT_ONCE = 500
_ROW_BYTES = 200
"""About what a row without its sketches takes on SQLite, which does not tell."""


def begin(unit: Unit) -> None:
    """Note that history is kept from now on, unless it is kept already."""
    c = HMSTATS_HISTORY.c
    if unit.connection.execute(select(c.AT).where(c.TBL_ID == BEGAN)).scalar_one_or_none() is None:
        row = dict.fromkeys(("TBL_ID", "VERSION", "STEP"), BEGAN) | dict.fromkeys(
            ("CAT_NAME", "DB_NAME", "TBL_NAME"), ""
        )
        row |= {"AT": unit.now_milliseconds, "KIND": Kind.BEGAN.value}
        upsert(unit, HMSTATS_HISTORY, ["TBL_ID", "VERSION", "STEP"], [row], lambda old, _: {"AT": old.AT})


def remove_all(unit: Unit) -> None:
    """Remove the whole history."""
    for table in _ALL:
        unit.connection.execute(delete(table))


def told_tables(connection: Connection) -> list[int]:
    """The ids of tables of which steps say what they stored: later writes rely on that."""
    told = select(HMSTATS_HISTORY.c.TBL_ID).where(HMSTATS_HISTORY.c.STORED.is_not(None))
    return list(connection.execute(select(TBLS.c.TBL_ID).where(TBLS.c.TBL_ID.in_(told))).scalars())


def tables_to_clean(connection: Connection, full_since_ms: int, since_ms: int) -> list[int]:
    """The ids of tables with writes that are to be thinned or removed."""
    c = HMSTATS_HISTORY.c
    old = or_(since_ms > c.AT, (full_since_ms > c.AT) & ~c.THINNED)
    return list(connection.execute(select(c.TBL_ID).where(c.TBL_ID != BEGAN, old).distinct()).scalars())


def clean(unit: Unit, table_id: int, full_since_ms: int, since_ms: int) -> None:
    """Remove a table's history before `since_ms`, and thin that before `full_since_ms`, the beginning of a day."""
    unit.connection.execute(select(TBLS.c.TBL_ID).where(TBLS.c.TBL_ID == table_id).with_for_update())
    c = HMSTATS_HISTORY.c
    oldest_kept = select(func.min(c.VERSION)).where(c.TBL_ID == table_id, since_ms <= c.AT)
    first = unit.connection.execute(oldest_kept).scalar_one_or_none()
    for table in (HMSTATS_HISTORY, *_ROWS):
        removal = delete(table).where(table.c.TBL_ID == table_id)
        unit.connection.execute(removal if first is None else removal.where(first > table.c.VERSION))
    for table in _ROWS:
        _thin(unit, table, table_id, full_since_ms)
    old = update(HMSTATS_HISTORY).where(c.TBL_ID == table_id, full_since_ms > c.AT)
    unit.connection.execute(old.values(THINNED=True, STORED=None, STORED_SKETCHES=None))
    _remove_sketches(unit, table_id)


def size_bytes(connection: Connection) -> int:
    """The bytes that the whole history takes; on SQLite about so many."""
    if connection.dialect.name == "sqlite":
        rows = sum(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in _ALL)
        sketches = connection.execute(select(func.sum(func.length(HMSTATS_HISTORY_SKETCH.c.BYTES)))).scalar_one()
        return int(rows * _ROW_BYTES + (sketches or 0))
    names = [f'"{table.name}"' for table in _ALL]
    sizes = select(*(func.pg_total_relation_size(func.to_regclass(name)) for name in names))
    return sum(size or 0 for size in connection.execute(sizes).one())


def _thin(unit: Unit, table: Any, table_id: int, full_since_ms: int) -> None:
    """Remove all rows but the first of each key and day."""
    c, h = table.c, HMSTATS_HISTORY.c
    keys: Sequence[Any] = [each for each in table.primary_key.columns if each.name not in ("VERSION", "STEP")]
    steps = (h.TBL_ID == c.TBL_ID) & (h.VERSION == c.VERSION) & (h.STEP == c.STEP)
    place = func.row_number().over(partition_by=[*keys, h.AT // DAY_MS], order_by=[c.VERSION, c.STEP])
    rows = select(*table.primary_key.columns, place.label("place")).join(HMSTATS_HISTORY, steps)
    old = rows.where(c.TBL_ID == table_id, full_since_ms > h.AT).subquery("old").c
    names = [each.name for each in table.primary_key.columns]
    later = select(*(old[name] for name in names)).where(old.place > 1)
    unit.connection.execute(delete(table).where(tuple_(*table.primary_key.columns).in_(later)))


def _remove_sketches(unit: Unit, table_id: int) -> None:
    """Remove the sketches of a table that no row of its history has, and that no step has stored."""
    s, c, h = HMSTATS_HISTORY_SKETCH.c, HMSTATS_HISTORY_COLUMN.c, HMSTATS_HISTORY.c
    hashes = (c.BIT_VECTOR_HASH, c.HISTOGRAM_HASH, c.TOP_K_HASH)
    used = select(c.TBL_ID).where(c.TBL_ID == table_id, or_(*(each == s.HASH for each in hashes)))
    unused = select(s.HASH).where(s.TBL_ID == table_id, ~used.exists())
    stored = select(h.STORED_SKETCHES).where(h.TBL_ID == table_id, h.STORED_SKETCHES.is_not(None))
    listed = {each for text in unit.connection.execute(stored).scalars() for each in stored_values.split(text)}
    gone = [each for each in unit.connection.execute(unused).scalars() if bytes(each).hex() not in listed]
    for start in range(0, len(gone), _KEYS_AT_ONCE):
        some = s.HASH.in_(gone[start : start + _KEYS_AT_ONCE])
        unit.connection.execute(delete(HMSTATS_HISTORY_SKETCH).where(s.TBL_ID == table_id, some))
