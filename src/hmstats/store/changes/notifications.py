"""NOTIFICATION_LOG: events, numbered without a gap in the order of commits.

The id comes from the only row of NOTIFICATION_SEQUENCE, which Hive locks too: a writer of an event blocks every other
one until its commit. So a unit writes events last, in one round trip.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.model.events import Logged, Notification, NotificationFilter
from hmstats.store.schema import NOTIFICATION_LOG as LOG
from hmstats.store.schema import NOTIFICATION_SEQUENCE as SEQUENCE
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit import ids
from hmstats.store.unit.prepared import Prepared
from hmstats.store.unit.unit import Unit
from hmstats.store.unit.version_guard import AS_EXPECTED, NAMES

_ROW = 1
"""The id of the sequence's only row."""
_FIRST = 1
_REMOVED_AT_ONCE = 1_000
_BATCH_CHARACTERS = 4_000_000


def append(unit: Unit, notifications: Sequence[Notification]) -> range:
    """Append notifications to the log. Returns their ids in order; none if they are written with the commit."""
    if not notifications:
        return range(0)
    if unit.expects:
        append_later(unit, notifications)
        return range(0)
    rows = _rows(unit, notifications)
    write = _insert_rows if unit.connection.dialect.name == "sqlite" else _insert_in_one_statement
    first = write(unit, rows)
    if first is None:
        _begin_sequence(unit)
        first = write(unit, rows) or _FIRST
    return range(first, first + len(rows))


def append_later(unit: Unit, notifications: Sequence[Notification]) -> None:
    """Append notifications to the log with the commit, on PostgreSQL, where the sequence has its row already."""
    statement, sent = _numbering_insert(unit, _rows(unit, notifications))
    statement.queue(unit, {**sent, **(unit.expects.values if unit.expects else {})})


def batches(notifications: Iterable[Notification]) -> Iterator[list[Notification]]:
    """Split notifications into batches to append, so that not all messages of a large change are in memory at once."""
    batch: list[Notification] = []
    size = 0
    for each in notifications:
        batch.append(each)
        size += len(each.message)
        if size > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def current_id(connection: Connection) -> int:
    """The id of the last event that was ever written; 0 before the first."""
    next_id = connection.execute(select(SEQUENCE.c.NEXT_EVENT_ID)).scalar_one_or_none()
    return (next_id or _FIRST) - 1


def read(connection: Connection, wanted: NotificationFilter, limit: int | None) -> list[Logged]:
    """The first `limit` wanted notifications (None: all), in order."""
    c = LOG.c
    columns = (c.EVENT_TYPE, c.CAT_NAME, c.DB_NAME, c.TBL_NAME, c.MESSAGE, c.MESSAGE_FORMAT)
    query = select(c.EVENT_ID, c.EVENT_TIME, *columns).where(*_conditions(connection, wanted)).order_by(c.EVENT_ID)
    rows = connection.execute(query.limit(limit))
    return [Logged(event_id, seconds, Notification(*rest)) for event_id, seconds, *rest in rows]


def count(connection: Connection, wanted: NotificationFilter) -> int:
    """The number of wanted notifications."""
    query = select(func.count()).select_from(LOG).where(*_conditions(connection, wanted))
    return connection.execute(query).scalar_one()


def remove_older(unit: Unit, before_seconds: int) -> int:
    """Remove the oldest notifications before a time (epoch seconds). Returns their number, at most a thousand."""
    oldest = select(LOG.c.EVENT_ID, LOG.c.EVENT_TIME).order_by(LOG.c.EVENT_ID).limit(_REMOVED_AT_ONCE)
    rows = unit.connection.execute(oldest).all()
    # Only the beginning of the log is removed, even if a clock was wrong: the rest has no gap.
    old = [row.EVENT_ID for row in takewhile(lambda row: row.EVENT_TIME < before_seconds, rows)]
    if old:
        unit.connection.execute(delete(LOG).where(LOG.c.EVENT_ID <= old[-1]))
    return len(old)


def _rows(unit: Unit, notifications: Sequence[Notification]) -> list[dict[str, Any]]:
    """The rows without their event ids."""
    return [
        {
            "NL_ID": key,
            "EVENT_TIME": unit.now_seconds,
            "EVENT_TYPE": each.type,
            "CAT_NAME": each.catalog,
            "DB_NAME": each.database,
            "TBL_NAME": each.table,
            "MESSAGE": each.message,
            "MESSAGE_FORMAT": each.format,
        }
        for key, each in zip(unit.ids(ids.Sequence.NOTIFICATION, len(notifications)), notifications, strict=True)
    ]


def _insert_rows(unit: Unit, rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Insert rows. Returns the first event id; None if the sequence has no row yet."""
    next_id, number = SEQUENCE.c.NEXT_EVENT_ID, len(rows)
    take = update(SEQUENCE).values(NEXT_EVENT_ID=next_id + number).returning(next_id - number)
    first = unit.connection.execute(take).scalar_one_or_none()
    if first is not None:
        numbered = [{**row, "EVENT_ID": event_id} for event_id, row in enumerate(rows, first)]
        unit.connection.execute(insert(LOG), numbered)
    return first


def _insert_in_one_statement(unit: Unit, rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Insert rows in one statement on PostgreSQL, so that the sequence is locked for one round trip less.

    Returns the first event id; None if the sequence has no row yet.
    """
    statement, sent = _numbering_insert(unit, rows)
    values = tuple(sent[name] for name in statement.names)
    return min(unit.connection.exec_driver_sql(statement.text, values).scalars().all(), default=None)


def _numbering_insert(unit: Unit, rows: Sequence[Mapping[str, Any]]) -> tuple[CompiledStatement, dict[str, Any]]:
    """PostgreSQL's statement that numbers and inserts rows, and its parameters."""
    names = unit.shape.present(LOG, _SQL_TYPES)
    columns = {name: [row[name] for row in rows] for name in names if name != _EVENT_ID}
    columns[_EVENT_ID] = list(range(len(rows)))
    single = frozenset(name for name, values in columns.items() if values.count(values[0]) == len(values))
    sent = {name: values[0] if name in single else values for name, values in columns.items()}
    return _statement(tuple(names), single, expecting=bool(unit.expects)), {**sent, "number": len(rows)}


_EVENT_ID = "EVENT_ID"
"""The column whose parameter is the row's index from 0; the statement adds the first id."""
_SQL_TYPES = {
    _EVENT_ID: "bigint",
    "NL_ID": "bigint",
    "EVENT_TIME": "integer",
    "EVENT_TYPE": "text",
    "CAT_NAME": "text",
    "DB_NAME": "text",
    "TBL_NAME": "text",
    "MESSAGE": "text",
    "MESSAGE_FORMAT": "text",
}


@cache
def _statement(names: tuple[str, ...], single: frozenset[str], *, expecting: bool) -> CompiledStatement:
    """The text of the statement; cached, since building it takes as long as sending it, while other writers wait.

    Columns in `single` have one value for all rows, the others an array.
    """
    values = {
        name: f"%s::{_SQL_TYPES[name]}" if name in single else f"unnest(%s::{_SQL_TYPES[name]}[])" for name in names
    }
    values[_EVENT_ID] = f"taken.first + {values[_EVENT_ID]}"
    text = f"""
    WITH taken AS (
        UPDATE "NOTIFICATION_SEQUENCE" SET "NEXT_EVENT_ID" = "NEXT_EVENT_ID" + %s
        {f"WHERE {AS_EXPECTED}" if expecting else ""}
        RETURNING "NEXT_EVENT_ID" - %s AS first
    )
    INSERT INTO "NOTIFICATION_LOG" ({", ".join(f'"{name}"' for name in values)})
    SELECT {", ".join(values.values())} FROM taken
    RETURNING "EVENT_ID"
    """
    parameters = ("number", *(NAMES if expecting else ()), "number", *values)
    return CompiledStatement(text, parameters, {}, Prepared.of(text))


def _begin_sequence(unit: Unit) -> None:
    """Insert the sequence's row, which schemas before Hive 3 do not have."""
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    row = dialect.insert(SEQUENCE).values(NNI_ID=_ROW, NEXT_EVENT_ID=_FIRST)
    unit.connection.execute(row.on_conflict_do_nothing())


def _conditions(connection: Connection, wanted: NotificationFilter) -> list[ColumnElement[bool]]:
    c = LOG.c
    conditions = [c.EVENT_ID > wanted.after]
    if wanted.until is not None:
        conditions.append(c.EVENT_ID <= wanted.until)
    if wanted.catalog is not None:
        conditions.append(c.CAT_NAME == wanted.catalog)
    if wanted.database is not None:
        conditions.append(c.DB_NAME == wanted.database)
    if wanted.tables:
        conditions.append(one_of(connection, c.TBL_NAME, wanted.tables))
    if wanted.types:
        conditions.append(one_of(connection, c.EVENT_TYPE, wanted.types))
    if wanted.other_types:
        conditions.append(~one_of(connection, c.EVENT_TYPE, wanted.other_types))
    return conditions
