"""Locks in the database: what is left to others, and what is remembered."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import delete, update

from hmstats.model.transactions.locks import LockComponent, LockFilter, LockKind, LockRequest, LockState, Owner
from hmstats.store.database.store import Store
from hmstats.store.schema import HIVE_LOCKS
from hmstats.store.transactions import locks
from hmstats.store.unit.unit import Unit

TIMEOUT_MS = 60_000
OWNER = Owner("ada", "here", "tests")
PATIENCE_SECONDS = 20.0


def wanting(*components: LockComponent) -> LockRequest:
    return LockRequest(components, OWNER)


def insert(store: Store, *components: LockComponent) -> int:
    return store.write(lambda unit: locks.insert_waiting(unit, wanting(*components)))


TABLE = LockComponent(LockKind.EXCLUSIVE, "d", "t")
PARTITION = LockComponent(LockKind.SHARED_READ, "d", "t", "p=1")


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[Store]:
    opened = Store.open(postgres_url)
    yield opened
    opened.close()


def listed(store: Store, wanted: LockFilter | None = None) -> list[tuple[int, int]]:
    with store.read() as connection:
        return [(each.id, each.part) for each in locks.listed(connection, wanted or LockFilter(), TIMEOUT_MS)]


def test_what_was_asked_for_comes_back(store: Store) -> None:
    first, second = insert(store, TABLE, PARTITION), insert(store, TABLE)
    assert (first, second) == (1, 2)
    assert listed(store) == [(1, 1), (1, 2), (2, 1)]
    assert listed(store, LockFilter(partition="p=1")) == [(1, 2)]
    with store.read() as connection:
        found = locks.get(connection, 1)
    assert found is not None
    assert (found.component, found.owner, found.state, found.transaction) == (TABLE, OWNER, LockState.WAITING, 0)
    assert (found.acquired_ms, found.blocked_by) == (None, None)


def test_a_lock_waits_for_the_first_before_it(store: Store) -> None:
    for components in ((PARTITION,), (PARTITION,), (LockComponent(LockKind.EXCLUSIVE, "e", "t"), TABLE)):
        insert(store, *components)

    def look(unit: Unit) -> None:
        blocked = locks.first_blocked(unit.connection, locks.read_asked(unit.connection, 3))
        assert blocked is not None
        part, kind, blocker = blocked
        assert (part, kind, blocker.id, blocker.component) == (2, LockKind.EXCLUSIVE, 1, PARTITION)
        assert locks.first_blocked(unit.connection, locks.read_asked(unit.connection, 1)) is None
        locks.note_blocker(unit, 3, part, blocker)

    store.write(look)
    with store.read() as connection:
        assert [each.blocked_by for each in locks.listed(connection, LockFilter(), TIMEOUT_MS)] == [
            None,
            None,
            None,
            (1, 1),
        ]
    store.write(lambda unit: locks.acquire(unit, 3))
    with store.read() as connection:
        found = locks.listed(connection, LockFilter(database="d", table="t"), TIMEOUT_MS)[-1]
    assert (found.state, found.blocked_by) == (LockState.ACQUIRED, None)
    assert found.acquired_ms is not None


def test_the_first_blocker_is_found_behind_thousands_of_others(store: Store) -> None:
    partitions = [LockComponent(LockKind.EXCLUSIVE, "d", "u", f"p={each}") for each in range(2_500)]
    insert(store, *partitions, TABLE)
    asked = insert(store, LockComponent(LockKind.SHARED_READ, "d", "t"))
    with store.read() as connection:
        blocked = locks.first_blocked(connection, locks.read_asked(connection, asked))
    assert blocked is not None
    assert (blocked[0], blocked[2].part, blocked[2].component) == (1, 2_501, TABLE)


def test_a_lock_that_somebody_has_in_hand_is_not_taken_for_dead(postgres_store: Store) -> None:
    """Its heartbeat may be on its way: to wait for it, or to remove it all the same, would both be wrong."""
    store = postgres_store
    lock_id = insert(store, TABLE, PARTITION, LockComponent(LockKind.SHARED_READ, "d", "u"))
    old = update(HIVE_LOCKS).values(HL_LAST_HEARTBEAT=HIVE_LOCKS.c.HL_LAST_HEARTBEAT - TIMEOUT_MS - 1)
    store.write(lambda unit: unit.connection.execute(old))
    beaten, looked = Event(), Event()

    def beat(unit: Unit) -> bool:
        alive = locks.prolong(unit, lock_id, 2 * TIMEOUT_MS)
        beaten.set()
        assert looked.wait(PATIENCE_SECONDS)
        return alive is not None

    with ThreadPoolExecutor(1) as pool:
        beating = pool.submit(store.write, beat)
        assert beaten.wait(PATIENCE_SECONDS)
        assert store.write(lambda unit: locks.remove_dead(unit, TIMEOUT_MS)) is False
        looked.set()
        assert beating.result() is True
    assert store.write(lambda unit: locks.remove_dead(unit, TIMEOUT_MS)) is False
    assert listed(store) == [(lock_id, 1), (lock_id, 2), (lock_id, 3)]


def test_the_parts_of_a_lock_live_and_die_together(store: Store) -> None:
    dead, alive = insert(store, TABLE, PARTITION), insert(store, TABLE, PARTITION)
    old = update(HIVE_LOCKS).values(HL_LAST_HEARTBEAT=HIVE_LOCKS.c.HL_LAST_HEARTBEAT - TIMEOUT_MS - 1)
    store.write(lambda unit: unit.connection.execute(old))
    assert store.write(lambda unit: locks.prolong(unit, dead, TIMEOUT_MS)) is None
    assert store.write(lambda unit: locks.prolong(unit, alive, 2 * TIMEOUT_MS)) is not None
    assert store.write(lambda unit: locks.remove_dead(unit, TIMEOUT_MS)) is True
    assert listed(store) == [(alive, 1), (alive, 2)]
    with store.read() as connection:
        beats = {each.last_heartbeat_ms for each in locks.listed(connection, LockFilter(), TIMEOUT_MS)}
    assert len(beats) == 1


def test_a_lock_that_lost_its_first_part_dies_too(store: Store) -> None:
    """Nobody can prolong or remove it, and others would wait for it for ever."""
    lost, alive = insert(store, TABLE, PARTITION, TABLE), insert(store, TABLE, PARTITION)
    its_first = (HIVE_LOCKS.c.HL_LOCK_EXT_ID == lost) & (HIVE_LOCKS.c.HL_LOCK_INT_ID == 1)
    store.write(lambda unit: unit.connection.execute(delete(HIVE_LOCKS).where(its_first)))
    assert store.write(lambda unit: locks.remove_dead(unit, TIMEOUT_MS)) is False
    older = HIVE_LOCKS.c.HL_LAST_HEARTBEAT - TIMEOUT_MS - 1
    old = update(HIVE_LOCKS).where(HIVE_LOCKS.c.HL_LOCK_EXT_ID == lost).values(HL_LAST_HEARTBEAT=older)
    store.write(lambda unit: unit.connection.execute(old))
    assert store.write(lambda unit: locks.remove_dead(unit, TIMEOUT_MS)) is True
    assert listed(store) == [(alive, 1), (alive, 2)]


def test_a_lock_that_was_removed_meanwhile_is_not_granted(store: Store) -> None:
    lock_id = insert(store, TABLE)
    assert store.write(lambda unit: locks.remove_unbound(unit, lock_id)) is True
    assert store.write(lambda unit: locks.acquire(unit, lock_id)) is False
    assert store.write(lambda unit: locks.remove_unbound(unit, lock_id)) is False


def test_an_id_is_not_used_again(store: Store) -> None:
    first = insert(store, TABLE)
    store.write(lambda unit: locks.remove(unit, first))
    assert insert(store, TABLE) == first + 1


def test_only_those_of_the_named_transactions_are_removed(store: Store) -> None:
    for transaction in (0, 7, 8):
        store.write(
            lambda unit, transaction=transaction: locks.insert_waiting(  # type: ignore[misc]
                unit, LockRequest((TABLE,), OWNER, transaction)
            )
        )
    store.write(lambda unit: locks.remove_of_transactions(unit, [7]))
    assert listed(store) == [(1, 1), (3, 1)]
