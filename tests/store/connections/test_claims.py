"""Who may write: servers that share a database, or one alone, and what the others are told."""

import time
from collections.abc import Collection, Iterator
from typing import Any

import psycopg2
import pytest
from sqlalchemy import Engine, text

from hmstats.errors import DatabaseTaken, StoreUnavailable
from hmstats.store.changes import versions
from hmstats.store.connections import claims
from hmstats.store.connections.connections import connect
from hmstats.store.connections.connections import database_url as database_url_of
from hmstats.store.connections.lost_commits import LostCommitDetector
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate

PATIENCE_SECONDS = 30.0
_CLAIMS = """
SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_END_THE_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database()
"""


@pytest.fixture
def pair(database_url: str) -> Iterator[tuple[Store, Store]]:
    """Two stores over one database."""
    both = Store.open(database_url), Store.open(database_url)
    yield both
    for each in both:
        each.close()


def bump(store: Store, table_id: int = 1) -> None:
    store.write(lambda unit: versions.bump(unit, table_id))


def test_stores_share_a_database(pair: tuple[Store, Store]) -> None:
    for _ in range(3):
        for store in pair:
            bump(store)
    assert pair[0].current_versions([1]) == {1: 6}


def test_one_alone_keeps_others_from_writing_until_it_is_closed(pair: tuple[Store, Store], database_url: str) -> None:
    alone, other = pair
    alone.claim_exclusively()
    bump(alone)
    for _ in range(2):
        with pytest.raises(DatabaseTaken, match="is used exclusively by another server"):
            bump(other)
    with pytest.raises(DatabaseTaken, match="is used exclusively by another server"):
        migrate.upgrade(database_url)
    with pytest.raises(DatabaseTaken, match="cannot be used exclusively"):
        other.claim_exclusively()
    assert other.current_versions([1]) == {1: 1}  # reading is free
    alone.close()
    bump(other)
    assert other.current_versions([1]) == {1: 2}


def test_nobody_has_a_database_alone_that_another_has_written_to(pair: tuple[Store, Store]) -> None:
    one, other = pair
    bump(other)
    with pytest.raises(DatabaseTaken, match="another server or command writes to it"):
        one.claim_exclusively()
    bump(one)
    other.close()
    one.close()
    one.claim_exclusively()


def test_one_alone_knows_its_versions_without_asking(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    read = versions.current

    def current(engine: Engine, lost_commits: LostCommitDetector, table_ids: Collection[int]) -> dict[int, int]:
        asked.append([*table_ids])
        return read(engine, lost_commits, table_ids)

    monkeypatch.setattr(versions, "current", current)
    alone = Store.open(database_url)
    alone.claim_exclusively()
    bump(alone, 1)
    bump(alone, 2)
    for _ in range(3):
        assert alone.current_versions([1, 2]) == {1: 1, 2: 1}
    assert asked == [[1, 2]]
    bump(alone, 2)
    for _ in range(3):
        assert alone.current_versions([1]) == {1: 1}
        assert alone.current_versions([2]) == {2: 2}
    assert asked == [[1, 2], [2]]
    assert alone.current_versions([3]) == alone.current_versions([3]) == {}
    alone.close()


def test_one_alone_that_lost_its_connections_is_alone_again_or_says_so(postgres_url: str) -> None:
    alone, other = Store.open(postgres_url), Store.open(postgres_url)
    alone.claim_exclusively()
    bump(alone)
    assert alone.current_versions([1]) == {1: 1}
    with other.read() as connection:
        connection.execute(text(_END_THE_OTHERS))
    bump(other)  # it may now
    assert alone.current_versions([1]) == {1: 2}
    with pytest.raises(DatabaseTaken, match="is used exclusively by another server by now"):
        bump(alone)
    assert alone.current_versions([1]) == {1: 2}
    other.close()
    wait_for_no_claim(alone)
    bump(alone)
    assert alone.current_versions([1]) == {1: 3}
    alone.close()


def test_one_alone_is_not_kept_from_its_database_by_connections_of_its_own(postgres_url: str) -> None:
    alone, other = Store.open(postgres_url), Store.open(postgres_url)
    alone.claim_exclusively()
    bump(alone)
    for _ in range(2):  # the second time it connects while it knows that it is not alone
        with other.read() as connection:
            connection.execute(text(_END_THE_OTHERS))
        bump(other)
        with pytest.raises(DatabaseTaken, match="is used exclusively by another server by now"):
            bump(alone)
    other.close()
    wait_for_no_claim(alone)
    bump(alone)
    assert alone.current_versions([1]) == {1: 4}
    alone.close()


def wait_for_no_claim(store: Store) -> None:
    """PostgreSQL lets go of a claim a moment after its connection was closed."""
    until = time.monotonic() + PATIENCE_SECONDS
    with store.read() as connection:
        while connection.scalar(text(_CLAIMS)):
            assert time.monotonic() < until, "a claim is still held"
            time.sleep(0.01)


def test_a_claim_that_another_thread_lets_go_of_is_not_alone_and_no_error(postgres_url: str) -> None:
    """`is_held` is read by the selector's thread while a worker may take the claim again."""
    pools = connect(database_url_of(postgres_url), 1, 5.0)
    pools.claims.claim_exclusively(0)
    held = pools.claims._claim
    held.close()  # as retake does, before it forgets the connection
    assert not pools.claims.is_held
    pools.claims._claim = None
    assert not pools.claims.is_held
    pools.close()


def test_a_claim_on_a_database_that_is_away_is_a_sentence(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pools = connect(database_url_of(postgres_url).set(port=1), 1, 5.0)
    with pytest.raises(StoreUnavailable, match="does not answer: "):
        pools.claims.claim_exclusively(0)
    pools.close()
    pools = connect(database_url_of(postgres_url), 1, 5.0)
    opened = []

    def broken(connection: Any, _statement: str) -> bool:
        opened.append(connection)
        raise psycopg2.OperationalError("server closed the connection unexpectedly\n")

    monkeypatch.setattr(claims, "_try_lock", broken)
    with pytest.raises(StoreUnavailable, match=r"does not answer: server closed the connection unexpectedly$"):
        pools.claims.claim_exclusively(0)
    assert [each.closed for each in opened] == [1]
    pools.close()


@pytest.mark.parametrize("exclusive", [False, True], ids=["shared", "exclusive"])
def test_a_writer_whose_claim_cannot_be_asked_for_is_told_so(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, exclusive: bool
) -> None:
    store = Store.open(postgres_url)
    if exclusive:
        store.claim_exclusively()
        bump(store)
        store._pools.claims._claim.close()

    def broken(_connection: Any, _statement: str) -> bool:
        raise psycopg2.OperationalError("server closed the connection unexpectedly\n")

    monkeypatch.setattr(claims, "_try_lock", broken)
    with pytest.raises(StoreUnavailable, match=r"does not answer.*: server closed the connection unexpectedly$"):
        bump(store)
    monkeypatch.undo()
    bump(store)
    assert store.current_versions([1]) == {1: 1 + exclusive}
    store.close()
