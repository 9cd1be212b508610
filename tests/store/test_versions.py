from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.fixtures.statements import StatementCounter

from hmstats.errors import InvalidInput
from hmstats.store import versions
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


def _read(store: Store, table_id: int) -> int:
    with store.read() as connection:
        return versions.read(connection, table_id)


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
    store.write(lambda unit: versions.forget(unit, [1, 3]))
    assert [_read(store, table_id) for table_id in (1, 2, 3)] == [0, 1, 0]


def test_reading_and_bumping_take_one_statement_each(store: Store, statements: StatementCounter) -> None:
    with statements() as sent:
        store.write(lambda unit: versions.bump(unit, 5))
        _read(store, 5)
    assert len(sent) == 2
