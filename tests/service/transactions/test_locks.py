"""Locks that nobody hears of any more, clocks that differ, and how much the database is asked."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import update
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import InvalidInput, NoSuchLock, NoSuchTransaction, TransactionAborted, TransactionOpen
from hmstats.model.transactions.locks import LockComponent, LockFilter, LockKind, LockRequest, LockState, Owner
from hmstats.service.transactions.locks import Locks
from hmstats.service.transactions.transactions import Transactions
from hmstats.store.database.store import Store
from hmstats.store.schema import HIVE_LOCKS, TXNS
from hmstats.store.transactions import locks as stored
from hmstats.store.unit.unit import Unit

TIMEOUT_SECONDS = 60.0
OWNER = Owner("ada", "here")
HOUR_SECONDS = 3600.0


def wanting(*tables: str, kind: LockKind = LockKind.EXCLUSIVE, transaction: int = 0) -> LockRequest:
    """A request for tables of one database."""
    return LockRequest(tuple(LockComponent(kind, "d", table) for table in tables), OWNER, transaction)


def age(store: Store, seconds: float) -> None:
    """Make every heartbeat older, as if time had passed."""
    for table, column in ((HIVE_LOCKS, HIVE_LOCKS.c.HL_LAST_HEARTBEAT), (TXNS, TXNS.c.TXN_LAST_HEARTBEAT)):
        older = update(table).values({column: column - int(seconds * 1000)})
        store.write(lambda unit, older=older: unit.connection.execute(older))  # type: ignore[misc]


@pytest.fixture
def locks(store: Store) -> Locks:
    return Locks(store, timeout_seconds=TIMEOUT_SECONDS)


@pytest.fixture
def transactions(store: Store) -> Transactions:
    return Transactions(store, timeout_seconds=TIMEOUT_SECONDS)


def test_a_lock_whose_holder_is_silent_is_lost(store: Store, locks: Locks) -> None:
    held, waiting = locks.lock(wanting("t")), locks.lock(wanting("t"))
    age(store, TIMEOUT_SECONDS - 5)
    assert locks.check(waiting.id).state is LockState.WAITING
    age(store, 10)
    assert locks.check(waiting.id).state is LockState.ACQUIRED
    for use in (locks.check, lambda lock_id: locks.heartbeat(lock_id, 0)):
        with pytest.raises(NoSuchLock, match=f"lockid:{held.id}: it was released, or not prolonged in time"):
            use(held.id)
    locks.unlock(held.id)


def test_a_lock_whose_holder_is_heard_of_is_kept(store: Store, locks: Locks) -> None:
    """However long ago it was granted; asking for it counts as well as a heartbeat."""
    held, waiting = locks.lock(wanting("t")), locks.lock(wanting("t"))
    for prolong in (lambda: locks.heartbeat(held.id, 0), lambda: locks.check(held.id)):
        age(store, TIMEOUT_SECONDS - 5)
        prolong()
        assert locks.check(waiting.id).state is LockState.WAITING
    assert locks.lock(wanting("t")).state is LockState.WAITING


def test_a_waiting_lock_that_nobody_asks_for_does_not_hold_up_the_next(store: Store, locks: Locks) -> None:
    held, dead = locks.lock(wanting("t", kind=LockKind.SHARED_READ)), locks.lock(wanting("t"))
    age(store, TIMEOUT_SECONDS - 5)
    locks.heartbeat(held.id, 0)
    age(store, 10)
    assert locks.lock(wanting("t", kind=LockKind.SHARED_READ)).state is LockState.ACQUIRED
    with pytest.raises(NoSuchLock):
        locks.check(dead.id)


def test_a_dead_lock_is_over_before_anybody_removed_it(store: Store, locks: Locks) -> None:
    """Whoever asks next may be granted the same thing at any moment."""
    held = locks.lock(wanting("t"))
    age(store, TIMEOUT_SECONDS + 5)
    assert locks.listed(LockFilter()) == []
    with pytest.raises(NoSuchLock):
        locks.heartbeat(held.id, 0)
    with pytest.raises(NoSuchLock):
        locks.check(held.id)


def test_the_locks_of_a_silent_transaction_are_lost_with_it(
    store: Store, locks: Locks, transactions: Transactions
) -> None:
    (one,) = transactions.open(1, OWNER, 0)
    held = locks.lock(wanting("t", transaction=one))
    waiting = locks.lock(wanting("t"))
    age(store, TIMEOUT_SECONDS - 5)
    assert locks.check(held.id).state is LockState.ACQUIRED
    assert locks.check(waiting.id).state is LockState.WAITING
    age(store, TIMEOUT_SECONDS + 5)
    with pytest.raises(TransactionAborted):
        locks.check(held.id)
    assert locks.lock(wanting("t")).state is LockState.ACQUIRED
    with pytest.raises(NoSuchLock):
        locks.check(held.id)
    with pytest.raises(TransactionAborted):
        transactions.commit(one)


def test_a_heartbeat_of_a_lock_prolongs_its_transaction(store: Store, locks: Locks, transactions: Transactions) -> None:
    (one,) = transactions.open(1, OWNER, 0)
    held = locks.lock(wanting("t", transaction=one))
    for _ in range(3):
        age(store, TIMEOUT_SECONDS - 5)
        locks.heartbeat(held.id, 0)
    transactions.commit(one)
    with pytest.raises(NoSuchLock):
        locks.heartbeat(held.id, 0)
    with pytest.raises(NoSuchTransaction):
        locks.heartbeat(0, one)


def test_a_transactions_lock_is_released_with_it(locks: Locks, transactions: Transactions) -> None:
    (one,) = transactions.open(1, OWNER, 0)
    held = locks.lock(wanting("t", transaction=one))
    with pytest.raises(TransactionOpen, match=f"lock {held.id} is released with its transaction {one}"):
        locks.unlock(held.id)
    transactions.abort(one)
    locks.unlock(held.id)


def test_a_request_must_have_a_component(locks: Locks) -> None:
    with pytest.raises(InvalidInput, match="found none"):
        locks.lock(wanting())
    assert locks.listed(LockFilter()) == []


def test_a_request_that_must_not_wait_leaves_nothing(locks: Locks, transactions: Transactions) -> None:
    one, other = transactions.open(2, OWNER, 0)
    locks.lock(wanting("t", transaction=one))
    answer = locks.lock(replace(wanting("s", "t", transaction=other), never_waits=True))
    assert answer.state is LockState.NOT_ACQUIRED
    assert "would have to wait for lock" in (answer.reason or "")
    assert [each.transaction for each in locks.listed(LockFilter())] == [one]
    read = wanting("t", kind=LockKind.SHARED_READ, transaction=other)
    assert locks.lock(replace(read, reads_never_wait=True)).state is LockState.NOT_ACQUIRED
    assert locks.lock(replace(wanting("t", transaction=other), reads_never_wait=True)).state is LockState.WAITING


@pytest.mark.parametrize("jump_seconds", [HOUR_SECONDS, -HOUR_SECONDS])
def test_a_server_whose_clock_jumped_agrees_with_the_others(
    store: Store, locks: Locks, database_url: str, jump_seconds: float
) -> None:
    """The time of locks is the database's: no server takes one from another, nor keeps one for ever."""
    clock: Callable[[], float] = lambda: time.time() + jump_seconds  # noqa: E731
    odd_store = Store.open(database_url, clock=clock)
    odd = Locks(odd_store, timeout_seconds=TIMEOUT_SECONDS)
    held = locks.lock(wanting("t"))
    by_odd = odd.lock(wanting("t"))
    assert by_odd.state is LockState.WAITING
    odd.heartbeat(held.id, 0)
    assert odd.check(by_odd.id).state is LockState.WAITING
    assert locks.check(held.id).state is LockState.ACQUIRED
    locks.unlock(held.id)
    assert odd.check(by_odd.id).state is LockState.ACQUIRED
    late = locks.lock(wanting("t"))
    age(store, TIMEOUT_SECONDS - 5)
    assert locks.check(late.id).state is LockState.WAITING
    age(store, 10)
    assert locks.check(late.id).state is LockState.ACQUIRED
    odd_store.close()


def test_one_of_many_who_ask_at_once_is_granted(store: Store, locks: Locks) -> None:
    racers = 8
    barrier = Barrier(racers)

    def ask(_: int) -> LockState:
        barrier.wait()
        return locks.lock(wanting("t")).state

    for _ in range(5):
        with ThreadPoolExecutor(racers) as pool:
            states = list(pool.map(ask, range(racers)))
        assert sorted(state.name for state in states) == ["ACQUIRED"] + ["WAITING"] * (racers - 1)
        for each in locks.listed(LockFilter()):
            locks.unlock(each.id)


def test_locks_asked_for_in_opposite_orders_do_not_block_each_other_for_ever(locks: Locks) -> None:
    rounds = 10

    def work(tables: tuple[str, ...]) -> None:
        for _ in range(rounds):
            lock_id = locks.lock(wanting(*tables)).id
            while locks.check(lock_id).state is not LockState.ACQUIRED:
                time.sleep(0.001)
            locks.unlock(lock_id)

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work, order) for order in (("a", "b"), ("b", "a"), ("a",), ("b",))]:
            future.result(timeout=60)
    assert locks.listed(LockFilter()) == []


def test_the_database_is_asked_a_few_times_whatever_is_locked(locks: Locks, statements: StatementCounter) -> None:
    """A free lock: an id, its rows, who is in the way, granted. However many parts it has, and others there are."""
    counts = []
    for parts in (1, 50):
        with statements() as asking:
            held = locks.lock(wanting(*(f"t{parts}_{number}" for number in range(parts))))
        with statements() as checking:
            locks.check(held.id)
        with statements() as releasing:
            locks.unlock(held.id)
        locks.lock(wanting(*(f"u{parts}_{number}" for number in range(parts))))
        counts.append((len(asking), len(checking), len(releasing)))
    assert counts[0] == counts[1] == (4, 1, 1)


def test_who_waits_only_reads(store: Store, locks: Locks, statements: StatementCounter) -> None:
    """Until a tenth of the timeout is over: then the lock is prolonged, and the dead are looked for."""
    locks.lock(wanting("t"))
    waiting = locks.lock(wanting("t"))
    with statements() as sent:
        for _ in range(5):
            assert locks.check(waiting.id).state is LockState.WAITING
    assert len(sent) == 10
    assert all(each.startswith("SELECT") for each in sent)
    age(store, TIMEOUT_SECONDS / 10 + 1)
    before = locks.listed(LockFilter())[1].last_heartbeat_ms
    assert locks.check(waiting.id).state is LockState.WAITING
    assert locks.listed(LockFilter())[1].last_heartbeat_ms > before + TIMEOUT_SECONDS * 100


@pytest.mark.parametrize("is_released", [True, False])
def test_all_parts_of_a_lock_are_removed_however_the_database_joins_them(
    store: Store, locks: Locks, *, is_released: bool
) -> None:
    """PostgreSQL may look for the first part again at each part, as its statistics say: here it has no other way."""
    held = locks.lock(wanting("a", "b")).id

    def remove(unit: Unit) -> bool:
        if unit.connection.dialect.name == "postgresql":
            for way in ("hashjoin", "mergejoin", "hashagg", "sort", "material"):
                unit.connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        return stored.remove_unbound(unit, held) if is_released else stored.remove_dead(unit, -1_000)

    assert store.write(remove)
    assert locks.listed(LockFilter()) == []
