"""Transactions that nobody hears of any more, racing openers and writers, and what is forgotten."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import func, select
from tests.service.transactions.test_locks import OWNER, TIMEOUT_SECONDS, age

from hmstats.errors import MetaError, NoSuchTransaction, TransactionAborted
from hmstats.model.catalog.objects import TableName
from hmstats.model.transactions.transactions import Snapshot, TransactionState, ValidWriteIds
from hmstats.service.transactions.transactions import Transactions
from hmstats.store.database.store import Store
from hmstats.store.schema import TXN_TO_WRITE_ID, TXNS
from hmstats.store.transactions.transactions import remove_ended

NAME = TableName("hive", "d", "t")
DAY_SECONDS = 86_400.0


@pytest.fixture
def transactions(store: Store) -> Transactions:
    return Transactions(store, timeout_seconds=TIMEOUT_SECONDS)


def states(transactions: Transactions) -> dict[int, TransactionState]:
    return {each.id: each.state for each in transactions.unfinished()[1]}


def test_the_first_id_is_one(transactions: Transactions) -> None:
    assert transactions.unfinished() == (0, [])
    assert transactions.open(3, OWNER, 0) == [1, 2, 3]
    highest, found = transactions.unfinished()
    assert highest == 3
    assert [(each.id, each.state, each.owner) for each in found] == [
        (number, TransactionState.OPEN, OWNER) for number in (1, 2, 3)
    ]


def test_a_silent_transaction_is_aborted(store: Store, transactions: Transactions) -> None:
    one, other = transactions.open(2, OWNER, 0)
    age(store, TIMEOUT_SECONDS - 5)
    assert transactions.prolong_range(other, other) == (set(), set())
    age(store, 10)
    assert states(transactions) == {one: TransactionState.ABORTED, other: TransactionState.OPEN}
    assert transactions.prolong_range(one, other + 1) == ({one}, {other + 1})
    with pytest.raises(TransactionAborted):
        transactions.commit(one)
    with pytest.raises(TransactionAborted):
        transactions.allocate_write_ids(NAME, [one], anew=False)
    transactions.commit(other)
    transactions.abort(one)
    assert states(transactions) == {one: TransactionState.ABORTED}


@pytest.mark.parametrize("seed", [-1, 2**63 - 1])
def test_counting_starts_where_ids_are_left(transactions: Transactions, seed: int) -> None:
    """A client that sets the highest id would end all counting."""
    with pytest.raises(MetaError, match=f"found {seed}"):
        transactions.count_from(seed)
    with pytest.raises(MetaError, match=f"found {seed}"):
        transactions.count_write_ids_from(NAME, seed)
    assert transactions.open(1, OWNER, 0) == [1]
    assert transactions.last_write_id(NAME) == 0


def test_a_range_has_an_end(transactions: Transactions) -> None:
    with pytest.raises(MetaError, match="100000 at most"):
        transactions.prolong_range(1, 10**12)
    assert transactions.prolong_range(5, 4) == (set(), set())


def test_no_id_is_seen_before_a_lower_one(transactions: Transactions) -> None:
    """A reader takes what is not listed for committed: an id that came to light late would change what it saw."""
    openers, rounds = 6, 20
    barrier = Barrier(openers + 1)

    def open_some(_: int) -> list[int]:
        barrier.wait()
        return [each for _ in range(rounds) for each in transactions.open(2, OWNER, 0)]

    def look(_: int) -> None:
        barrier.wait()
        for _ in range(rounds * 3):
            highest, found = transactions.unfinished()
            assert [each.id for each in found] == list(range(1, highest + 1))

    with ThreadPoolExecutor(openers + 1) as pool:
        looking = pool.submit(look, 0)
        taken = [each for ids in pool.map(open_some, range(openers)) for each in ids]
        looking.result()
    assert sorted(taken) == list(range(1, openers * rounds * 2 + 1))


def test_racing_writers_take_different_write_ids(transactions: Transactions) -> None:
    ids = transactions.open(24, OWNER, 0)

    def take(first: int) -> dict[int, int]:
        return transactions.allocate_write_ids(NAME, ids[first : first + 3], anew=False)

    with ThreadPoolExecutor(8) as pool:
        found = [each for given in pool.map(take, range(0, 24, 3)) for each in given.items()]
    assert sorted(each for each, _ in found) == ids
    assert sorted(write_id for _, write_id in found) == list(range(1, 25))
    assert transactions.last_write_id(NAME) == 24


def test_a_write_id_is_taken_once_however_often_it_is_asked_for_at_once(transactions: Transactions) -> None:
    (one,) = transactions.open(1, OWNER, 0)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: transactions.allocate_write_ids(NAME, [one], anew=False), range(8)))
    assert found == [{one: 1}] * 8


def test_tables_of_one_name_in_two_catalogs_count_for_themselves(transactions: Transactions) -> None:
    (one,) = transactions.open(1, OWNER, 0)
    other = TableName("other", "d", "t")
    transactions.count_write_ids_from(other, 7)
    assert transactions.allocate_write_ids(NAME, [one], anew=False) == {one: 1}
    assert transactions.allocate_write_ids(other, [one], anew=False) == {one: 8}


def test_what_ended_long_ago_is_forgotten(store: Store, transactions: Transactions) -> None:
    """But not what a reader must still be told: writes of aborted ones, and what came after the oldest that is open."""
    committed, aborted, aborted_writer, after = transactions.open(4, OWNER, 0)
    transactions.allocate_write_ids(NAME, [committed, aborted_writer, after], anew=False)
    for each in (committed, after):
        transactions.commit(each)
    transactions.abort_many([aborted, aborted_writer])
    store.write(remove_ended)
    assert kept(store) == ({committed, aborted, aborted_writer, after}, 3)
    age(store, DAY_SECONDS + 5)
    (newest,) = transactions.open(1, OWNER, 0)
    store.write(remove_ended)
    assert kept(store) == ({aborted_writer, after, newest}, 2)
    (found,) = transactions.valid_write_ids([NAME], None, None)
    assert found == ValidWriteIds(3, (2,), frozenset({2}))
    with pytest.raises(NoSuchTransaction):
        transactions.abort(committed)
    assert transactions.open(1, OWNER, 0) == [newest + 1]


def kept(store: Store) -> tuple[set[int], int]:
    """The transactions that are remembered, and how many write ids."""
    with store.read() as connection:
        ids = set(connection.execute(select(TXNS.c.TXN_ID)).scalars())
        return ids, connection.execute(select(func.count()).select_from(TXN_TO_WRITE_ID)).scalar_one()


def test_ended_ones_are_forgotten_as_ids_go_on(store: Store, transactions: Transactions) -> None:
    ids = transactions.open(999, OWNER, 0)
    transactions.abort_many(ids)
    age(store, DAY_SECONDS + 5)
    (thousandth,) = transactions.open(1, OWNER, 0)
    assert thousandth == 1_000
    assert kept(store) == ({thousandth}, 0)


def test_a_snapshot_of_the_past_sees_the_past(transactions: Transactions) -> None:
    one, other = transactions.open(2, OWNER, 0)
    transactions.allocate_write_ids(NAME, [one], anew=False)
    transactions.commit(one)
    past = Snapshot.of(*transactions.unfinished())
    transactions.allocate_write_ids(NAME, [other], anew=False)
    transactions.commit(other)
    (then,) = transactions.valid_write_ids([NAME], past, None)
    (now,) = transactions.valid_write_ids([NAME], None, None)
    assert (then.high_water_mark, then.invalid) == (2, (2,))
    assert (now.high_water_mark, now.invalid) == (2, ())
