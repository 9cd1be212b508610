"""A process is seen to be alive as long as it is, by others that share its database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from tests.faults.harness.worker_processes import wait_until

from hmstats.store.connections.presence import new_id
from hmstats.store.database.store import Store


@pytest.fixture
def other(database_url: str) -> Iterator[Store]:
    """Another process's store, as far as the database can see."""
    opened = Store.open(database_url)
    yield opened
    opened.close()


def test_a_process_is_alive_until_it_ends(store: Store, other: Store) -> None:
    number = other.presence.owner_id()
    assert other.presence.owner_id() == number
    assert not store.presence.is_abandoned(1, number)
    other.presence.close()
    wait_until(lambda: store.presence.is_abandoned(1, number))  # PostgreSQL notices in a moment
    assert other.presence.owner_id() != number


def test_nobody_has_a_number_that_was_never_taken(store: Store) -> None:
    assert store.presence.is_abandoned(1, new_id())


def test_a_change_that_is_worked_on_is_not_abandoned(store: Store) -> None:
    number = store.presence.owner_id()
    assert store.presence.is_abandoned(1, number)
    with store.presence.mark_running(1) as mine:
        assert mine
        assert not store.presence.is_abandoned(1, number)
        with store.presence.mark_running(1) as again:
            assert not again
        assert not store.presence.is_abandoned(1, number)
    assert store.presence.is_abandoned(1, number)


def test_a_process_whose_connection_was_lost_has_another_number(postgres_url: str) -> None:
    store, other = (Store.open(postgres_url) for _ in range(2))
    number = store.presence.owner_id()
    with other.read() as connection:
        holder = text("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = CAST(:low AS oid)")
        pid = connection.execute(holder, {"low": number & 0xFFFFFFFF}).scalar_one()
        connection.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid})
    assert other.presence.is_abandoned(1, number)
    assert store.presence.owner_id() != number
    assert not other.presence.is_abandoned(1, store.presence.owner_id())
    store.close()
    other.close()


def test_files_of_killed_processes_are_swept(sqlite_url: str) -> None:
    database = Path(make_url(sqlite_url).database or "")
    left = database.with_name(f"{database.name}-owner-5")
    left.touch()
    store = Store.open(sqlite_url)
    number = store.presence.owner_id()
    store.presence.remove_abandoned_files()
    assert [each.name for each in database.parent.glob("*-owner-*")] == [f"{database.name}-owner-{number}"]
    assert (database.with_name(f"{database.name}-owner-{number}").stat().st_mode & 0o777) == 0o600
    store.close()
    assert list(database.parent.glob("*-owner-*")) == []
