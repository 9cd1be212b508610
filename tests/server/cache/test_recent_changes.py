"""What changed between two numbers of a table, and that the database is asked once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hmstats.server.cache import recent_changes
from hmstats.server.cache.recent_changes import RecentChanges, Touched
from hmstats.store.changes.touched_partitions import SLOTS, Changes


class Log:
    """The changes of table 1, as the database keeps them, and the questions that it was asked."""

    def __init__(self, **named: str) -> None:
        self.version = 9
        self.named = {int(number[1:]): frozenset(names.split()) for number, names in named.items()}
        self.own: dict[int, frozenset[str]] = {}
        self.asked: list[tuple[int, int]] = []

    def __call__(self, table_id: int, version: int) -> Changes | None:
        """What happened after a number."""
        self.asked.append((table_id, version))
        if table_id != 1:
            return None
        named, own = ({each: names for each, names in of.items() if each > version} for of in (self.named, self.own))
        return Changes(self.version, named, own)


def test_the_partitions_of_all_changes_in_between() -> None:
    log = Log(v6="a b", v7="b", v8="", v9="c")
    changes = RecentChanges(log)
    assert changes.between(1, 5, 9) == frozenset({"a", "b", "c"})
    assert changes.between(1, 6, 8) == frozenset({"b"})
    assert changes.between(1, 7, 8) == changes.between(1, 9, 9) == frozenset()
    assert log.asked == [(1, 5)]


def test_a_change_of_the_table_itself_is_told_apart() -> None:
    log = Log(v6="a", v9="c")
    log.own = {7: frozenset("b"), 8: frozenset()}
    changes = RecentChanges(log)
    assert changes.between(1, 5, 9) is None
    assert changes.touched(1, 5, 9) == Touched(frozenset("abc"), own=True)
    assert changes.touched(1, 7, 8) == Touched(frozenset(), own=True)
    assert changes.touched(1, 8, 9) == Touched(frozenset("c"))
    assert changes.touched(1, 4, 9) is None
    assert log.asked == [(1, 5), (1, 4)]


def test_one_change_without_names_may_be_of_anything() -> None:
    log = Log(v6="a", v8="c", v9="d")
    changes = RecentChanges(log)
    assert changes.between(1, 5, 9) is None
    assert changes.between(1, 7, 9) == frozenset({"c", "d"})
    assert changes.between(1, 6, 7) is None
    assert log.asked == [(1, 5)]


def test_what_the_log_does_not_reach_back_to_may_be_anything() -> None:
    log = Log(v9="a")
    changes = RecentChanges(log)
    assert changes.between(1, 9 - SLOTS - 1, 9) is None
    assert changes.between(1, 9, 8) is None
    assert log.asked == []
    assert changes.between(1, 8, 10) is None
    assert changes.between(2, 8, 9) is None
    assert changes.between(1, 8, 9) == frozenset({"a"})


def test_names_are_kept_in_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(v7="a b c", v8="d e f", v9="g")
    changes = RecentChanges(log)
    monkeypatch.setattr(recent_changes, "_MOST_NAMES", 8)
    assert changes.between(1, 7, 9) == frozenset({"d", "e", "f", "g"})
    assert changes.between(1, 6, 9) == frozenset({"a", "b", "c", "d", "e", "f", "g"})
    assert changes.between(1, 8, 9) == frozenset({"g"})
    assert log.asked == [(1, 7), (1, 6)]


def test_a_slow_read_of_one_tables_changes_holds_up_no_other() -> None:
    begun, end = threading.Event(), threading.Event()

    def since(table_id: int, version: int) -> Changes:
        if table_id == 1:
            begun.set()
            assert end.wait(20)
        return Changes(version + 1, {version + 1: frozenset({f"of {table_id}"})})

    changes = RecentChanges(since)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(changes.between, 1, 5, 6)
        assert begun.wait(20)
        assert changes.between(2, 5, 6) == frozenset({"of 2"})
        end.set()
        assert slow.result(20) == frozenset({"of 1"})
