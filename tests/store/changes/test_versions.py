from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import text
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import NAME, TABLE, make_table

from hmstats.errors import InvalidInput
from hmstats.store.changes import versions
from hmstats.store.changes.versions import NotedRead
from hmstats.store.database.store import Store
from hmstats.store.statistics import table_facts
from hmstats.store.unit.unit import Unit

_END_THE_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database()
"""


def _read(store: Store, table_id: int) -> int:
    with store.read() as connection:
        return versions.read(connection, table_id)


def forget(store: Store, table_ids: Sequence[int]) -> None:
    def work(unit: Unit) -> None:
        versions.remove(unit, table_ids)

    store.write(work)


def test_a_table_begins_at_zero_and_every_bump_is_one_more(store: Store) -> None:
    assert _read(store, 5) == 0
    store.write(lambda unit: versions.bump(unit, 5))
    assert _read(store, 5) == 1
    store.write(lambda unit: versions.bump(unit, 5))
    assert _read(store, 5) == 2
    assert _read(store, 6) == 0


def test_a_bump_counts_only_when_its_unit_stands(store: Store) -> None:
    def work(unit: Unit) -> None:
        versions.bump(unit, 5)
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        store.write(work)
    assert _read(store, 5) == 0


def test_writers_at_once_all_count(store: Store) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: store.write(lambda unit: versions.bump(unit, 5)), range(40)))
    assert _read(store, 5) == 40


def test_forgotten_tables_begin_again_and_others_stay(store: Store) -> None:
    for table_id in (1, 2, 3):
        store.write(partial(versions.bump, table_id=table_id))
    forget(store, [1, 3])
    assert [_read(store, table_id) for table_id in (1, 2, 3)] == [0, 1, 0]


def test_many_tables_are_bumped_in_one_statement(store: Store, statements: StatementCounter) -> None:
    store.write(lambda unit: versions.bump(unit, 2))
    with statements() as sent:
        store.write(lambda unit: versions.bump_all(unit, [3, 2, 1]))
        store.write(lambda unit: versions.bump_all(unit, []))
    assert len(sent) == 1
    assert store.current_versions([1, 2, 3]) == {1: 1, 2: 2, 3: 1}


def test_current_numbers_are_those_of_the_tables_that_have_one(store: Store) -> None:
    store.write(lambda unit: versions.bump_all(unit, [1, 2]))
    assert store.current_versions([2, 3]) == {2: 1}
    assert store.current_versions({1: 5}.keys()) == {1: 1}
    store.write(lambda unit: versions.bump(unit, 1))
    assert store.current_versions([1]) == {1: 2}
    forget(store, [1])
    assert store.current_versions([1]) == {}


def test_current_numbers_are_seen_although_another_connection_reads_an_older_snapshot(store: Store) -> None:
    with store.read() as connection:
        assert versions.read(connection, 1) == 0
        store.write(lambda unit: versions.bump(unit, 1))
        assert versions.read(connection, 1) == 0
        assert store.current_versions([1]) == {1: 1}


def test_a_database_that_does_not_answer_has_no_current_numbers() -> None:
    away = Store.open("postgresql://nobody@127.0.0.1:1/none")
    assert away.current_versions([1]) == {}
    away.close()


def test_a_connection_that_broke_is_replaced(postgres_url: str) -> None:
    store = Store.open(postgres_url, pool_size=1)
    store.write(lambda unit: versions.bump(unit, 1))
    assert store.current_versions([1]) == {1: 1}
    with store.read() as connection:
        connection.execute(text(_END_THE_OTHERS))
    assert store.current_versions([1]) == {1: 1}
    store.close()


def test_a_table_found_by_name_is_noted_with_its_number(store: Store) -> None:
    table_id = make_table(store, TABLE)
    with versions.noting_reads() as noted:
        with store.read() as connection:
            found = table_facts.find(connection, NAME)
        assert found is not None
        assert noted == {table_id: NotedRead(1, None)}
    with store.read() as connection:
        table_facts.find(connection, NAME)
    assert noted == {table_id: NotedRead(1, None)}


def test_what_is_noted_of_a_table_is_the_first_number_and_all_that_was_read() -> None:
    with versions.noting_reads() as noted:
        versions.note_read(1, 5, ["k=a"])
        versions.note_read(1, 6, ["k=b", "k=a"])
        versions.note_read(2, 7, ())
        versions.note_read(3, None, ["k=a"])
        assert noted == {
            1: NotedRead(5, frozenset({"k=a", "k=b"})),
            2: NotedRead(7, frozenset()),
            3: NotedRead(0, frozenset({"k=a"})),
        }
        versions.note_read(1, 6)
        versions.note_read(1, 6, ["k=c"])
    assert noted[1] == NotedRead(5, None)


def test_reading_and_bumping_take_one_statement_each(store: Store, statements: StatementCounter) -> None:
    with statements() as sent:
        store.write(lambda unit: versions.bump(unit, 5))
        _read(store, 5)
    assert len(sent) == 2
