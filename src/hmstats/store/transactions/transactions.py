"""TXNS: transactions, with ids from the database.

Ids become visible in order: opening transactions holds a lock from the moment the ids are taken until they
are committed, so no reader sees an id before a lower one. An open transaction whose heartbeat is too
old counts as aborted, whether or not its row is marked yet.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, insert, select, text, update

from hmstats.model.transactions.locks import Owner
from hmstats.model.transactions.transactions import Transaction, TransactionState
from hmstats.store.schema import TXN_TO_WRITE_ID, TXNS
from hmstats.store.statements.database_clock import now_ms
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_T = TXNS.c
_OPEN, _ABORTED, _COMMITTED = (
    state.value for state in (TransactionState.OPEN, TransactionState.ABORTED, TransactionState.COMMITTED)
)
_OPENERS_LOCK = 0x686D_7374_7478_6E
"""The key of PostgreSQL's advisory lock that openers hold; SQLite has one writer at a time."""
_RETENTION_MS = 86_400_000
"""Retention of ended transactions, so that a late client learns the outcome: a day, in milliseconds."""


def open_many(unit: Unit, count: int, owner: Owner, kind: int) -> list[int]:
    """Open transactions. Returns their ids in order."""
    connection = unit.connection
    _lock_openers(connection)
    now = connection.execute(select(now_ms(connection))).scalar_one()
    row = {
        "TXN_STATE": _OPEN,
        "TXN_STARTED": now,
        "TXN_LAST_HEARTBEAT": now,
        "TXN_USER": owner.user,
        "TXN_HOST": owner.host,
        "TXN_AGENT_INFO": owner.agent,
        "TXN_TYPE": kind,
    }
    return sorted(connection.execute(insert(TXNS).returning(_T.TXN_ID), [row] * count).scalars())


def lock_states(unit: Unit, ids: Sequence[int], timeout_ms: int) -> dict[int, tuple[TransactionState, int]]:
    """State and kind by transaction id, with the rows locked until the unit ends; missing ones are absent."""
    query = (
        select(_T.TXN_ID, _state(unit.connection, timeout_ms), _T.TXN_TYPE)
        .where(one_of(unit.connection, _T.TXN_ID, ids))
        .order_by(_T.TXN_ID)
        .with_for_update()
    )
    return {each: (TransactionState(state), kind or 0) for each, state, kind in unit.connection.execute(query)}


def prolong(unit: Unit, ids: Sequence[int]) -> None:
    """Record a heartbeat of open transactions, whose rows the caller has locked."""
    beat = update(TXNS).where(one_of(unit.connection, _T.TXN_ID, ids))
    unit.connection.execute(beat.values(TXN_LAST_HEARTBEAT=now_ms(unit.connection)))


def end(unit: Unit, ids: Sequence[int], state: TransactionState) -> None:
    """Mark transactions as committed or aborted, whose rows the caller has locked."""
    unit.connection.execute(update(TXNS).where(one_of(unit.connection, _T.TXN_ID, ids)).values(TXN_STATE=state.value))


def abort_dead(unit: Unit, timeout_ms: int) -> None:
    """Mark expired open transactions as aborted; skips locked rows, since another process is changing them."""
    free = select(_T.TXN_ID).where(_dead(unit.connection, timeout_ms)).with_for_update(skip_locked=True)
    unit.connection.execute(update(TXNS).where(_T.TXN_ID.in_(free)).values(TXN_STATE=_ABORTED))


def unfinished(connection: Connection, timeout_ms: int) -> tuple[int, list[Transaction]]:
    """The highest id given, and the transactions that are open or aborted, by id."""
    state = _state(connection, timeout_ms).label("state")
    highest = connection.execute(select(func.max(_T.TXN_ID))).scalar_one() or 0
    query = select(*_T, state).where(_T.TXN_STATE != _COMMITTED, _T.TXN_ID <= highest).order_by(_T.TXN_ID)
    return highest, [_transaction(row) for row in connection.execute(query).mappings()]


def count_from(unit: Unit, next_id: int) -> None:
    """Set the id of the next transaction; it must be above every id given."""
    if unit.connection.dialect.name == "sqlite":
        statement = "UPDATE sqlite_sequence SET seq = :next_id - 1 WHERE name = 'TXNS'"
    else:
        statement = """SELECT setval(pg_get_serial_sequence('"TXNS"', 'TXN_ID'), :next_id, false)"""
    unit.connection.execute(text(statement), {"next_id": next_id})


def highest_when_opening(unit: Unit) -> int:
    """The highest id given; blocks the opening of transactions until the unit ends."""
    _lock_openers(unit.connection)
    return unit.connection.execute(select(func.max(_T.TXN_ID))).scalar_one() or 0


def remove_ended(unit: Unit) -> None:
    """Remove transactions that ended long ago, and their write ids.

    An aborted transaction with write ids stays, since its writes must never be visible, and so does every write id
    above the oldest such or open transaction. The highest id stays too: ids continue from it.
    """
    connection = unit.connection
    took_write_ids = select(TXN_TO_WRITE_ID.c.T2W_TXNID).where(TXN_TO_WRITE_ID.c.T2W_TXNID == _T.TXN_ID).exists()
    matters = (_T.TXN_STATE == _OPEN) | ((_T.TXN_STATE == _ABORTED) & took_write_ids)
    highest = select(func.max(_T.TXN_ID)).scalar_subquery()
    floor = select(func.coalesce(func.min(_T.TXN_ID), highest)).where(matters).scalar_subquery()
    old = _T.TXN_LAST_HEARTBEAT < now_ms(connection) - _RETENTION_MS
    removable = select(_T.TXN_ID).where(_T.TXN_STATE == _COMMITTED, _T.TXN_ID < floor, old)
    connection.execute(delete(TXN_TO_WRITE_ID).where(TXN_TO_WRITE_ID.c.T2W_TXNID.in_(removable)))
    useless = (_T.TXN_STATE == _ABORTED) & ~took_write_ids
    ended = and_(_T.TXN_ID < highest, old, useless | ((_T.TXN_STATE == _COMMITTED) & (_T.TXN_ID < floor)))
    connection.execute(delete(TXNS).where(ended))


def _lock_openers(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(select(func.pg_advisory_xact_lock(_OPENERS_LOCK)))


def _dead(connection: Connection, timeout_ms: int) -> ColumnElement[bool]:
    return and_(_T.TXN_STATE == _OPEN, _T.TXN_LAST_HEARTBEAT < now_ms(connection) - timeout_ms)


def _state(connection: Connection, timeout_ms: int) -> ColumnElement[Any]:
    return case((_dead(connection, timeout_ms), _ABORTED), else_=_T.TXN_STATE)


def _transaction(row: Mapping[Any, Any]) -> Transaction:
    return Transaction(
        id=row["TXN_ID"],
        state=TransactionState(row["state"]),
        kind=row["TXN_TYPE"] or 0,
        owner=Owner(row["TXN_USER"], row["TXN_HOST"], row["TXN_AGENT_INFO"]),
        meta=row["TXN_META_INFO"],
        heartbeats=row["TXN_HEARTBEAT_COUNT"] or 0,
        started_ms=row["TXN_STARTED"],
        last_heartbeat_ms=row["TXN_LAST_HEARTBEAT"],
    )
