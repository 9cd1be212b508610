"""The versions of tables, asked for without waiting: for a thread that serves many sockets and may sleep on none.

PostgreSQL's driver sends a question and goes on; the answer is fetched when the socket has it. One question is under
way at a time, so whoever has many asks for the tables of all of them at once.
"""

import select
import time
from collections.abc import Collection, Mapping
from typing import Any, Self

from sqlalchemy import Engine

from hmstats.errors import StoreUnavailable
from hmstats.store import versions
from hmstats.store.prepared import OTHER_SESSION, code_of, name_of

_DONE, _READ, _WRITE = 0, 1, 2
"""What the driver's poll says: nothing is under way, or what it waits for the socket to be ready for."""
_OPEN_SECONDS = 10.0


class VersionLine:
    """A connection of its own. It is open once it is made; every method raises StoreUnavailable when it was lost."""

    def __init__(self, connection: Any, error: type[Exception], name: str, question: str) -> None:
        self._connection = connection
        self._descriptor: int = connection.fileno()
        self._cursor = connection.cursor()
        self._error = error
        self._name = name
        self._question = question
        self._statement = name_of(question)
        self._prepared = False
        self._ids = ""
        self.asking = False
        """Whether a question is under way."""

    @classmethod
    def open(cls, engine: Engine, arguments: Mapping[str, Any], question: str = versions.CURRENT_OF_ARRAY) -> Self:
        """Connect with the driver's arguments, and wait until that is done. Raises StoreUnavailable.

        `question`: versions.CURRENT_OF_ARRAY, or LOGGED_OF_ARRAY where Hive's log is always among the tables.
        """
        name = engine.url.render_as_string(hide_password=True)
        driver = engine.dialect.loaded_dbapi
        try:
            connection = driver.connect(**arguments, async_=1)
            _wait(connection)
            line = cls(connection, driver.Error, name, question)
            line._prepare()
        except (driver.Error, TimeoutError) as error:
            raise StoreUnavailable(f"database {name} is not available: {error}") from error
        return line

    def fileno(self) -> int:
        """What a selector watches for reading, questions or not: the end of the connection shows there too.

        It stays the same when the connection is lost, so that the selector can let go of it.
        """
        return self._descriptor

    def ask(self, table_ids: Collection[int]) -> None:
        """Ask for the numbers that the tables have now."""
        self._ids = f"'{{{','.join(map(str, table_ids))}}}'"
        self._send()

    def hear(self) -> dict[int, int] | None:
        """The answer, without the tables that have no number; None while it is under way, or nothing was asked."""
        try:
            if self._connection.poll() != _DONE or not self.asking:
                return None
            self.asking = False
            return dict(self._cursor.fetchall())
        except self._error as error:
            if not self._prepared or code_of(error) not in OTHER_SESSION:
                raise self._lost(error) from error
        self._prepared = False
        self._send()
        return None

    def close(self) -> None:
        """Give the connection back to the system."""
        self._connection.close()

    def _send(self) -> None:
        whole = self._question % f"{self._ids}::bigint[]"
        try:
            self._cursor.execute(f"EXECUTE {self._statement}({self._ids})" if self._prepared else whole)
        except self._error as error:
            raise self._lost(error) from error
        self.asking = True

    def _prepare(self) -> None:
        try:
            self._cursor.execute(f"PREPARE {self._statement}(bigint[]) AS {self._question % '$1'}")
            _wait(self._connection)
            self._prepared = True
        except self._error as error:
            if code_of(error) not in OTHER_SESSION:
                raise

    def _lost(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(f"database {self._name} was lost: {error}")


def _wait(connection: Any) -> None:
    """Sleep until the driver has done what it was told. Raises its errors, or TimeoutError."""
    give_up = time.monotonic() + _OPEN_SECONDS
    while (wanted := connection.poll()) != _DONE:
        if time.monotonic() > give_up:
            raise TimeoutError(f"it did not answer in {_OPEN_SECONDS:g} seconds")
        socket = select.poll()
        socket.register(connection.fileno(), select.POLLIN if wanted == _READ else select.POLLOUT)
        socket.poll(1_000)
