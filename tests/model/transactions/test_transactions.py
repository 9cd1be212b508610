"""What a snapshot of transactions lets a reader see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput
from hmstats.model.transactions.locks import Owner
from hmstats.model.transactions.transactions import Snapshot, Transaction, TransactionState, ValidWriteIds, WriteState

IDS = st.integers(1, 30)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Any snapshot: no transaction is both open and aborted."""
    open_ids = draw(st.frozensets(IDS))
    return Snapshot(draw(IDS), open_ids, draw(st.frozensets(IDS)) - open_ids)


def transaction(number: int, state: TransactionState) -> Transaction:
    return Transaction(number, state, 0, Owner("ada", "here"), None, 0, 0, 0)


def test_what_is_true_now() -> None:
    found = [transaction(2, TransactionState.ABORTED), transaction(3, TransactionState.OPEN)]
    snapshot = Snapshot.of(4, found)
    assert snapshot == Snapshot(4, frozenset({3}), frozenset({2}))
    assert [snapshot.sees(each) for each in range(1, 6)] == [True, False, False, True, False]


def test_a_writer_sees_itself_and_nothing_later() -> None:
    snapshot = Snapshot(9, frozenset({3, 5}), frozenset({2})).as_seen_by(5)
    assert [each for each in range(1, 10) if snapshot.sees(each)] == [1, 4, 5]


@given(snapshots(), st.permutations(range(1, 31)))
def test_a_reader_sees_the_write_ids_of_the_transactions_that_it_sees(
    snapshot: Snapshot, transactions: list[int]
) -> None:
    """Whatever order they took their write ids in."""
    written = [(each, write_id) for write_id, each in enumerate(transactions, start=1)]
    mark = max((write_id for each, write_id in written if each <= snapshot.high_water_mark), default=0)
    under = [pair for pair in written if pair[1] <= mark]
    found = ValidWriteIds.of(mark, under, snapshot)
    seen = {write_id for _, write_id in written if write_id <= found.high_water_mark} - set(found.invalid)
    assert seen == {write_id for each, write_id in written if snapshot.sees(each)}
    assert list(found.invalid) == sorted(found.invalid)
    holder = {write_id: each for each, write_id in written}
    assert found.aborted == {each for each in found.invalid if holder[each] in snapshot.aborted_ids}


def test_when_none_is_seen_those_before_the_first_are() -> None:
    """They were forgotten, and only what every reader sees is forgotten."""
    found = ValidWriteIds.of(9, [(3, 7), (4, 9)], Snapshot(4, frozenset({4}), frozenset({3})))
    assert found == ValidWriteIds(7, (7,), frozenset({7}))
    assert found.lowest_open is None


def test_the_lowest_that_may_still_be_committed() -> None:
    found = ValidWriteIds.of(4, [(1, 1), (2, 2), (3, 3), (4, 4)], Snapshot(9, frozenset({3, 4}), frozenset({2})))
    assert (found.invalid, found.lowest_open) == ((2, 3, 4), 3)


@given(mark=st.integers(0, 9), opened=st.sets(st.integers(1, 9)), aborted=st.sets(st.integers(1, 9)))
def test_the_write_ids_that_a_text_says_are_seen(mark: int, opened: set[int], aborted: set[int]) -> None:
    listed = [",".join(map(str, sorted(each))) for each in (opened, aborted)]
    valid = ValidWriteIds.parse(f"db.t:{mark}:1:{listed[0]}:{listed[1]}")
    assert {each for each in range(1, 12) if valid.sees(each)} == set(range(1, mark + 1)) - opened - aborted
    assert valid.aborted == aborted


@pytest.mark.parametrize("text", ["db.t:5:6", "db.t:5:6:", "db.t:5:6::"])
def test_a_text_may_leave_out_what_is_empty(text: str) -> None:
    assert ValidWriteIds.parse(text) == ValidWriteIds(5, (), frozenset())


def test_runs_of_ids_in_a_text() -> None:
    """As Hive 4 writes them, among others and alone."""
    valid = ValidWriteIds.parse("db.t:22:3:3,5-7:9-10,20")
    assert (valid.invalid, valid.aborted) == ((3, 5, 6, 7, 9, 10, 20), frozenset({9, 10, 20}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "db.t",
        "db.t:5",
        "db.t:x:6::",
        "db.t:5:6:a:",
        "db.t:5:6:7-3:",
        "db.t:5:6:1-:",
        "db.t:5:6:-3:",
        "db.t:5:6::1:2",
        "db.t:5:6:1-9223372036854775807:",
    ],
)
def test_a_text_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"must be table:mark:open:ids:ids, found {text}"):
        ValidWriteIds.parse(text)


@pytest.mark.parametrize(
    ("write_id", "valid", "known"),
    [(3, "t:3:4::", True), (0, "t:3:4::", False), (None, "t:3:4::", False), (3, None, False), (3, "", False)],
)
def test_a_writer_must_say_both(write_id: int | None, valid: str | None, known: bool) -> None:
    assert WriteState(write_id, valid).known is known
