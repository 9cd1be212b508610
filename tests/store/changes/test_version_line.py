"""A line on which tables' versions are asked for without waiting, over PostgreSQL."""

import os
import select as system
import selectors
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.store.catalog_values import NAME, make_table

from hmstats.errors import StoreUnavailable
from hmstats.store.changes import versions
from hmstats.store.changes.version_line import VersionLine
from hmstats.store.connections.connections import connect
from hmstats.store.connections.connections import database_url as store_url
from hmstats.store.connections.lost_commits import STAMP_QUERY
from hmstats.store.database.store import Store

PATIENCE_SECONDS = 20


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    """A store over PostgreSQL, with a table."""
    store = Store.open(postgres_url)
    make_table(store)
    yield store
    store.close()


@pytest.fixture
def line(store: Store) -> Iterator[VersionLine]:
    """A line to its database."""
    line = store.version_line()
    assert line is not None
    yield line
    line.close()


def heard(line: VersionLine) -> Mapping[int, int]:
    """The answer, once the socket has it."""
    while True:
        socket = system.poll()
        socket.register(line.fileno(), system.POLLIN)
        assert socket.poll(PATIENCE_SECONDS * 1_000)
        answer = line.receive()
        if answer is not None:
            return answer


def table_id(store: Store) -> int:
    target = store.target(NAME)
    assert target is not None
    return target.id


def test_numbers_are_those_of_the_moment_of_the_question(store: Store, line: VersionLine) -> None:
    table = table_id(store)
    for _ in range(3):
        line.send_query([table, 123_456_789])
        assert line.is_running
        assert heard(line) == store.current_versions([table]) != {}
        store.write(lambda unit: versions.bump(unit, table))
    line.send_query({123_456_789})
    assert heard(line) == {}
    assert not line.is_running
    assert line.receive() is None  # nothing was asked


def test_a_lost_connection_is_seen_by_who_watches_it(store: Store, line: VersionLine) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(line, selectors.EVENT_READ)
        end_other_sessions(store)
        with pytest.raises(StoreUnavailable, match="was lost"):
            heard(line)
        selector.unregister(line)
        assert not selector.get_map()


def test_a_connection_that_is_lost_on_the_way_is_an_error(store: Store, line: VersionLine) -> None:
    end_other_sessions(store)

    def ask() -> None:
        line.send_query([1])
        heard(line)

    with pytest.raises(StoreUnavailable, match="was lost"):
        ask()


def test_what_is_said_of_a_lost_connection_has_no_password(postgres_url: str) -> None:
    pools = connect(store_url(postgres_url).set(password="secret", port=1), 1, 5.0)
    assert pools.line is not None
    with pytest.raises(StoreUnavailable, match="not available") as caught:
        VersionLine.open(pools.checkers, pools.line, pools.lost_commits)
    assert "secret" not in str(caught.value)


class Forgetful:
    """A cursor whose session knows of nothing prepared, as behind a pooler."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.texts: list[str] = []

    def execute(self, text: str) -> None:
        """Another name where a prepared statement is run."""
        self.texts.append(text)
        self._cursor.execute(text.replace("EXECUTE hmstats", "EXECUTE forgotten"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)


class Pooled:
    """A connection through a pooler."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.cursors: list[Forgetful] = []

    def cursor(self) -> Forgetful:
        """A forgetful one."""
        self.cursors.append(Forgetful(self._connection.cursor()))
        return self.cursors[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_a_session_that_knows_of_nothing_prepared_is_sent_the_whole_question(
    store: Store, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = connect(store_url(postgres_url), 1, 30.0)
    driver = pools.checkers.dialect.loaded_dbapi
    opened: list[Pooled] = []
    real = driver.connect

    def through_pooler(**given: Any) -> Pooled:
        opened.append(Pooled(real(**given)))
        return opened[-1]

    monkeypatch.setattr(driver, "connect", through_pooler)
    assert pools.line is not None
    line = VersionLine.open(pools.checkers, pools.line, pools.lost_commits)
    monkeypatch.undo()
    table = table_id(store)
    for _ in range(2):
        line.send_query([table])
        assert heard(line) == store.current_versions([table])
    asked, sent = (cursor.texts for cursor in opened[0].cursors)
    assert asked == [STAMP_QUERY]
    assert [text.split()[0] for text in sent] == ["PREPARE", "EXECUTE", "SELECT", "SELECT"]
    line.close()


def end_other_sessions(store: Store) -> None:
    """Has the database end every session but the one that says so."""
    with store.read() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.slow
def test_a_question_that_the_socket_takes_in_parts_is_sent_whole(store: Store, line: VersionLine) -> None:
    table = table_id(store)
    with socket.socket(fileno=os.dup(line.fileno())) as shrunk:
        shrunk.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
    line.send_query([table, *range(10_000_000, 11_000_000)])
    waits = 0
    while line.has_unsent:
        waits += 1
        watched = system.poll()
        watched.register(line.fileno(), system.POLLIN | system.POLLOUT)
        assert watched.poll(PATIENCE_SECONDS * 1_000)
        assert line.receive() is None
    assert waits, "the socket took it at once: nothing is shown"
    assert heard(line) == store.current_versions([table])
