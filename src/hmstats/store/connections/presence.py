"""Presence of live processes, so that others can tell running changes of files from abandoned ones.

A process is present while it holds a lock on its number: an advisory lock on PostgreSQL, a file beside an SQLite
database. The system releases the lock when the process ends, however it ends. It is taken at its first use.
"""

import glob
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from hmstats.errors import StoreUnavailable
from hmstats.store.connections.claims import Lock, has_news, locked
from hmstats.store.connections.failures import translate_any
from hmstats.store.connections.shown_url import shown_url

_HOLD = "SELECT pg_try_advisory_lock(%s)"
_TRY = "SELECT pg_try_advisory_xact_lock(%s)"
_BITS = 62
_FILE = "-owner-"
"""Text between the name of an SQLite file and the number of a process, in the name of the locked file."""


def new_number() -> int:
    """A random, unique id of a process or a change, 62 bits."""
    return secrets.randbits(_BITS) + 1


class Presence:
    """The presence of one store, and its running changes."""

    def __init__(self, checkers: Engine) -> None:
        self._checkers = checkers
        self._refused = (SQLAlchemyError, checkers.dialect.loaded_dbapi.Error)
        self._name = shown_url(checkers.url)
        sqlite = checkers.dialect.name == "sqlite"
        self._database = Path(checkers.url.database or "").resolve() if sqlite else None
        self._number: int | None = None
        self._held: Any = None
        self._running: set[int] = set()
        self._lock = threading.Lock()

    def number(self) -> int:
        """The number of this process, locked. Raises StoreUnavailable."""
        with self._lock:
            if self._number is None or self._is_lost():
                self._let_go()
                self._number = self._taken()
            return self._number

    @contextmanager
    def working(self, change_id: int) -> Iterator[bool]:
        """Mark a change as running inside. Yields False if another thread of this process works on it."""
        with self._lock:
            mine = change_id not in self._running
            self._running.add(change_id)
        try:
            yield mine
        finally:
            if mine:
                with self._lock:
                    self._running.discard(change_id)

    def is_abandoned(self, change_id: int, owner: int) -> bool:
        """Whether no process works on a change any more. Raises StoreUnavailable."""
        if change_id in self._running:
            return False
        return owner == self._number or self._is_gone(owner)

    def close(self) -> None:
        """Release the process's number."""
        with self._lock:
            self._let_go()

    def sweep(self) -> None:
        """Remove the files of killed processes."""
        if self._database is not None:
            for each in self._database.parent.glob(f"{glob.escape(self._database.name)}{_FILE}*"):
                _remove_unheld(each)

    def _is_gone(self, owner: int) -> bool:
        if self._database is None:
            return self._answer(_TRY, owner)
        return _remove_unheld(self._file(owner))

    def _taken(self) -> int:
        number = new_number()
        if self._database is not None:
            file = self._file(number)
            while self._held is None or not file.exists():  # another process may sweep it before it is locked
                self._held = locked(str(file))
        else:
            connection: Any = None
            try:
                lent = self._checkers.raw_connection()
                lent.detach()
                connection = lent.dbapi_connection
                with connection.cursor() as cursor:
                    cursor.execute(_HOLD, (number,))
            except self._refused as error:
                if connection is not None:
                    connection.close()
                raise translate_any(error, self._name) from error
            self._held = connection
        return number

    def _answer(self, statement: str, number: int) -> bool:
        try:
            with self._checkers.connect() as connection:
                return bool(connection.exec_driver_sql(statement, (number,)).scalar_one())
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"database {self._name} does not answer: {error}") from error

    def _is_lost(self) -> bool:
        """Whether the lock was lost, since its connection has ended."""
        if isinstance(self._held, Lock):
            return False
        try:
            return self._held is None or has_news(self._held)
        except self._refused:
            return True

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if self._database is not None and self._number is not None:
            self._file(self._number).unlink(missing_ok=True)
        if held is not None:
            held.close()
        self._number = None

    def _file(self, number: int) -> Path:
        assert self._database is not None
        return self._database.with_name(f"{self._database.name}{_FILE}{number}")


def _remove_unheld(file: Path) -> bool:
    """Remove a file unless a process holds its lock. Returns False if one does."""
    if not file.exists():
        return True
    lock = locked(str(file))
    if lock is None:
        return False
    file.unlink(missing_ok=True)
    lock.close()
    return True
