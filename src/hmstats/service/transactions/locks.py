"""Locks with a lease: asked for, granted in order, kept by heartbeats, released or lost."""

from hmstats.errors import InvalidInput, NoSuchLock, TransactionOpen
from hmstats.model.locks import Lock, LockAnswer, LockFilter, LockKind, LockRequest, LockState
from hmstats.service.transactions.transactions import prolong, require_open
from hmstats.store import locks, transactions
from hmstats.store.engine import Store
from hmstats.store.unit import Connection, Unit

_YOUNG = 10
"""A heartbeat is young for this part of the timeout: asking again within it prolongs nothing."""


class Locks:
    """The locks of every database, for all servers over one store.

    A lock that is not heard of for `timeout_seconds` is lost. Time is the database's: servers whose clocks differ
    agree.
    """

    def __init__(self, store: Store, *, timeout_seconds: float) -> None:
        self._store = store
        self._timeout_ms = int(timeout_seconds * 1000)

    def lock(self, request: LockRequest) -> LockAnswer:
        """Ask for a lock: it is granted at once when nothing is in its way, and waits otherwise.

        Raises InvalidInput without a component, NoSuchTransaction and TransactionAborted for one that is not open.
        """
        if not request.components:
            raise InvalidInput("a lock must have a component, found none")

        def ask(unit: Unit) -> LockAnswer:
            if request.transaction:
                require_open(unit, [request.transaction], self._timeout_ms)
            lock_id = locks.insert_waiting(unit, request)
            return self._decide(unit, lock_id, request)

        return self._store.write(ask)

    def check(self, lock_id: int) -> LockAnswer:
        """Whether a lock is granted by now; it is prolonged too, so one that is asked for stays in the queue.

        Raises NoSuchLock, and for the lock of a transaction NoSuchTransaction and TransactionAborted.
        """
        with self._store.read() as connection:
            known = self._at_a_glance(connection, lock_id)
        if known is not None:
            return LockAnswer(lock_id, known)

        def look(unit: Unit) -> LockAnswer:
            kept = self._keep(unit, lock_id)
            if kept.state is LockState.ACQUIRED:
                return LockAnswer(lock_id, LockState.ACQUIRED)
            return self._decide(unit, lock_id, None)

        return self._store.write(look)

    def unlock(self, lock_id: int) -> None:
        """Release a lock; one that is not there is released already.

        Raises TransactionOpen for a lock that a transaction holds.
        """

        def release(unit: Unit) -> None:
            if locks.remove_unbound(unit, lock_id):
                return
            held = locks.find(unit.connection, lock_id)
            if held is not None:
                raise TransactionOpen(f"{held} is released with its transaction {held.transaction}, not before")

        self._store.write(release)

    def heartbeat(self, lock_id: int, transaction: int) -> None:
        """Prolong a lock, a transaction or both; 0 names none.

        Raises NoSuchLock, NoSuchTransaction and TransactionAborted.
        """

        def beat(unit: Unit) -> None:
            if lock_id:
                self._keep(unit, lock_id)
            if transaction:
                prolong(unit, transaction, self._timeout_ms)

        if lock_id or transaction:
            self._store.write(beat)

    def listed(self, wanted: LockFilter) -> list[Lock]:
        """The locks that are wanted, in the order in which they were asked for."""
        with self._store.read() as connection:
            return locks.listed(connection, wanted, self._timeout_ms)

    def _at_a_glance(self, connection: Connection, lock_id: int) -> LockState | None:
        """What a check would answer, if all that it would change is a heartbeat that is still young; else None.

        Clients ask many times a second while they wait: those who only read are not in the way of the holder.
        """
        found = locks.heard_of(connection, lock_id)
        if found is None or found[1] > self._timeout_ms // _YOUNG:
            return None
        if found[0] is LockState.WAITING and locks.first_blocked(connection, lock_id) is None:
            return None
        return found[0]

    def _keep(self, unit: Unit, lock_id: int) -> Lock:
        """Prolong a lock, or the transaction that it belongs to."""
        alone = locks.prolong(unit, lock_id, self._timeout_ms)
        if alone is not None:
            return alone
        bound = locks.find(unit.connection, lock_id)
        if bound is None or not bound.transaction:
            raise _missing(lock_id)
        prolong(unit, bound.transaction, self._timeout_ms)
        return bound

    def _decide(self, unit: Unit, lock_id: int, request: LockRequest | None) -> LockAnswer:
        """Grant a lock that waits, unless it must wait on; a request that must not wait is given up then."""
        blocked = locks.first_blocked(unit.connection, lock_id)
        if blocked and self._remove_dead(unit):
            blocked = locks.first_blocked(unit.connection, lock_id)
        if blocked is None:
            if not locks.acquire(unit, lock_id):
                raise _missing(lock_id)
            return LockAnswer(lock_id, LockState.ACQUIRED)
        part, kind, blocker = blocked
        if request and _gives_up(request, kind):
            locks.remove(unit, lock_id)
            return LockAnswer(lock_id, LockState.NOT_ACQUIRED, f"{kind.name} would have to wait for {blocker}")
        locks.note_blocker(unit, lock_id, part, blocker)
        return LockAnswer(lock_id, LockState.WAITING)

    def _remove_dead(self, unit: Unit) -> bool:
        transactions.abort_dead(unit, self._timeout_ms)
        return locks.remove_dead(unit, self._timeout_ms)


def _gives_up(request: LockRequest, blocked: LockKind) -> bool:
    reads = request.reads_never_wait and blocked is LockKind.SHARED_READ
    return request.transaction != 0 and (request.never_waits or reads)


def _missing(lock_id: int) -> NoSuchLock:
    return NoSuchLock(f"No such lock lockid:{lock_id}: it was released, or not prolonged in time")
