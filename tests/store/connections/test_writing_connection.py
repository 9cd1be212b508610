"""Transactions that begin with their first statement and may end with their last."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import psycopg2
import pytest
from psycopg2.errors import DivisionByZero
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, TRANSACTION_STATUS_INTRANS
from sqlalchemy import make_url, select
from tests.faults.harness.leaks import open_files
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.store.connections.writing_connection import WritingConnection
from hmstats.store.database.store import Store
from hmstats.store.schema import SEQUENCE_TABLE
from hmstats.store.unit.unit import Unit

INSERT = 'INSERT INTO "SEQUENCE_TABLE" ("SEQUENCE_NAME", "NEXT_VAL") VALUES (%s, %s)'
COUNT = """SELECT count(*) FROM "SEQUENCE_TABLE" WHERE starts_with("SEQUENCE_NAME", 'mine')"""


@pytest.fixture
def connections(empty_postgres_url: str) -> Iterator[tuple[Any, Any]]:
    """One that writes to the table `t`, and another that sees what was committed."""
    url = make_url(empty_postgres_url)
    arguments = {"host": url.host, "port": url.port, "user": url.username, "dbname": url.database}
    writing = psycopg2.connect(**arguments, connection_factory=WritingConnection)
    looking = psycopg2.connect(**arguments)
    looking.autocommit = True
    looking.cursor().execute("CREATE TABLE t (n INT)")
    yield writing, looking
    writing.close()
    looking.close()


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    """A store over PostgreSQL with one connection that writes."""
    store = Store.open(postgres_url, pool_size=1)
    yield store
    store.close()


def numbers(connection: Any) -> list[int]:
    cursor = connection.cursor()
    cursor.execute("SELECT n FROM t ORDER BY n")
    return [row[0] for row in cursor.fetchall()]


def test_a_transaction_begins_with_its_first_statement(connections: tuple[Any, Any]) -> None:
    writing, looking = connections
    assert writing.info.transaction_status == TRANSACTION_STATUS_IDLE
    writing.cursor().execute("INSERT INTO t VALUES (%s)", (1,))
    assert writing.info.transaction_status == TRANSACTION_STATUS_INTRANS
    writing.cursor().execute(b"INSERT INTO t VALUES (2)")
    assert numbers(looking) == []
    writing.commit()
    assert writing.info.transaction_status == TRANSACTION_STATUS_IDLE
    assert numbers(looking) == [1, 2]
    writing.commit()
    writing.rollback()
    assert numbers(looking) == [1, 2]


def test_what_was_rolled_back_is_gone(connections: tuple[Any, Any]) -> None:
    writing, looking = connections
    writing.cursor().execute("INSERT INTO t VALUES (1)")
    writing.rollback()
    writing.cursor().execute("INSERT INTO t VALUES (2)")
    writing.commit()
    assert numbers(looking) == [2]


def test_a_commit_among_statements_ends_the_transaction(connections: tuple[Any, Any]) -> None:
    writing, looking = connections
    writing.cursor().execute("INSERT INTO t VALUES (%s);\nINSERT INTO t VALUES (%s);\nCOMMIT", (1, 2))
    assert numbers(looking) == [1, 2]
    assert writing.info.transaction_status == TRANSACTION_STATUS_IDLE
    writing.commit()
    writing.cursor().execute("INSERT INTO t VALUES (3)")
    writing.rollback()
    assert numbers(looking) == [1, 2]


def test_a_failed_statement_takes_the_commit_behind_it_along(connections: tuple[Any, Any]) -> None:
    writing, looking = connections
    writing.cursor().execute("INSERT INTO t VALUES (1)")
    with pytest.raises(DivisionByZero):
        writing.cursor().execute("INSERT INTO t VALUES (2);\nINSERT INTO t VALUES (1 / 0);\nCOMMIT")
    writing.rollback()
    assert numbers(looking) == []
    writing.cursor().execute("INSERT INTO t VALUES (3)")
    writing.commit()
    assert numbers(looking) == [3]


def test_a_unit_commits_along_with_what_waits(store: Store, statements: StatementCounter) -> None:
    def work(unit: Unit) -> None:
        unit.queue(INSERT, ("mine", 1))
        unit.queue(INSERT, ("mine too", 2))

    with statements() as sent:
        store.write(work)
    assert [each.splitlines()[-1] for each in sent] == ["COMMIT"]
    with store.read() as connection:
        assert connection.exec_driver_sql(COUNT).scalar_one() == 2


def test_a_unit_that_fails_with_its_last_statements_leaves_nothing(store: Store) -> None:
    def work(unit: Unit) -> None:
        unit.connection.exec_driver_sql(INSERT, ("mine", 1))
        unit.queue(INSERT, ("mine too", 2))
        unit.queue(INSERT, ("mine", 3))

    with pytest.raises(MetaError, match="duplicate key"):
        store.write(work)
    store.write(lambda unit: unit.queue(INSERT, ("mine alone", 1)))
    with store.read() as connection:
        assert connection.exec_driver_sql(COUNT).scalar_one() == 1


def test_a_unit_reads_in_steps_what_is_large(store: Store) -> None:
    def work(unit: Unit) -> list[str]:
        unit.connection.exec_driver_sql(
            """INSERT INTO "SEQUENCE_TABLE" SELECT 'mine' || n, n FROM generate_series(1, 9) n"""
        )
        names = select(SEQUENCE_TABLE.c.SEQUENCE_NAME).where(SEQUENCE_TABLE.c.SEQUENCE_NAME.startswith("mine"))
        rows = unit.connection.execute(names.order_by("SEQUENCE_NAME"), execution_options={"yield_per": 2})
        return [*rows.scalars()]

    assert store.write(work) == [f"mine{number}" for number in range(1, 10)]


@pytest.mark.slow
def test_a_connection_that_is_refused_leaves_no_socket_while_its_error_is_kept(empty_postgres_url: str) -> None:
    url = make_url(empty_postgres_url)
    arguments = {"host": url.host, "port": url.port, "user": url.username, "dbname": "missing"}
    gc.collect()  # what other tests have left open is not closed meanwhile
    before = open_files(os.getpid())
    with pytest.raises(psycopg2.OperationalError, match="missing") as refused:
        psycopg2.connect(**arguments, connection_factory=WritingConnection)
    assert refused.value.__traceback__ is not None
    assert open_files(os.getpid()) <= before
