"""What is told of the changes of a table, and when only that everything may have changed."""

from collections.abc import Collection
from functools import partial

import pytest
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import InvalidInput
from hmstats.store.changes import touched_partitions, versions
from hmstats.store.changes.touched_partitions import MOST_NAMED, SLOTS, Changes
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit


def bump(store: Store, partitions: Collection[str] | None, table_id: int = 5) -> None:
    store.write(partial(versions.bump, table_id=table_id, partitions=partitions))


def test_a_change_of_partitions_says_their_names_and_another_none(store: Store) -> None:
    assert store.changes_since(5, 0) is None
    bump(store, None)
    assert store.changes_since(5, 0) == Changes(1, {})
    bump(store, {"k=a", 'k="ä"'})
    bump(store, {"k=c"}, table_id=6)
    bump(store, None)
    bump(store, {"k=b"})
    assert store.changes_since(5, 0) == Changes(4, {2: frozenset({"k=a", 'k="ä"'}), 4: frozenset({"k=b"})})
    assert store.changes_since(5, 2) == Changes(4, {4: frozenset({"k=b"})})
    assert store.changes_since(5, 4) == Changes(4, {})
    assert store.changes_since(6, 0) == Changes(1, {1: frozenset({"k=c"})})


def test_a_change_that_touched_no_partition_says_so(store: Store) -> None:
    bump(store, ())
    assert store.changes_since(5, 0) == Changes(1, {1: frozenset()})


def test_a_change_of_the_table_itself_is_told_apart(store: Store) -> None:
    bump(store, {"k=a"})
    store.write(partial(versions.bump, table_id=5, partitions={"k=b"}, own=True))
    store.write(partial(versions.bump_own, table_id=5, partitioned=True))
    store.write(partial(versions.bump_own, table_id=5, partitioned=False))
    told = store.changes_since(5, 0)
    assert told == Changes(4, {1: frozenset({"k=a"})}, {2: frozenset({"k=b"}), 3: frozenset()})
    assert told.partitions(0, 3) == frozenset({"k=a", "k=b"})
    assert told.partitions(2, 3) == frozenset()
    assert (told.partitions(3, 4), told.partitions(4, 3)) == (None, None)
    with store.read() as connection:
        for after, to in ((0, 3), (2, 3), (3, 4), (0, 4), (4, 4), (4, 3)):
            assert touched_partitions.between(connection, 5, after, to) == told.partitions(after, to)
        assert touched_partitions.names_after(connection, [5, 6]) == {
            (5, 1): frozenset({"k=a"}),
            (5, 2): frozenset({"k=b"}),
            (5, 3): frozenset(),
        }


def test_a_change_of_very_many_partitions_is_one_of_everything(store: Store) -> None:
    bump(store, [f"k={number}" for number in range(MOST_NAMED)])
    bump(store, [f"k={number}" for number in range(MOST_NAMED + 1)])
    told = store.changes_since(5, 0)
    assert told is not None
    assert told.version == 2
    assert {number: len(names) for number, names in told.named.items()} == {1: MOST_NAMED}


def test_only_the_last_changes_are_kept(store: Store) -> None:
    for number in range(SLOTS + 3):
        bump(store, {f"k={number}"})
    told = store.changes_since(5, 0)
    assert told == Changes(SLOTS + 3, {each: frozenset({f"k={each - 1}"}) for each in range(4, SLOTS + 4)})


def test_what_is_undone_has_not_happened(store: Store) -> None:
    def work(unit: Unit) -> None:
        versions.bump(unit, 5, {"k=a"})
        raise InvalidInput("no")

    bump(store, {"k=b"})
    with pytest.raises(InvalidInput):
        store.write(work)
    assert store.changes_since(5, 0) == Changes(1, {1: frozenset({"k=b"})})


def test_a_dropped_tables_changes_go_with_it(store: Store) -> None:
    for table_id in (5, 6):
        bump(store, {"k=a"}, table_id)
        store.write(partial(versions.bump_own, table_id=table_id, partitioned=True))

    def forget(unit: Unit) -> None:
        versions.remove(unit, [5])

    store.write(forget)
    assert store.changes_since(5, 0) is None
    bump(store, None)
    bump(store, None)
    assert store.changes_since(5, 0) == Changes(2, {})
    assert store.changes_since(6, 0) == Changes(2, {1: frozenset({"k=a"})}, {2: frozenset()})


def test_a_change_is_counted_and_named_at_once(postgres_url: str, statements: StatementCounter) -> None:
    store = Store.open(postgres_url)
    bump(store, {"k=a"})
    with statements() as sent:
        bump(store, {"k=a"})
    assert len(sent) == 1
    assert store.changes_since(5, 1) == Changes(2, {2: frozenset({"k=a"})})
    store.close()


def test_a_database_that_does_not_answer_tells_nothing() -> None:
    away = Store.open("postgresql://nobody@127.0.0.1:1/none")
    assert away.changes_since(5, 0) is None
    away.close()
