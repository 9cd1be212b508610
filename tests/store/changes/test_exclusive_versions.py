"""What is known of versions while commits go on beside reads."""

from collections.abc import Callable, Collection

import pytest

from hmstats.store.changes.exclusive_versions import ExclusiveVersions


class Database:
    """Numbers of tables, and something that may happen while they are read."""

    def __init__(self) -> None:
        self.numbers = {1: 5, 2: 7}
        self.reads = 0
        self.meanwhile: Callable[[], None] = lambda: None

    def __call__(self, table_ids: Collection[int]) -> dict[int, int]:
        """The numbers as they were when the read began."""
        self.reads += 1
        found = {each: self.numbers[each] for each in table_ids if each in self.numbers}
        self.meanwhile()
        return found


def test_a_number_is_read_once_until_a_commit_changes_it() -> None:
    database = Database()
    own = ExclusiveVersions(database)
    assert [own.current([1, 2]), own.current([2]), own.current([1])] == [{1: 5, 2: 7}, {2: 7}, {1: 5}]
    assert database.reads == 1
    with own.changing([1]):
        database.numbers[1] = 6
    assert [own.current([1]), own.current([1]), own.current([2])] == [{1: 6}, {1: 6}, {2: 7}]
    assert database.reads == 2


def test_what_is_read_during_a_commit_is_not_remembered() -> None:
    database = Database()
    own = ExclusiveVersions(database)
    with own.changing([1]):
        assert own.current([1, 2]) == {1: 5, 2: 7}
        database.numbers[1] = 6
        assert own.current([1]) == {1: 6}
    assert own.current([1]) == {1: 6}
    assert own.current([2]) == {2: 7}


def test_a_commit_during_a_read_makes_it_count_for_nothing() -> None:
    database = Database()
    own = ExclusiveVersions(database)

    def commit() -> None:
        database.meanwhile = lambda: None
        with own.changing([1]):
            database.numbers[1] = 6

    database.meanwhile = commit
    assert own.current([1]) == {1: 5}  # it began before
    assert own.current([1]) == {1: 6}


def test_two_commits_of_one_table_at_once() -> None:
    database = Database()
    own = ExclusiveVersions(database)
    with own.changing([1]):
        with own.changing([1]):
            database.numbers[1] = 6
        own.current([1])
        database.numbers[1] = 7
    assert own.current([1]) == {1: 7}


def test_a_commit_that_fails_leaves_nothing_known() -> None:
    database = Database()
    own = ExclusiveVersions(database)

    def fail() -> None:
        with own.changing([1]):
            database.numbers[1] = 6
            raise OSError("lost")

    with pytest.raises(OSError, match="lost"):
        fail()
    assert own.current([1]) == {1: 6}


def test_what_another_may_have_changed_is_read_anew() -> None:
    database = Database()
    own = ExclusiveVersions(database)
    own.current([1, 2])
    database.numbers = {1: 8}
    own.clear()
    assert own.current([1, 2]) == {1: 8}
