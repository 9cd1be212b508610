"""Locks: who waits for whom, in which order they are granted, and how they end."""

from itertools import product

import pytest
from tests.behaviour.transactions.locking import (
    ACQUIRED,
    EXCL_WRITE,
    EXCLUSIVE,
    NOT_ACQUIRED,
    SHARED_READ,
    SHARED_WRITE,
    WAITING,
    abort,
    ask,
    check,
    commit,
    component,
    open_transactions,
    release,
    request,
    shown,
)
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

NOBODY = 999_999
KINDS = (SHARED_READ, SHARED_WRITE, EXCL_WRITE, EXCLUSIVE)
PASSING = {
    (SHARED_READ, SHARED_READ),
    (SHARED_READ, SHARED_WRITE),
    (SHARED_READ, EXCL_WRITE),
    (SHARED_WRITE, SHARED_READ),
    (SHARED_WRITE, SHARED_WRITE),
    (EXCL_WRITE, SHARED_READ),
}
"""Pairs of kinds that two callers can have of one table; every other pair is one after the other."""
OLD_HIVES = ("hive-2.3", "hive-3.1")


@pytest.fixture
def metastore(metastore_with_transactions: Metastore) -> Metastore:
    return metastore_with_transactions


def test_a_free_lock_is_granted_at_once(metastore: Metastore) -> None:
    """Of a table that need not exist."""
    answer = ask(metastore, table="nowhere")
    assert answer.lockid > 0
    assert answer.state == ACQUIRED
    assert check(metastore, answer.lockid) == ACQUIRED


@pytest.mark.parametrize(("held", "asked"), list(product(KINDS, KINDS)))
def test_two_kinds_on_one_table(metastore: Metastore, held: int, asked: int) -> None:
    if metastore.flavour in OLD_HIVES and EXCL_WRITE in (held, asked):
        pytest.skip("EXCL_WRITE came with Hive 4")
    if metastore.flavour in OLD_HIVES and held == asked == SHARED_WRITE:
        pytest.skip("before Hive 4 two SHARED_WRITE excluded each other")
    first = ask(metastore, held)
    second = ask(metastore, asked)
    assert first.state == ACQUIRED
    assert second.state == (ACQUIRED if (held, asked) in PASSING else WAITING)
    release(metastore, first.lockid)
    assert check(metastore, second.lockid) == ACQUIRED


def test_locks_are_granted_in_the_order_in_which_they_were_asked_for(metastore: Metastore) -> None:
    """A reader that comes after a waiting writer waits behind it, or the writer might wait for ever."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 lets readers pass a waiting writer")
    reader, writer, late = ask(metastore, SHARED_READ), ask(metastore, EXCLUSIVE), ask(metastore, SHARED_READ)
    assert [reader.state, writer.state, late.state] == [ACQUIRED, WAITING, WAITING]
    release(metastore, reader.lockid)
    assert check(metastore, late.lockid) == WAITING
    assert check(metastore, writer.lockid) == ACQUIRED
    assert check(metastore, late.lockid) == WAITING
    release(metastore, writer.lockid)
    assert check(metastore, late.lockid) == ACQUIRED


def test_a_waiting_lock_that_is_given_up_lets_the_next_one_pass(metastore: Metastore) -> None:
    reader, writer, late = ask(metastore, SHARED_READ), ask(metastore, EXCLUSIVE), ask(metastore, SHARED_READ)
    release(metastore, writer.lockid)
    assert check(metastore, late.lockid) == ACQUIRED
    assert check(metastore, reader.lockid) == ACQUIRED


@pytest.mark.parametrize(
    ("held", "asked", "passes"),
    [
        (("t", "p=1"), ("t", "p=1"), False),
        (("t", "p=1"), ("t", "p=2"), True),
        (("t", "p=1"), ("t", None), False),
        (("t", None), ("t", "p=1"), False),
        (("t", None), ("u", None), True),
        (("t", None), (None, None), False),
        ((None, None), ("t", None), False),
        ((None, None), ("t", "p=1"), False),
    ],
)
def test_a_lock_covers_what_is_inside(
    metastore: Metastore, held: tuple[str | None, str | None], asked: tuple[str | None, str | None], passes: bool
) -> None:
    assert ask(metastore, table=held[0], partition=held[1]).state == ACQUIRED
    assert ask(metastore, table=asked[0], partition=asked[1]).state == (ACQUIRED if passes else WAITING)


@pytest.mark.parametrize("database_first", [True, False])
def test_a_read_of_a_database_and_a_change_inside_it_pass_each_other(
    metastore: Metastore, database_first: bool
) -> None:
    """The read keeps the database from being dropped, no more."""
    asked: list[tuple[int, str | None]] = [(SHARED_READ, None), (EXCLUSIVE, "t")]
    for kind, table in asked if database_first else asked[::-1]:
        assert ask(metastore, kind, table).state == ACQUIRED
    assert ask(metastore, EXCLUSIVE, None).state == WAITING


def test_components_are_granted_together_or_not_at_all(metastore: Metastore) -> None:
    held = ask(metastore, table="b")
    both = metastore.client().lock(request(component(metastore, table="a"), component(metastore, table="b")))
    assert both.state == WAITING
    assert {each.state for each in shown(metastore) if each.lockid == both.lockid} == {WAITING}
    release(metastore, held.lockid)
    assert check(metastore, both.lockid) == ACQUIRED
    assert [each.state for each in shown(metastore)] == [ACQUIRED, ACQUIRED]


def test_components_of_one_lock_do_not_wait_for_each_other(metastore: Metastore) -> None:
    asked = request(component(metastore, table="t"), component(metastore, table="t", partition="p=1"))
    assert metastore.client().lock(asked).state == ACQUIRED


def test_names_are_compared_without_case(metastore: Metastore) -> None:
    """But the values of a partition with it."""
    upper = metastore.database.upper()
    assert ask(metastore, table="T", partition="P=a", database=upper).state == ACQUIRED
    same = metastore.expects(WAITING, {"hive-2.3": ACQUIRED})
    assert ask(metastore, table="t", partition="p=a").state == same
    assert ask(metastore, table="t", partition="p=A").state == metastore.expects(ACQUIRED, {"hive-3.1": WAITING})


def test_a_database_may_be_named_with_its_catalog(our_metastore: Metastore) -> None:
    """Hive takes the whole text for a name; the catalog's name is one of no consequence there."""
    assert ask(our_metastore, database=f"@hive#{our_metastore.database}").state == ACQUIRED
    assert ask(our_metastore).state == WAITING
    assert ask(our_metastore, database=f"@other#{our_metastore.database}").state == ACQUIRED


def test_a_released_lock_is_gone(metastore: Metastore) -> None:
    """And releasing it again, as a client does that lost the answer, is no error."""
    lock_id = ask(metastore).lockid
    release(metastore, lock_id, lock_id)
    assert shown(metastore) == []
    with pytest.raises(api.NoSuchLockException, match=f"lockid:{lock_id}"):
        check(metastore, lock_id)
    with pytest.raises(api.NoSuchLockException, match=f"lockid:{lock_id}"):
        metastore.client().heartbeat(api.HeartbeatRequest(lockid=lock_id))


def test_a_lock_that_never_was(metastore: Metastore) -> None:
    release(metastore, NOBODY)
    with pytest.raises(api.NoSuchLockException):
        check(metastore, NOBODY)
    with pytest.raises(api.NoSuchTxnException):
        metastore.client().heartbeat(api.HeartbeatRequest(txnid=NOBODY))
    metastore.client().heartbeat(api.HeartbeatRequest())


def test_a_heartbeat_prolongs_a_lock(metastore: Metastore) -> None:
    lock_id = ask(metastore).lockid
    before = shown(metastore)[0]
    metastore.client().heartbeat(api.HeartbeatRequest(lockid=lock_id))
    after = shown(metastore)[0]
    assert after.lastheartbeat >= before.lastheartbeat
    assert after.acquiredat == before.acquiredat


def test_locks_are_listed_with_who_holds_them(metastore: Metastore) -> None:
    asked = request(component(metastore, partition="p=1"), agentInfo="Iceberg-1")
    held = metastore.client().lock(asked).lockid
    waiting = ask(metastore, SHARED_READ).lockid
    first, second = shown(metastore)
    assert (first.lockid, first.lockIdInternal, first.state, first.type) == (held, 1, ACQUIRED, EXCLUSIVE)
    assert (first.dbname, first.tablename, first.partname) == (metastore.database, "t", "p=1")
    assert (first.user, first.hostname, first.agentInfo) == ("ada", "here", "Iceberg-1")
    assert first.txnid == 0
    assert min(first.lastheartbeat, first.acquiredat) > 1_600_000_000_000
    assert (second.lockid, second.state, second.type, second.acquiredat) == (waiting, WAITING, SHARED_READ, None)
    assert (second.blockedByExtId, second.blockedByIntId) == (held, 1)


def test_locks_are_listed_by_table_and_partition(metastore: Metastore) -> None:
    ask(metastore, SHARED_READ, "t")
    ask(metastore, SHARED_READ, "t", partition="p=1")
    ask(metastore, SHARED_READ, "u")
    assert [each.tablename for each in shown(metastore)] == ["t", "t", "u"]
    assert [each.partname for each in shown(metastore, tablename="t")] == [None, "p=1"]
    assert [each.partname for each in shown(metastore, tablename="t", partname="p=1")] == ["p=1"]
    assert shown(metastore, tablename="v") == []
    everywhere = metastore.client().show_locks(api.ShowLocksRequest()).locks
    assert {"t", "u"} <= {each.tablename for each in everywhere if each.dbname == metastore.database}


def test_a_lock_on_nothing_is_refused(metastore: Metastore) -> None:
    with pytest.raises(TApplicationException, match="Internal error processing lock") as raised:
        metastore.client().lock(request())
    assert raised.value.type == TApplicationException.INTERNAL_ERROR
    if metastore.ours:
        with pytest.raises(TApplicationException, match="a lock must have a type"):
            ask(metastore, 9)


def test_a_transaction_keeps_its_locks_until_it_ends(metastore: Metastore) -> None:
    (one, other) = open_transactions(metastore, 2)
    client = metastore.client()
    held = client.lock(request(component(metastore), txnid=one))
    waiting = client.lock(request(component(metastore), txnid=other))
    assert (held.state, waiting.state) == (ACQUIRED, WAITING)
    with pytest.raises(api.TxnOpenException):
        release(metastore, held.lockid)
    assert check(metastore, waiting.lockid) == WAITING
    commit(metastore, one)
    assert check(metastore, waiting.lockid) == ACQUIRED
    abort(metastore, other)
    assert shown(metastore) == []


def test_a_lock_that_waits_in_a_transaction_can_be_released(metastore: Metastore) -> None:
    (one, other) = open_transactions(metastore, 2)
    metastore.client().lock(request(component(metastore), txnid=one))
    waiting = metastore.client().lock(request(component(metastore), txnid=other)).lockid
    release(metastore, waiting)
    assert [each.txnid for each in shown(metastore)] == [one]


def test_locks_of_one_transaction_do_not_wait_for_each_other(metastore: Metastore) -> None:
    (one,) = open_transactions(metastore)
    for kind in (SHARED_READ, EXCLUSIVE, SHARED_WRITE):
        assert metastore.client().lock(request(component(metastore, kind), txnid=one)).state == ACQUIRED
    assert ask(metastore, SHARED_READ).state == WAITING


def test_a_lock_in_a_transaction_that_is_not_open_is_refused(metastore: Metastore) -> None:
    with pytest.raises(api.NoSuchTxnException):
        metastore.client().lock(request(component(metastore), txnid=NOBODY))
    (one,) = open_transactions(metastore)
    abort(metastore, one)
    with pytest.raises(api.TxnAbortedException):
        metastore.client().lock(request(component(metastore), txnid=one))
    assert shown(metastore) == []


def test_a_lock_in_a_transaction_that_is_committed_is_refused(metastore: Metastore) -> None:
    """Hive 4.0.1 grants it, and nothing ever releases it."""
    (one,) = open_transactions(metastore)
    commit(metastore, one)
    asked = request(component(metastore), txnid=one)
    if metastore.flavour == "hive-4.0":
        assert metastore.client().lock(asked).state == ACQUIRED
        return
    with pytest.raises(api.NoSuchTxnException):
        metastore.client().lock(asked)
    assert shown(metastore) == []


def test_a_read_may_rather_fail_than_wait(metastore: Metastore) -> None:
    (one, other) = open_transactions(metastore, 2)
    if metastore.flavour in OLD_HIVES:
        pytest.skip("zeroWaitReadEnabled came with Hive 4")
    metastore.client().lock(request(component(metastore), txnid=one))
    asked = request(component(metastore, SHARED_READ), txnid=other, zeroWaitReadEnabled=True)
    answer = metastore.client().lock(asked)
    assert answer.state == NOT_ACQUIRED
    assert answer.errorMessage
    assert [each.txnid for each in shown(metastore)] == [one]


@pytest.mark.parametrize("writes_first", [True, False])
def test_a_read_that_may_not_wait_does_not_wait_beside_a_write(metastore: Metastore, writes_first: bool) -> None:
    """Both are blocked by one lock."""
    if metastore.flavour in OLD_HIVES:
        pytest.skip("zeroWaitReadEnabled came with Hive 4")
    tables = ("t", "u")
    metastore.client().lock(request(*(component(metastore, table=each) for each in tables)))
    (own,) = open_transactions(metastore)
    components = [component(metastore, EXCLUSIVE, "t"), component(metastore, SHARED_READ, "u")]
    asked = request(*(components if writes_first else components[::-1]), txnid=own, zeroWaitReadEnabled=True)
    assert metastore.client().lock(asked).state == NOT_ACQUIRED


def test_a_heartbeat_of_a_lock_and_its_transaction_says_that_the_transaction_is_aborted(metastore: Metastore) -> None:
    """Before Hive 4 that the lock is gone."""
    (aborted,) = open_transactions(metastore)
    lock_id = metastore.client().lock(request(component(metastore), txnid=aborted)).lockid
    abort(metastore, aborted)
    expected = api.NoSuchLockException if metastore.flavour in OLD_HIVES else api.TxnAbortedException
    with pytest.raises(expected):
        metastore.client().heartbeat(api.HeartbeatRequest(lockid=lock_id, txnid=aborted))
