"""A database that is another one under its old name, while PostgreSQL goes on, clears what was cached of it."""

from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest
from psycopg2 import sql
from sqlalchemy import make_url
from tests.fixtures.databases.postgres import create_database

from hmstats.errors import StoreUnavailable
from hmstats.store.database.store import Store


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    """A store whose connections are open."""
    with closing(Store.open(postgres_url)) as opened:
        opened.check_connection()
        yield opened


def end_connections(postgres_server: str, name: str) -> None:
    """End all connections to a database."""
    execute(postgres_server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def execute(postgres_server: str, statement: str) -> None:
    with closing(psycopg2.connect(postgres_server)) as connection:
        connection.autocommit = True
        connection.cursor().execute(sql.SQL(statement))


def connect_anew(store: Store) -> None:
    """Read until it succeeds: connections that were ended are found by their next use."""
    for _ in range(10):
        try:
            store.check_connection()
        except StoreUnavailable:
            continue
        return
    store.check_connection()


def test_a_database_that_was_dropped_and_made_again_may_be_older(
    store: Store, postgres_server: str, postgres_url: str
) -> None:
    name = make_url(postgres_url).database or ""
    cleared: list[str] = []
    store.on_older_database(lambda: cleared.append(name))
    end_connections(postgres_server, name)
    backup = create_database(postgres_server, name)
    execute(postgres_server, f'DROP DATABASE "{name}" WITH (FORCE)')
    execute(postgres_server, f'ALTER DATABASE "{backup}" RENAME TO "{name}"')
    connect_anew(store)
    assert cleared == [name]


def test_new_connections_alone_clear_nothing(store: Store, postgres_server: str, postgres_url: str) -> None:
    cleared: list[str] = []
    store.on_older_database(lambda: cleared.append("cleared"))
    end_connections(postgres_server, make_url(postgres_url).database or "")
    connect_anew(store)
    assert cleared == []
