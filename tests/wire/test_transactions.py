"""Locks, transactions and write ids as structs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog.objects import TableName
from hmstats.model.transactions.locks import (
    LockAnswer,
    LockComponent,
    LockFilter,
    LockKind,
    LockRequest,
    LockState,
    Owner,
)
from hmstats.model.transactions.transactions import Snapshot, Transaction, TransactionState, ValidWriteIds
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.transactions import (
    answer_to_thrift,
    full_table_name,
    lock_filter_from_thrift,
    lock_request_from_thrift,
    open_transactions_to_thrift,
    snapshot_from_text,
    transaction_to_thrift,
    write_ids_to_thrift,
)


def struct(**values: object) -> object:
    fields = {"type": 3, "level": 2, "dbname": "D", "tablename": "T"} | values
    return api.LockComponent(**fields)


def asked(*components: object, **values: object) -> LockRequest:
    return lock_request_from_thrift(api.LockRequest(component=list(components), user="ada", hostname="here", **values))


def test_a_request() -> None:
    found = asked(struct(), txnid=4, zeroWaitReadEnabled=True, agentInfo="a")
    component = LockComponent(LockKind.EXCLUSIVE, "d", "t")
    assert found == LockRequest((component,), Owner("ada", "here", "a"), 4, reads_never_wait=True)


def test_a_request_without_what_older_clients_leave_out() -> None:
    request = api.LockRequest(component=None, user=None, hostname=None)
    assert lock_request_from_thrift(request) == LockRequest((), Owner("", "", "Unknown"))


@pytest.mark.parametrize(
    ("number", "kind"),
    [(1, LockKind.SHARED_READ), (2, LockKind.SHARED_WRITE), (3, LockKind.EXCLUSIVE), (4, LockKind.EXCL_WRITE)],
)
def test_the_kinds(number: int, kind: LockKind) -> None:
    assert asked(struct(type=number)).components[0].kind is kind


def test_names() -> None:
    (component,) = asked(struct(dbname="@Other#D", partitionname="P=A/q=B")).components
    assert (component.database, component.table, component.partition) == ("@other#d", "t", "p=A/q=B")
    (component,) = asked(struct(tablename=None, partitionname="p=1")).components
    assert (component.table, component.partition) == (None, None)


@pytest.mark.parametrize("wrong", [{"type": 9}, {"type": None}, {"dbname": None}, {"dbname": ""}])
def test_a_component_that_is_none(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="a lock must have a type"):
        asked(struct(**wrong))


def test_what_is_listed() -> None:
    assert lock_filter_from_thrift(api.ShowLocksRequest()) == LockFilter()
    wanted = api.ShowLocksRequest(dbname="@hive#D", tablename="T", partname="P=A", txnid=3)
    assert lock_filter_from_thrift(wanted) == LockFilter("d", "t", "p=A", 3)


@pytest.mark.parametrize(
    ("state", "number"), [(LockState.ACQUIRED, 1), (LockState.WAITING, 2), (LockState.NOT_ACQUIRED, 4)]
)
def test_an_answer(state: LockState, number: int) -> None:
    found = answer_to_thrift(LockAnswer(7, state, "because"))
    assert (found.lockid, found.state, found.errorMessage) == (7, number, "because")


@pytest.mark.parametrize(
    ("state", "number"),
    [(TransactionState.COMMITTED, 1), (TransactionState.ABORTED, 2), (TransactionState.OPEN, 3)],
)
def test_a_transaction(state: TransactionState, number: int) -> None:
    found = transaction_to_thrift(Transaction(4, state, 0, Owner("ada", "here", "a"), "m", 2, 10, 20))
    assert (found.id, found.state, found.user, found.hostname, found.agentInfo) == (4, number, "ada", "here", "a")
    assert (found.metaInfo, found.heartbeatCount, found.startedTime, found.lastHeartbeatTime) == ("m", 2, 10, 20)


def test_open_transactions_without_some_kinds() -> None:
    listed = [
        Transaction(number, state, kind, Owner("ada", "here"), None, 0, 0, 0)
        for number, state, kind in (
            (3, TransactionState.OPEN, 2),
            (4, TransactionState.ABORTED, 0),
            (5, TransactionState.OPEN, 0),
        )
    ]
    whole = open_transactions_to_thrift(9, listed)
    assert (whole.txn_high_water_mark, whole.open_txns, whole.min_open_txn) == (9, [3, 4, 5], 3)
    assert whole.abortedBits == b"\x02"
    some = open_transactions_to_thrift(9, listed, [2])
    assert (some.open_txns, some.min_open_txn, some.abortedBits) == ([4, 5], 3, b"\x01")
    none = open_transactions_to_thrift(0, [])
    assert (none.open_txns, none.min_open_txn, none.abortedBits) == ([], None, b"")


@given(st.lists(st.booleans(), max_size=70))
def test_the_bits_are_javas(flags: list[bool]) -> None:
    """As BitSet.toByteArray writes them: the lowest first, no empty byte at the end."""
    invalid = tuple(range(1, len(flags) + 1))
    aborted = frozenset(each for each, flag in zip(invalid, flags, strict=True) if flag)
    found = write_ids_to_thrift("d.t", ValidWriteIds(99, invalid, aborted))
    bits = found.abortedBits
    assert [bool(bits[i // 8] >> i % 8 & 1) if i // 8 < len(bits) else False for i in range(len(flags))] == flags
    assert not bits.endswith(b"\0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Snapshot(2**63 - 1)),
        ("9:9:", Snapshot(9)),
        ("99999999999999999999:9:", Snapshot(2**63 - 1)),
        ("9:3:3,5", Snapshot(9, frozenset({3, 5}))),
        ("9:3:3,5:4", Snapshot(9, frozenset({3, 5}), frozenset({4}))),
        ("9:9223372036854775807::4", Snapshot(9, frozenset(), frozenset({4}))),
        ("22:9223372036854775807::13-17", Snapshot(22, frozenset(), frozenset(range(13, 18)))),
        ("22:3:3-4,9:13-14,20", Snapshot(22, frozenset({3, 4, 9}), frozenset({13, 14, 20}))),
        ("9:9", Snapshot(9)),
    ],
)
def test_hives_text_of_a_snapshot(text: str, expected: Snapshot) -> None:
    assert snapshot_from_text(text) == expected


def test_the_full_name_of_a_table() -> None:
    assert full_table_name("D.T") == TableName("hive", "d", "t")
    assert full_table_name("@C#D.T") == TableName("c", "d", "t")
    with pytest.raises(MetaError, match=r"must be database\.table, found t"):
        full_table_name("t")
