"""Asynchronous reads of tables' versions, for a thread that serves many sockets and must not block.

PostgreSQL's driver sends a query and returns; the answer is fetched when the socket has it. One query runs at a time,
so a caller with many questions combines their tables.
"""

import select
import time
from collections.abc import Collection, Mapping
from typing import Any, Self

from sqlalchemy import Engine

from hmstats.errors import StoreUnavailable
from hmstats.store.changes import versions
from hmstats.store.connections.lost_commits import STAMP_QUERY, LostCommitDetector
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.unit.prepared import OTHER_SESSION, code_of, name_of

_DONE, _READ, _WRITE = 0, 1, 2
"""Results of the driver's poll: done, or the socket must become readable or writable."""
_OPEN_SECONDS = 10.0
_SURELY_TAKEN_BYTES = 2_000
"""Size of a query that a socket surely takes at once, since one runs at a time; larger ones are polled."""


class VersionLine:
    """A dedicated connection, open once constructed. Every method raises StoreUnavailable if it was lost."""

    idle_seconds: float | None = None

    def __init__(
        self, connection: Any, error: type[Exception], name: str, lost_commits: LostCommitDetector, query: str
    ) -> None:
        self._connection = connection
        self._descriptor: int = connection.fileno()
        self._cursor = connection.cursor()
        self._error = error
        self._name = name
        self._lost_commits = lost_commits
        self._query = versions.with_stamp(query) if lost_commits.has_pooler else query
        self._statement = name_of(query)
        self._prepared = False
        self._ids = ""
        self.is_running = False
        """Whether a query is running."""
        self.has_unsent = False
        """Whether a part of the query is still to be sent."""

    @classmethod
    def open(
        cls,
        engine: Engine,
        arguments: Mapping[str, Any],
        lost_commits: LostCommitDetector,
        query: str = versions.CURRENT_OF_ARRAY,
    ) -> Self:
        """Connect with the driver's arguments, and wait for it. Raises StoreUnavailable.

        `query` is versions.CURRENT_OF_ARRAY, or LOGGED_OF_ARRAY if Hive's log is always among the tables.
        """
        name = shown_url(engine.url)
        driver = engine.dialect.loaded_dbapi
        try:
            connection = driver.connect(**arguments, async_=1)
            _wait(connection)
            cursor = connection.cursor()
            cursor.execute(STAMP_QUERY)
            _wait(connection)
            lost_commits.check_answer(connection, cursor.fetchone())
            line = cls(connection, driver.Error, name, lost_commits, query)
            line._prepare()
        except (driver.Error, TimeoutError) as error:
            raise StoreUnavailable(f"database {name} is not available: {error}") from error
        return line

    def fileno(self) -> int:
        """The descriptor for a selector to watch, also without a query: it becomes readable if the connection ends.

        It does not change when the connection is lost, so that the selector can unregister it.
        """
        return self._descriptor

    def send_query(self, table_ids: Collection[int]) -> None:
        """Send the query for the current versions of the tables."""
        self._ids = f"'{{{','.join(map(str, table_ids))}}}'"
        self._send()

    def receive(self) -> dict[int, int] | None:
        """The answer, without tables that have no version; None if it has not arrived, or nothing was asked."""
        try:
            state = self._connection.poll()
            self.has_unsent = state == _WRITE
            if state != _DONE or not self.is_running:
                return None
            self.is_running = False
            return versions.check_stamp(self._lost_commits, dict(self._cursor.fetchall()))
        except self._error as error:
            if not self._prepared or code_of(error) not in OTHER_SESSION:
                raise self._lost_error(error) from error
        self._prepared = False
        self._send()
        return None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _send(self) -> None:
        unprepared = self._query % f"{self._ids}::bigint[]"
        try:
            self._cursor.execute(f"EXECUTE {self._statement}({self._ids})" if self._prepared else unprepared)
            self.has_unsent = len(self._ids) > _SURELY_TAKEN_BYTES and self._connection.poll() == _WRITE
        except self._error as error:
            raise self._lost_error(error) from error
        self.is_running = True

    def _prepare(self) -> None:
        try:
            self._cursor.execute(f"PREPARE {self._statement}(bigint[]) AS {self._query % '$1'}")
            _wait(self._connection)
            self._prepared = True
        except self._error as error:
            if code_of(error) not in OTHER_SESSION:
                raise

    def _lost_error(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(f"database {self._name} was lost: {error}")


def _wait(connection: Any) -> None:
    """Wait until the driver has finished. Raises its errors, or TimeoutError."""
    give_up = time.monotonic() + _OPEN_SECONDS
    while (state := connection.poll()) != _DONE:
        if time.monotonic() > give_up:
            raise TimeoutError(f"it did not answer in {_OPEN_SECONDS:g} seconds")
        socket = select.poll()
        socket.register(connection.fileno(), select.POLLIN if state == _READ else select.POLLOUT)
        socket.poll(1_000)
