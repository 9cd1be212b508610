"""PostgreSQL's driver for writers: BEGIN is sent with the first statement, and COMMIT may be sent with the last.

The driver by itself sends each of them alone, and a round trip takes as long as writing some rows. The database's last
answer tells whether a transaction is open, so that a COMMIT among other statements counts too.
"""

import select
from collections.abc import Sequence
from typing import Any

from psycopg2 import Error
from psycopg2.extensions import TRANSACTION_STATUS_IDLE, connection, cursor
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from hmstats.store.connections.bound_values import check
from hmstats.store.connections.traced_cursors import postgres_cursor

BEGIN, COMMIT, ROLLBACK = "BEGIN", "COMMIT", "ROLLBACK"
_BETWEEN = ";\n"


class _Cursor(cursor):  # type: ignore[misc]  # the driver has no types
    """A cursor of psycopg2 that sends BEGIN together with the first statement of a transaction."""

    def execute(self, query: str | bytes, vars: Any = None) -> None:  # noqa: A002 - the driver's name
        """Run statements, in a new transaction unless one is open."""
        if self.connection.info.transaction_status == TRANSACTION_STATUS_IDLE:
            begin = BEGIN + _BETWEEN
            query = begin + query if isinstance(query, str) else begin.encode() + query
        super().execute(query, vars)


class WritingConnection(connection):  # type: ignore[misc]
    """A connection that begins a transaction without a round trip. It supports no server-side cursors."""

    def __init__(self, dsn: str, async_: int = 0) -> None:
        try:
            super().__init__(dsn, async_=async_)
        except Error:
            self.close()  # the error's traceback holds this object, and with it the socket
            raise
        self.autocommit = True  # the driver begins and ends nothing by itself
        self.cursor_factory = postgres_cursor(_Cursor)

    def commit(self) -> None:
        """Commit the transaction, if one is open; a failed one is rolled back. Raises the driver's errors."""
        self._end(COMMIT)

    def rollback(self) -> None:
        """Roll back the transaction, if one is open. Raises the driver's errors."""
        self._end(ROLLBACK)

    def _end(self, statement: str) -> None:
        if self.info.transaction_status != TRANSACTION_STATUS_IDLE:
            with self.cursor() as ending:
                ending.execute(statement)


def has_spoken(lent: Connection) -> bool:
    """Whether the database has sent something unasked, as it does before it ends a session. Needs no round trip."""
    driver = lent.connection.dbapi_connection
    assert isinstance(driver, WritingConnection)
    waiting = select.poll()
    waiting.register(driver.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def run_together(lent: Connection, text: str, values: Sequence[Any]) -> int:
    """Run statements as a transaction of their own, in one round trip. Returns the number of rows the last one changed.

    Bypasses SQLAlchemy's statements, but raises its errors, and MetaError for an invalid value. No
    transaction may be open.
    """
    driver = lent.connection.dbapi_connection
    assert isinstance(driver, WritingConnection)
    assert driver.info.transaction_status == TRANSACTION_STATUS_IDLE, "something was run before"
    check(values)
    try:
        with driver.cursor(cursor_factory=postgres_cursor()) as running:
            running.execute(text, values)
            return int(running.rowcount)
    except Error as error:
        lost = bool(driver.closed)
        if lost:
            lent.invalidate(error)
        raise DBAPIError.instance(text, tuple(values), error, Error, connection_invalidated=lost) from error
