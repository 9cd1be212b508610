"""Locks with a timeout: requested, granted in order, renewed by heartbeats, released or expired."""

from hmstats.errors import InvalidInput, NoSuchLock, TransactionOpen
from hmstats.model.transactions.locks import Lock, LockAnswer, LockFilter, LockKind, LockRequest, LockState
from hmstats.service.transactions.transactions import prolong, require_open
from hmstats.store.database.store import Store
from hmstats.store.transactions import locks, transactions
from hmstats.store.transactions.locks import AskedLock
from hmstats.store.unit.unit import Connection, Unit

_RECENT_DIVISOR = 10
"""Fraction of the timeout, as a divisor, in which a heartbeat is recent: a check within it renews nothing."""


class Locks:
    """The locks of every database, shared by all servers of one store.

    A lock without a heartbeat for `timeout_seconds` expires. The clock is the database's, so that servers whose clocks
    differ agree.
    """

    def __init__(self, store: Store, *, timeout_seconds: float) -> None:
        self._store = store
        self._timeout_ms = int(timeout_seconds * 1000)

    def lock(self, request: LockRequest) -> LockAnswer:
        """Request a lock: it is granted at once if nothing conflicts, and waits otherwise.

        Raises InvalidInput if it has no component, NoSuchTransaction and TransactionAborted if its transaction is not
        open.
        """
        if not request.components:
            raise InvalidInput("a lock must have a component, found none")

        def insert(unit: Unit) -> LockAnswer:
            if request.transaction:
                require_open(unit, [request.transaction], self._timeout_ms)
            lock_id = locks.insert_waiting(unit, request)
            return self._decide(unit, AskedLock.of(lock_id, request), request)

        return self._store.write(insert)

    def check(self, lock_id: int) -> LockAnswer:
        """The current state of a lock. The check is a heartbeat too, so a lock that is polled stays in the queue.

        Raises NoSuchLock, and NoSuchTransaction and TransactionAborted for the lock of a transaction.
        """
        with self._store.read() as connection:
            recent = self._recent_state(connection, lock_id)
        if recent is not None:
            return LockAnswer(lock_id, recent)

        def renew(unit: Unit) -> LockAnswer:
            renewed = self._record_heartbeat(unit, lock_id)
            if renewed.state is LockState.ACQUIRED:
                return LockAnswer(lock_id, LockState.ACQUIRED)
            return self._decide(unit, locks.read_asked(unit.connection, lock_id), None)

        return self._store.write(renew)

    def unlock(self, lock_id: int) -> None:
        """Release a lock; a missing lock counts as released.

        Raises TransactionOpen if a transaction holds the lock.
        """

        def release(unit: Unit) -> None:
            if locks.remove_unbound(unit, lock_id):
                return
            lock = locks.get(unit.connection, lock_id)
            if lock is not None:
                raise TransactionOpen(f"lock {lock_id} is released with its transaction {lock.transaction}, not before")

        self._store.write(release)

    def heartbeat(self, lock_id: int, transaction: int) -> None:
        """Record a heartbeat of a lock, a transaction or both; the id 0 means none.

        Raises NoSuchLock, NoSuchTransaction and TransactionAborted.
        """

        def beat(unit: Unit) -> None:
            if transaction:  # comes first, since its end is why its lock is not there
                prolong(unit, transaction, self._timeout_ms)
            if lock_id:
                self._record_heartbeat(unit, lock_id)

        if lock_id or transaction:
            self._store.write(beat)

    def listed(self, wanted: LockFilter) -> list[Lock]:
        """The wanted locks, in the order of their requests."""
        with self._store.read() as connection:
            return locks.listed(connection, wanted, self._timeout_ms)

    def _recent_state(self, connection: Connection, lock_id: int) -> LockState | None:
        """The state of a lock if a check need write nothing, since its last heartbeat is recent; else None.

        Clients poll many times a second while they wait: reads alone do not block the holder.
        """
        state = locks.state_and_age(connection, lock_id)
        if state is None or state[1] > self._timeout_ms // _RECENT_DIVISOR:
            return None
        if state[0] is LockState.WAITING and locks.first_blocked(connection, state[2]) is None:
            return None
        return state[0]

    def _record_heartbeat(self, unit: Unit, lock_id: int) -> Lock:
        """Record a heartbeat of a lock, or of the transaction that holds it. Raises NoSuchLock."""
        without_transaction = locks.prolong(unit, lock_id, self._timeout_ms)
        if without_transaction is not None:
            return without_transaction
        lock = locks.get(unit.connection, lock_id)
        if lock is None or not lock.transaction:
            raise _missing(lock_id)
        prolong(unit, lock.transaction, self._timeout_ms)
        return lock

    def _decide(self, unit: Unit, asked: AskedLock, request: LockRequest | None) -> LockAnswer:
        """Grant a waiting lock unless another blocks it; if its request must not wait, remove it then."""
        blocked = _first_blocked(unit.connection, asked, request)
        if blocked and self._remove_dead(unit):
            blocked = _first_blocked(unit.connection, asked, request)
        if blocked is None:
            if not locks.acquire(unit, asked.id):
                raise _missing(asked.id)
            return LockAnswer(asked.id, LockState.ACQUIRED)
        part, kind, blocker = blocked
        if request and _gives_up(request, kind):
            locks.remove(unit, asked.id)
            return LockAnswer(asked.id, LockState.NOT_ACQUIRED, f"{kind.name} would have to wait for {blocker}")
        locks.note_blocker(unit, asked.id, part, blocker)
        return LockAnswer(asked.id, LockState.WAITING)

    def _remove_dead(self, unit: Unit) -> bool:
        transactions.abort_dead(unit, self._timeout_ms)
        return locks.remove_dead(unit, self._timeout_ms)


def _first_blocked(
    connection: Connection, asked: AskedLock, request: LockRequest | None
) -> tuple[int, LockKind, Lock] | None:
    """A blocked component of a lock, a read if there is one and the request's reads must not wait."""
    if request and request.reads_never_wait and (blocked := locks.first_blocked(connection, asked.reads())):
        return blocked
    return locks.first_blocked(connection, asked)


def _gives_up(request: LockRequest, blocked: LockKind) -> bool:
    reads = request.reads_never_wait and blocked is LockKind.SHARED_READ
    return request.transaction != 0 and (request.never_waits or reads)


def _missing(lock_id: int) -> NoSuchLock:
    return NoSuchLock(f"No such lock lockid:{lock_id}: it was released, or not prolonged in time")
