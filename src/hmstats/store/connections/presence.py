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
from hmstats.store.connections.claims import Lock, has_input, try_lock
from hmstats.store.connections.failures import translate_any
from hmstats.store.connections.shown_url import shown_url

_LOCK = "SELECT pg_try_advisory_lock(%s)"
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"
_BITS = 62
_FILE_INFIX = "-owner-"
"""Text between the name of an SQLite file and the number of a process, in the name of the locked file."""


def new_id() -> int:
    """A random, unique id of a process or a change, 62 bits."""
    return secrets.randbits(_BITS) + 1


class Presence:
    """The presence of one store, and its running changes."""

    def __init__(self, checkers: Engine) -> None:
        self._checkers = checkers
        self._errors = (SQLAlchemyError, checkers.dialect.loaded_dbapi.Error)
        self._name = shown_url(checkers.url)
        sqlite = checkers.dialect.name == "sqlite"
        self._database = Path(checkers.url.database or "").resolve() if sqlite else None
        self._owner_id: int | None = None
        self._owner_lock: Any = None
        self._running: set[int] = set()
        self._lock = threading.Lock()

    def owner_id(self) -> int:
        """The number of this process, locked. Raises StoreUnavailable."""
        with self._lock:
            if self._owner_id is None or self._is_lost():
                self._release()
                self._owner_id = self._lock_new_id()
            return self._owner_id

    @contextmanager
    def mark_running(self, change_id: int) -> Iterator[bool]:
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
        return owner == self._owner_id or self._has_ended(owner)

    def close(self) -> None:
        """Release the process's number."""
        with self._lock:
            self._release()

    def remove_abandoned_files(self) -> None:
        """Remove the files of killed processes."""
        if self._database is not None:
            for file in self._database.parent.glob(f"{glob.escape(self._database.name)}{_FILE_INFIX}*"):
                _remove_unlocked(file)

    def _has_ended(self, owner: int) -> bool:
        if self._database is None:
            return self._try_lock(_TRY_LOCK, owner)
        return _remove_unlocked(self._file(owner))

    def _lock_new_id(self) -> int:
        owner_id = new_id()
        if self._database is not None:
            file = self._file(owner_id)
            while self._owner_lock is None or not file.exists():  # another process may sweep it before it is locked
                self._owner_lock = try_lock(str(file))
        else:
            connection: Any = None
            try:
                pooled = self._checkers.raw_connection()
                pooled.detach()
                connection = pooled.dbapi_connection
                with connection.cursor() as cursor:
                    cursor.execute(_LOCK, (owner_id,))
            except self._errors as error:
                if connection is not None:
                    connection.close()
                raise translate_any(error, self._name) from error
            self._owner_lock = connection
        return owner_id

    def _try_lock(self, statement: str, owner_id: int) -> bool:
        try:
            with self._checkers.connect() as connection:
                return bool(connection.exec_driver_sql(statement, (owner_id,)).scalar_one())
        except SQLAlchemyError as error:
            raise StoreUnavailable(f"database {self._name} does not answer: {error}") from error

    def _is_lost(self) -> bool:
        """Whether the lock was lost, since its connection has ended."""
        if isinstance(self._owner_lock, Lock):
            return False
        try:
            return self._owner_lock is None or has_input(self._owner_lock)
        except self._errors:
            return True

    def _release(self) -> None:
        lock, self._owner_lock = self._owner_lock, None
        if self._database is not None and self._owner_id is not None:
            self._file(self._owner_id).unlink(missing_ok=True)
        if lock is not None:
            lock.close()
        self._owner_id = None

    def _file(self, owner_id: int) -> Path:
        assert self._database is not None
        return self._database.with_name(f"{self._database.name}{_FILE_INFIX}{owner_id}")


def _remove_unlocked(file: Path) -> bool:
    """Remove a file unless a process holds its lock. Returns False if one does."""
    if not file.exists():
        return True
    lock = try_lock(str(file))
    if lock is None:
        return False
    file.unlink(missing_ok=True)
    lock.close()
    return True
