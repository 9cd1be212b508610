"""HIVE_LOCKS: locks in the order of their requests, by Hive's own protocol.

A lock waits only for locks with a lower id. The row of NEXT_LOCK_ID is locked from the moment an id is taken until its
lock's rows are committed, so the owner of an id sees every lock with a lower one. Nothing else needs to be locked:
two requests cannot both miss each other, and cannot deadlock.

Every heartbeat or removal of a lock first locks the row of its first part, so that the parts stay together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    insert,
    or_,
    select,
    update,
)

from hmstats.model.transactions.locks import (
    BLOCKED_BY,
    Lock,
    LockComponent,
    LockFilter,
    LockKind,
    LockRequest,
    LockState,
    Owner,
)
from hmstats.model.transactions.transactions import TransactionState
from hmstats.store.schema import HIVE_LOCKS, NEXT_LOCK_ID, TXNS
from hmstats.store.statements.database_clock import now_ms
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_L = HIVE_LOCKS.c
_FIRST_PART = 1
_ASKED, _HELD = HIVE_LOCKS.alias("asked"), HIVE_LOCKS.alias("held")


def insert_waiting(unit: Unit, request: LockRequest) -> int:
    """Insert a lock at the end of the queue. Returns its id."""
    next_id = NEXT_LOCK_ID.c.NL_NEXT + 1
    increment = update(NEXT_LOCK_ID).values(NL_NEXT=next_id).returning(NEXT_LOCK_ID.c.NL_NEXT, now_ms(unit.connection))
    end, now = unit.connection.execute(increment.execution_options(**PREPARED)).one()
    lock_id: int = end - 1
    rows = [
        {
            "HL_LOCK_EXT_ID": lock_id,
            "HL_LOCK_INT_ID": part,
            "HL_TXNID": request.transaction,
            "HL_DB": component.database,
            "HL_TABLE": component.table,
            "HL_PARTITION": component.partition,
            "HL_LOCK_STATE": LockState.WAITING.value,
            "HL_LOCK_TYPE": component.kind.value,
            "HL_LAST_HEARTBEAT": 0 if request.transaction else now,
            "HL_USER": request.owner.user,
            "HL_HOST": request.owner.host,
            "HL_AGENT_INFO": request.owner.agent,
        }
        for part, component in enumerate(request.components, start=_FIRST_PART)
    ]
    unit.connection.execute(insert(HIVE_LOCKS), rows)
    return lock_id


def first_blocked(connection: Connection, lock_id: int) -> tuple[int, LockKind, Lock] | None:
    """A blocked component of the lock: its part and kind, and the first lock that blocks it; None if none is blocked.

    Waiting locks block as held ones do: locks are granted in the order of their requests.
    """
    row = connection.execute(_FIRST_BLOCKED, {"lock_id": lock_id}).mappings().one_or_none()
    return None if row is None else (row["part"], LockKind(row["kind"]), _lock(row))


def _components_overlap() -> ColumnElement[bool]:
    """The condition that two components overlap: they are equal, or one contains the other."""
    asked, held = _ASKED.c, _HELD.c
    tables = or_(asked.HL_TABLE.is_(None), held.HL_TABLE.is_(None), asked.HL_TABLE == held.HL_TABLE)
    partitions = or_(asked.HL_PARTITION.is_(None), held.HL_PARTITION.is_(None), asked.HL_PARTITION == held.HL_PARTITION)
    return and_(asked.HL_DB == held.HL_DB, tables, partitions)


def _kinds_conflict() -> ColumnElement[bool]:
    """The condition that the kinds of two components conflict."""
    asked, held = _ASKED.c, _HELD.c
    kinds = [
        and_(asked.HL_LOCK_TYPE == kind.value, held.HL_LOCK_TYPE.in_(sorted(each.value for each in blockers)))
        for kind, blockers in BLOCKED_BY.items()
    ]
    read, exclusive = LockKind.SHARED_READ.value, LockKind.EXCLUSIVE.value
    passing = [
        and_(
            whole.HL_LOCK_TYPE == read,
            whole.HL_TABLE.is_(None),
            inner.HL_LOCK_TYPE == exclusive,
            inner.HL_TABLE.is_not(None),
        )
        for whole, inner in ((asked, held), (held, asked))
    ]
    return and_(or_(*kinds), ~or_(*passing))


def _first_blocked() -> Select[Any]:
    """The query for a lock's first blocked part and its blocker."""
    asked, held = _ASKED.c, _HELD.c
    return (
        select(asked.HL_LOCK_INT_ID.label("part"), asked.HL_LOCK_TYPE.label("kind"), *held)
        .select_from(_ASKED.join(_HELD, and_(held.HL_LOCK_EXT_ID < asked.HL_LOCK_EXT_ID, _components_overlap())))
        .where(
            asked.HL_LOCK_EXT_ID == bindparam("lock_id"),
            or_(asked.HL_TXNID == 0, held.HL_TXNID != asked.HL_TXNID),
            _kinds_conflict(),
        )
        .order_by(held.HL_LOCK_EXT_ID, held.HL_LOCK_INT_ID)
        .limit(1)
    )


# Built once: that takes longer than running it, and waiting clients poll often.
_FIRST_BLOCKED = _first_blocked().execution_options(**PREPARED)


def acquire(unit: Unit, lock_id: int) -> bool:
    """Grant a waiting lock. Returns False if it does not exist."""
    changes = {
        "HL_LOCK_STATE": LockState.ACQUIRED.value,
        "HL_ACQUIRED_AT": now_ms(unit.connection),
        "HL_BLOCKEDBY_EXT_ID": None,
        "HL_BLOCKEDBY_INT_ID": None,
    }
    waiting = (_L.HL_LOCK_EXT_ID == lock_id) & (_L.HL_LOCK_STATE == LockState.WAITING.value)
    granting = update(HIVE_LOCKS).where(waiting).values(changes).execution_options(**PREPARED)
    return unit.connection.execute(granting).rowcount > 0


def note_blocker(unit: Unit, lock_id: int, part: int, blocker: Lock) -> None:
    """Store the blocker of a component, for listings of locks."""
    blocked_by = {"HL_BLOCKEDBY_EXT_ID": blocker.id, "HL_BLOCKEDBY_INT_ID": blocker.part}
    is_part = (_L.HL_LOCK_EXT_ID == lock_id) & (_L.HL_LOCK_INT_ID == part)
    unit.connection.execute(update(HIVE_LOCKS).where(is_part).values(blocked_by))


def get(connection: Connection, lock_id: int) -> Lock | None:
    """The first component of a lock; None if it does not exist."""
    row = connection.execute(select(HIVE_LOCKS).where(_first_part(lock_id))).mappings().one_or_none()
    return None if row is None else _lock(row)


def state_and_age(connection: Connection, lock_id: int) -> tuple[LockState, int] | None:
    """The state of a lock, and the age in milliseconds of the last heartbeat of it or its transaction.

    None if it does not exist, or its transaction is not open.
    """
    its_open = and_(TXNS.c.TXN_ID == _L.HL_TXNID, TXNS.c.TXN_STATE == TransactionState.OPEN.value)
    last = case((_L.HL_TXNID == 0, _L.HL_LAST_HEARTBEAT), else_=TXNS.c.TXN_LAST_HEARTBEAT)
    query = (
        select(_L.HL_LOCK_STATE, now_ms(connection) - last)
        .select_from(HIVE_LOCKS.outerjoin(TXNS, its_open))
        .where(_first_part(lock_id), last.is_not(None))
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else (LockState(row[0]), row[1])


def prolong(unit: Unit, lock_id: int, timeout_ms: int) -> Lock | None:
    """Record a heartbeat of a lock without a transaction; None if it does not exist or has expired."""
    connection = unit.connection
    first = select(HIVE_LOCKS, now_ms(connection).label("now")).where(_first_part(lock_id), _L.HL_TXNID == 0)
    row = connection.execute(first.with_for_update(of=HIVE_LOCKS)).mappings().one_or_none()
    if row is None or row["HL_LAST_HEARTBEAT"] < row["now"] - timeout_ms:
        return None
    beat = update(HIVE_LOCKS).where(_L.HL_LOCK_EXT_ID == lock_id).values(HL_LAST_HEARTBEAT=row["now"])
    connection.execute(beat)
    return _lock(row)


def remove(unit: Unit, lock_id: int) -> None:
    """Remove a lock, held or waiting."""
    unit.connection.execute(delete(HIVE_LOCKS).where(_L.HL_LOCK_EXT_ID == lock_id))


def remove_unbound(unit: Unit, lock_id: int) -> bool:
    """Remove a lock unless a transaction holds it. Returns False if nothing was removed."""
    unbound = or_(_L.HL_TXNID == 0, _L.HL_LOCK_STATE == LockState.WAITING.value)
    return _remove_with(unit, select(_L.HL_LOCK_EXT_ID).where(_first_part(lock_id), unbound).with_for_update())


def remove_of_transactions(unit: Unit, transactions: Sequence[int]) -> None:
    """Remove every lock of some transactions."""
    unit.connection.execute(delete(HIVE_LOCKS).where(one_of(unit.connection, _L.HL_TXNID, transactions)))


def remove_dead(unit: Unit, timeout_ms: int) -> bool:
    """Remove expired locks, and locks of ended transactions. Returns False if there were none.

    Skips locks whose rows are locked, since another process is renewing or removing them. A lock that has lost its
    first part is removed too: no heartbeat and no removal reaches it.
    """
    expired = (_L.HL_TXNID == 0) & (_L.HL_LAST_HEARTBEAT < now_ms(unit.connection) - timeout_ms)
    still_open = select(TXNS.c.TXN_ID).where(TXNS.c.TXN_STATE == TransactionState.OPEN.value)
    dead = or_(expired, (_L.HL_TXNID != 0) & _L.HL_TXNID.not_in(still_open))
    before = HIVE_LOCKS.alias("before")
    earlier = exists().where(before.c.HL_LOCK_EXT_ID == _L.HL_LOCK_EXT_ID, before.c.HL_LOCK_INT_ID < _L.HL_LOCK_INT_ID)
    free = select(_L.HL_LOCK_EXT_ID).where(dead, ~earlier)
    return _remove_with(unit, free.with_for_update(of=HIVE_LOCKS, skip_locked=True))


def _remove_with(unit: Unit, firsts: Select[tuple[int]]) -> bool:
    """Remove the locks whose first parts a query locks. Returns False if there were none.

    The query runs once, before anything is removed: PostgreSQL may else run it for each part, and would not find a
    first part that is removed already, so that other parts were left.
    """
    if unit.connection.dialect.name == "postgresql":
        firsts = select(firsts.cte("first").prefix_with("MATERIALIZED"))
    removal = delete(HIVE_LOCKS).where(_L.HL_LOCK_EXT_ID.in_(firsts)).execution_options(**PREPARED)
    return unit.connection.execute(removal).rowcount > 0


def listed(connection: Connection, selection: LockFilter, timeout_ms: int) -> list[Lock]:
    """The wanted locks that have not expired, in the order of their requests."""
    columns = {
        _L.HL_DB: selection.database,
        _L.HL_TABLE: selection.table,
        _L.HL_PARTITION: selection.partition,
        _L.HL_TXNID: selection.transaction,
    }
    alive = or_(_L.HL_TXNID != 0, _L.HL_LAST_HEARTBEAT >= now_ms(connection) - timeout_ms)
    conditions = [column == value for column, value in columns.items() if value is not None]
    query = select(HIVE_LOCKS).where(alive, *conditions).order_by(_L.HL_LOCK_EXT_ID, _L.HL_LOCK_INT_ID)
    return [_lock(row) for row in connection.execute(query).mappings()]


def _first_part(lock_id: int) -> ColumnElement[bool]:
    return and_(_L.HL_LOCK_EXT_ID == lock_id, _L.HL_LOCK_INT_ID == _FIRST_PART)


def _lock(row: Mapping[Any, Any]) -> Lock:
    blocked = row["HL_BLOCKEDBY_EXT_ID"]
    return Lock(
        id=row["HL_LOCK_EXT_ID"],
        part=row["HL_LOCK_INT_ID"],
        component=LockComponent(LockKind(row["HL_LOCK_TYPE"]), row["HL_DB"], row["HL_TABLE"], row["HL_PARTITION"]),
        state=LockState(row["HL_LOCK_STATE"]),
        transaction=row["HL_TXNID"],
        owner=Owner(row["HL_USER"], row["HL_HOST"], row["HL_AGENT_INFO"]),
        last_heartbeat_ms=row["HL_LAST_HEARTBEAT"],
        acquired_ms=row["HL_ACQUIRED_AT"],
        heartbeats=row["HL_HEARTBEAT_COUNT"] or 0,
        blocked_by=None if blocked is None else (blocked, row["HL_BLOCKEDBY_INT_ID"]),
    )
