"""The components of a request that conflict with another lock are those that comparing each with each finds."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.transactions.lock_conflicts import LockConflicts
from hmstats.model.transactions.locks import BLOCKED_BY, LockComponent, LockKind

NAMES = st.sampled_from(["a", "b"])


@st.composite
def components(draw: st.DrawFn) -> LockComponent:
    table = draw(st.none() | NAMES)
    partition = None if table is None else draw(st.none() | NAMES)
    return LockComponent(draw(st.sampled_from(LockKind)), draw(NAMES), table, partition)


def overlap(one: LockComponent, other: LockComponent) -> bool:
    pairs = ((one.table, other.table), (one.partition, other.partition))
    return one.database == other.database and all(None in each or each[0] == each[1] for each in pairs)


def pass_each_other(whole: LockComponent, inner: LockComponent) -> bool:
    kinds = (whole.kind, inner.kind)
    inside = whole.table is None and inner.table is not None
    return inside and kinds == (LockKind.SHARED_READ, LockKind.EXCLUSIVE)


def conflict(asked: LockComponent, held: LockComponent) -> bool:
    passes = pass_each_other(asked, held) or pass_each_other(held, asked)
    return overlap(asked, held) and held.kind in BLOCKED_BY[asked.kind] and not passes


@given(st.lists(components(), min_size=1, max_size=6), components())
def test_it_finds_what_comparing_all_finds(asked: list[LockComponent], held: LockComponent) -> None:
    parts = dict(enumerate(asked, start=1))
    found = LockConflicts(parts)
    conflicting = [part for part, each in parts.items() if conflict(each, held)]
    assert found.part_blocked_by(held) == min(conflicting, default=None)
    assert not conflicting or held.kind in found.blocking_kinds


def test_requests_of_reads_wait_for_exclusive_locks_alone() -> None:
    assert LockConflicts({1: LockComponent(LockKind.SHARED_READ, "a")}).blocking_kinds == {LockKind.EXCLUSIVE}
