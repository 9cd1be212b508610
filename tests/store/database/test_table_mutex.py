"""Writers of one table within a process, one after the other."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.store.catalog_values import NAME, make_table

from hmstats.model.catalog.objects import TableName
from hmstats.store.database.store import Store
from hmstats.store.database.table_mutex import TableMutexes

PATIENCE_SECONDS = 30.0


def test_writers_of_one_thing_are_never_inside_together() -> None:
    turns, inside, most = TableMutexes(), [0], [0]

    def write(_: int) -> None:
        with turns.hold("t", PATIENCE_SECONDS):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.001)
            inside[0] -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(40)))
    assert most == [1]


def test_writers_of_others_do_not_wait() -> None:
    turns, both = TableMutexes(), threading.Barrier(2, timeout=PATIENCE_SECONDS)

    def write(name: str) -> None:
        with turns.hold(name, PATIENCE_SECONDS):
            both.wait()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, ["t", "u"]))


def test_one_who_fails_ends_its_turn() -> None:
    turns = TableMutexes()
    with pytest.raises(ValueError, match="no"), turns.hold("t", PATIENCE_SECONDS):
        raise ValueError("no")
    with turns.hold("t", 0.0):
        pass


def test_one_who_waited_too_long_goes_on_and_ends_no_others_turn() -> None:
    turns, entered = TableMutexes(), threading.Event()

    def enter() -> None:
        with turns.hold("t", PATIENCE_SECONDS):
            entered.set()

    with turns.hold("t", PATIENCE_SECONDS):
        with turns.hold("t", 0.001):
            pass
        threading.Thread(target=enter).start()
        assert not entered.wait(0.05)
    assert entered.wait(PATIENCE_SECONDS)


def test_a_store_has_them_for_each_table(store: Store) -> None:
    make_table(store)
    inside = threading.Event()
    other = TableName(NAME.catalog, NAME.database, "other")
    results = []

    def long() -> None:
        store.write_table(NAME, lambda _: inside.wait(PATIENCE_SECONDS))

    first = threading.Thread(target=long)
    first.start()
    if not store.name.startswith("sqlite"):  # which has one writer at a time
        results.append(store.write_table(other, lambda _: "other"))
    second = threading.Thread(target=lambda: results.append(store.write_table(NAME, lambda _: "second")))
    second.start()
    second.join(0.05)
    assert results == (["other"] if not store.name.startswith("sqlite") else [])
    inside.set()
    second.join()
    first.join()
    assert results[-1] == "second"
