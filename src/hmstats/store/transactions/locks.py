"""HIVE_LOCKS: locks in the order of their requests, by Hive's own protocol.

A lock waits only for locks with a lower id. The row of NEXT_LOCK_ID is locked from the moment an id is taken until its
lock's rows are committed, so the owner of an id sees every lock with a lower one. Nothing else needs to be locked:
two requests cannot both miss each other, and cannot deadlock.

Every heartbeat or removal of a lock first locks the row of its first part, so that the parts stay together.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    tuple_,
    update,
)

from hmstats.model.transactions.lock_conflicts import LockConflicts
from hmstats.model.transactions.locks import (
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
_NO_TRANSACTION = -1
"""A transaction that no lock has."""
_ROWS_AT_ONCE = 1_000
_OF_COMPONENT = (_L.HL_LOCK_INT_ID, _L.HL_TXNID, _L.HL_LOCK_TYPE, _L.HL_DB, _L.HL_TABLE, _L.HL_PARTITION)


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


@dataclass(frozen=True, slots=True)
class AskedLock:
    """The request of a stored lock: its components by part. `transaction` is 0 for none."""

    id: int
    transaction: int
    components: Mapping[int, LockComponent]

    @classmethod
    def of(cls, lock_id: int, request: LockRequest) -> "AskedLock":
        """The request of a lock that was just inserted."""
        return cls(lock_id, request.transaction, dict(enumerate(request.components, start=_FIRST_PART)))

    def reads(self) -> "AskedLock":
        """The lock with its SHARED_READ components alone."""
        read = {part: each for part, each in self.components.items() if each.kind is LockKind.SHARED_READ}
        return replace(self, components=read)


def read_asked(connection: Connection, lock_id: int) -> AskedLock:
    """Read the request of a stored lock; without components if the lock does not exist."""
    return _to_asked(lock_id, connection.execute(_ASKED, {"lock_id": lock_id}).mappings().all())


def _to_asked(lock_id: int, rows: Sequence[Mapping[Any, Any]]) -> AskedLock:
    transaction = rows[0]["HL_TXNID"] if rows else 0
    return AskedLock(lock_id, transaction, {row["HL_LOCK_INT_ID"]: _component(row) for row in rows})


def first_blocked(connection: Connection, lock: AskedLock) -> tuple[int, LockKind, Lock] | None:
    """A blocked component of a lock: its part and kind, and the first lock that blocks it; None if none is blocked.

    Waiting locks block as held ones do: locks are granted in the order of their requests.
    """
    conflicts = LockConflicts(lock.components)
    for row in _earlier_rows(connection, lock, conflicts.blocking_kinds):
        part = conflicts.part_blocked_by(_component(row))
        if part is not None:
            return part, lock.components[part].kind, _lock(row)
    return None


def _earlier_rows(connection: Connection, lock: AskedLock, kinds: Collection[LockKind]) -> Iterator[Mapping[Any, Any]]:
    """The rows of locks before this one, in order, of these kinds, in its databases and of other transactions."""
    if not kinds:
        return
    letters = [each.value for each in kinds]
    values: dict[str, Any] = {f"kind{place}": letters[place % len(letters)] for place in range(len(LockKind))}
    values |= {"lock_id": lock.id, "own": lock.transaction or _NO_TRANSACTION, "id": 0, "part": 0}
    while True:
        rows = connection.execute(_EARLIER, values).mappings().all()
        yield from rows
        if len(rows) < _ROWS_AT_ONCE:
            return
        values |= {"id": rows[-1]["HL_LOCK_EXT_ID"], "part": rows[-1]["HL_LOCK_INT_ID"]}


def _earlier() -> Select[Any]:
    """The query for a page of the rows that may block a lock."""
    of_lock = HIVE_LOCKS.alias("of_lock").c
    databases = select(of_lock.HL_DB).where(of_lock.HL_LOCK_EXT_ID == bindparam("lock_id"))
    after = tuple_(_L.HL_LOCK_EXT_ID, _L.HL_LOCK_INT_ID) > tuple_(bindparam("id"), bindparam("part"))
    return (
        select(HIVE_LOCKS)
        .where(
            _L.HL_LOCK_EXT_ID < bindparam("lock_id"),
            after,
            _L.HL_TXNID != bindparam("own"),
            _L.HL_LOCK_TYPE.in_([bindparam(f"kind{place}") for place in range(len(LockKind))]),
            _L.HL_DB.in_(databases),
        )
        .order_by(_L.HL_LOCK_EXT_ID, _L.HL_LOCK_INT_ID)
        .limit(_ROWS_AT_ONCE)
    )


# Built once: that takes longer than running them, and waiting clients poll often.
_ASKED = select(*_OF_COMPONENT).where(_L.HL_LOCK_EXT_ID == bindparam("lock_id")).execution_options(**PREPARED)
_EARLIER = _earlier().execution_options(**PREPARED)


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


def state_and_age(connection: Connection, lock_id: int) -> tuple[LockState, int, AskedLock] | None:
    """The state of a lock, the age in milliseconds of the last heartbeat of it or its transaction, what it asks for.

    None if it does not exist, or its transaction is not open.
    """
    its_open = and_(TXNS.c.TXN_ID == _L.HL_TXNID, TXNS.c.TXN_STATE == TransactionState.OPEN.value)
    last = case((_L.HL_TXNID == 0, _L.HL_LAST_HEARTBEAT), else_=TXNS.c.TXN_LAST_HEARTBEAT)
    query = (
        select(*_OF_COMPONENT, _L.HL_LOCK_STATE, (now_ms(connection) - last).label("age_ms"))
        .select_from(HIVE_LOCKS.outerjoin(TXNS, its_open))
        .where(_L.HL_LOCK_EXT_ID == lock_id, last.is_not(None))
        .order_by(_L.HL_LOCK_INT_ID)
    )
    rows = connection.execute(query).mappings().all()
    if not rows or rows[0]["HL_LOCK_INT_ID"] != _FIRST_PART:
        return None
    return LockState(rows[0]["HL_LOCK_STATE"]), rows[0]["age_ms"], _to_asked(lock_id, rows)


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
        component=_component(row),
        state=LockState(row["HL_LOCK_STATE"]),
        transaction=row["HL_TXNID"],
        owner=Owner(row["HL_USER"], row["HL_HOST"], row["HL_AGENT_INFO"]),
        last_heartbeat_ms=row["HL_LAST_HEARTBEAT"],
        acquired_ms=row["HL_ACQUIRED_AT"],
        heartbeats=row["HL_HEARTBEAT_COUNT"] or 0,
        blocked_by=None if blocked is None else (blocked, row["HL_BLOCKEDBY_INT_ID"]),
    )


def _component(row: Mapping[Any, Any]) -> LockComponent:
    return LockComponent(LockKind(row["HL_LOCK_TYPE"]), row["HL_DB"], row["HL_TABLE"], row["HL_PARTITION"])
