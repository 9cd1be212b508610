import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, insert, select, update

from hmstats.errors import InvalidInput
from hmstats.store.database.store import Store
from hmstats.store.schema import SEQUENCE_TABLE
from hmstats.store.unit.ids import Sequence
from hmstats.store.unit.unit import Unit

_ROW = SEQUENCE_TABLE.c.SEQUENCE_NAME == Sequence.TABLE.value


def _take(store: Store, count: int, sequence: Sequence = Sequence.TABLE) -> list[int]:
    return list(store.write(lambda unit: unit.ids(sequence, count)))


def _next_free(store: Store) -> int | None:
    with store.read() as connection:
        return connection.execute(select(SEQUENCE_TABLE.c.NEXT_VAL).where(_ROW)).scalar_one_or_none()


def _set(store: Store, value: int) -> None:
    row = {"SEQUENCE_NAME": Sequence.TABLE.value, "NEXT_VAL": value}
    store.write(lambda unit: unit.connection.execute(insert(SEQUENCE_TABLE), row))


def _take_as_hive(store: Store, count: int) -> list[int]:
    """A block as Hive's own allocator takes one: read under a lock, then written."""

    def work(unit: Unit) -> list[int]:
        query = select(SEQUENCE_TABLE.c.NEXT_VAL).where(_ROW).with_for_update()
        first = unit.connection.execute(query).scalar_one()
        unit.connection.execute(update(SEQUENCE_TABLE).where(_ROW).values(NEXT_VAL=first + count))
        return list(range(first, first + count))

    return store.write(work)


def test_ids_begin_at_one_and_follow_one_another(store: Store) -> None:
    assert _take(store, 3) == [1, 2, 3]
    assert _take(store, 2) == [4, 5]


def test_ids_begin_where_hive_left_off(store: Store) -> None:
    _set(store, 71)
    assert _take(store, 2) == [71, 72]


def test_sequences_know_nothing_of_each_other(store: Store) -> None:
    assert _take(store, 2, Sequence.TABLE) == [1, 2]
    assert _take(store, 2, Sequence.PARTITION) == [1, 2]


def test_the_row_says_the_first_id_that_nobody_reserved(store: Store) -> None:
    taken = _take(store, 1_500)
    found = _next_free(store)
    assert taken == list(range(1, 1_501))
    assert found is not None
    assert found > taken[-1]


def test_every_sequence_has_the_name_of_hives_model_class() -> None:
    prefix = "org.apache.hadoop.hive.metastore.model.M"
    assert all(sequence.value.startswith(prefix) for sequence in Sequence)
    assert Sequence.PARTITION_STATISTICS.value == f"{prefix}PartitionColumnStatistics"


def test_threads_of_one_process_never_share_an_id(store: Store) -> None:
    with ThreadPoolExecutor(6) as threads:
        taken = [each for ids in threads.map(lambda n: _take(store, n % 7 + 1), range(120)) for each in ids]
    assert len(taken) == len(set(taken)) == sum(n % 7 + 1 for n in range(120))


def test_processes_and_hive_never_share_an_id(postgres_url: str) -> None:
    stores = [Store.open(postgres_url) for _ in range(3)]
    _set(stores[0], 6)

    def work(number: int) -> list[int]:
        if number % 3 == 0:
            return [each for _ in range(20) for each in _take_as_hive(stores[0], 5)]
        return [each for _ in range(20) for each in _take(stores[number % 3], 400)]

    with ThreadPoolExecutor(6) as threads:
        taken = [each for ids in threads.map(work, range(6)) for each in ids]
    assert len(taken) == len(set(taken)) == 2 * 20 * 5 + 4 * 20 * 400
    assert min(taken) == 6
    for store in stores:
        store.close()


def test_two_processes_may_both_be_the_first(postgres_url: str) -> None:
    stores = [Store.open(postgres_url) for _ in range(4)]
    barrier = threading.Barrier(4)

    def work(store: Store) -> list[int]:
        barrier.wait()
        return _take(store, 10)

    with ThreadPoolExecutor(4) as threads:
        taken = [each for ids in threads.map(work, stores) for each in ids]
    assert len(set(taken)) == 40
    for store in stores:
        store.close()


def test_more_writers_than_connections_all_get_ids(postgres_url: str) -> None:
    store = Store.open(postgres_url, pool_size=2, statement_seconds=10)
    with ThreadPoolExecutor(8) as threads:
        taken = [each for ids in threads.map(lambda _: _take(store, 600), range(16)) for each in ids]
    assert len(set(taken)) == 16 * 600
    store.close()


def test_ids_of_a_unit_that_failed_are_not_given_to_another_that_stands(store: Store) -> None:
    stands = _take(store, 5)

    def work(unit: Unit) -> None:
        unit.ids(Sequence.TABLE, 5)
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        store.write(work)
    assert not set(_take(store, 5)) & set(stands)


def test_ids_do_not_hold_the_sequence_while_their_unit_goes_on(postgres_url: str) -> None:
    first, second = Store.open(postgres_url), Store.open(postgres_url, statement_seconds=5)

    def work(unit: Unit) -> list[int]:
        mine = list(unit.ids(Sequence.TABLE, 1))
        return mine + _take(second, 1)

    taken = first.write(work)
    assert len(set(taken)) == 2
    first.close()
    second.close()


def test_a_sequence_whose_row_was_removed_begins_anew(sqlite_url: str) -> None:
    store = Store.open(sqlite_url)
    _take(store, 3)
    store.write(lambda unit: unit.connection.execute(delete(SEQUENCE_TABLE).where(_ROW)))
    assert _take(store, 1) == [1]
    store.close()
