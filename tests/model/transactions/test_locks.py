"""Which kinds of locks exclude each other."""

from itertools import product

import pytest

from hmstats.model.transactions.locks import BLOCKED_BY, Lock, LockComponent, LockKind, LockState, Owner


@pytest.mark.parametrize(("one", "other"), list(product(LockKind, LockKind)))
def test_two_kinds_exclude_each_other_or_neither(one: LockKind, other: LockKind) -> None:
    """Or who is first would decide who may pass, and two could hold what excludes them."""
    assert (one in BLOCKED_BY[other]) == (other in BLOCKED_BY[one])


def test_only_readers_and_writers_of_rows_share() -> None:
    assert BLOCKED_BY[LockKind.EXCLUSIVE] == frozenset(LockKind)
    assert LockKind.SHARED_READ not in BLOCKED_BY[LockKind.EXCL_WRITE]
    assert LockKind.SHARED_WRITE not in BLOCKED_BY[LockKind.SHARED_WRITE]


def test_a_lock_says_what_it_is_on() -> None:
    where = LockComponent(LockKind.EXCLUSIVE, "d", "t", "p=1")
    lock = Lock(7, 1, where, LockState.WAITING, 0, Owner("ada", "here"), 0, None, 0)
    assert str(lock) == "lock 7 (EXCLUSIVE on d/t/p=1, waiting)"
