"""Claims on mirrors: one holder at a time, and a killed one's claim ends by itself."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from hmstats.model.catalog.objects import Column, Storage, Table, TableName
from hmstats.service.mirrors import claims
from hmstats.service.mirrors.claims import MirrorClaim, MirrorClaims
from hmstats.service.mirrors.mirrored_tables import MirroredTables, UpstreamTable
from hmstats.store.database.store import Store
from hmstats.store.mirrors import mirrored

NAME = TableName("hive", "d", "t")


@pytest.fixture
def table_id(store: Store) -> int:
    """The id of a mirror."""
    table = Table(name=NAME, storage=Storage(columns=(Column("c", "bigint"),), location="file:/d/t"))
    made = MirroredTables(store).keep(UpstreamTable(table, 7))
    assert made is not None
    return made


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(claims, "DEAD_SECONDS", 1.0)
    monkeypatch.setattr(claims, "_FRESH_SECONDS", 0.3)


def taken(found: MirrorClaims, table_id: int) -> MirrorClaim:
    claim = found.take(table_id)
    assert claim is not None
    return claim


def killed(found: MirrorClaims) -> None:
    """Have the holder do nothing any more, as a killed or stopped process does."""
    found._held.clear()


def until(holds: Callable[[], bool]) -> float:
    """The seconds after which it holds."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < 30
        time.sleep(0.02)
    return time.monotonic() - began


def test_a_mirror_has_one_holder_at_a_time(store: Store, table_id: int) -> None:
    one, other = MirrorClaims(store), MirrorClaims(store)
    assert not other.is_being_sent(NAME)
    claim = taken(one, table_id)
    assert one.is_being_sent(NAME)
    assert other.is_being_sent(NAME)
    assert other.take(table_id) is one.take(table_id) is None
    claim.release()
    assert not one.is_being_sent(NAME)
    taken(other, table_id).release()


@pytest.mark.slow
def test_a_living_holder_keeps_its_claim_for_longer_than_a_killed_one(store: Store, table_id: int) -> None:
    one, other = MirrorClaims(store), MirrorClaims(store)
    claim = taken(one, table_id)
    until_seconds = time.monotonic() + 2.5
    while time.monotonic() < until_seconds:
        assert other.is_being_sent(NAME)
        assert other.take(table_id) is None
        time.sleep(0.05)
    assert claim.still_holds()
    claim.release()


@pytest.mark.slow
def test_the_claim_of_a_killed_holder_ends_by_itself(store: Store, table_id: int) -> None:
    one, other = MirrorClaims(store), MirrorClaims(store)
    claim = taken(one, table_id)
    killed(one)
    assert other.take(table_id) is None
    assert until(lambda: not other.is_being_sent(NAME)) > 0.5
    theirs = taken(other, table_id)
    assert not one.is_being_sent(NAME) or one.take(table_id) is None
    time.sleep(0.4)
    assert not claim.still_holds(), "a paused holder that goes on must see that it was replaced"
    claim.release()
    assert theirs.still_holds()
    theirs.release()


def test_a_server_whose_clock_is_ahead_takes_no_claim_that_another_has_taken_meanwhile(
    store: Store, table_id: int
) -> None:
    ahead_seconds = 7 * 3600
    claim = taken(MirrorClaims(store), table_id)
    late = store.write(
        lambda unit: mirrored.claim(replace(unit, now_seconds=unit.now_seconds + ahead_seconds), table_id, None)
    )
    assert late is None
    claim.beat()
    assert claim.still_holds()
    claim.release()


@pytest.mark.slow
def test_a_replaced_holder_notes_nothing_as_sent(store: Store, table_id: int) -> None:
    one, other = MirrorClaims(store), MirrorClaims(store)
    claim = taken(one, table_id)
    killed(one)
    other.take(table_id)
    until(lambda: not other.is_being_sent(NAME))
    theirs = taken(other, table_id)
    claim.mark_sent(99)
    assert other.is_being_sent(NAME)
    theirs.mark_sent(3)
    assert not other.is_being_sent(NAME)
    with store.read() as connection:
        assert mirrored.claim_number(connection, table_id) is None


def test_no_thread_is_left_when_nothing_is_claimed(store: Store, table_id: int) -> None:
    found = MirrorClaims(store)
    taken(found, table_id).release()
    until(lambda: found._beating is None)
    taken(found, table_id).release()
    until(lambda: found._beating is None)
