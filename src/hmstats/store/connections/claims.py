"""Write access to a database: shared by several servers, or exclusive, so that other writers need not be detected.

Each writing connection holds a shared claim while it lives, or one store holds an exclusive claim instead. A claim is
an advisory lock on PostgreSQL, and for SQLite a lock on a file beside the database's, links followed. The system
releases it when the process ends, however it ends. Programs other than hmstats do not honour claims.
"""

import fcntl
import os
import select
import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import SQLAlchemyError

from hmstats.errors import DatabaseTaken
from hmstats.store.connections.failures import translate_any
from hmstats.store.connections.shown_url import shown_url

_KEY = 0x686D7374617474
_TRY_SHARED = "SELECT pg_try_advisory_lock_shared(%s)"
_TRY_EXCLUSIVE = "SELECT pg_try_advisory_lock(%s)"
TRY_IN_TRANSACTION = f"SELECT pg_try_advisory_xact_lock({_KEY})"
"""Query whether no other session of PostgreSQL holds a claim; none can take one until the transaction ends."""
_CLAIM = "claim"
_PAUSE_SECONDS = 0.1


class Claims:
    """The claims of one store: shared ones, or after `claim_exclusively` an exclusive one."""

    def __init__(self, writers: Engine, checkers: Engine) -> None:
        self._checkers = checkers
        self._errors = (SQLAlchemyError, checkers.dialect.loaded_dbapi.Error)
        self._name = shown_url(writers.url)
        self._database = Path(writers.url.database or "").resolve() if writers.dialect.name == "sqlite" else None
        self._file = None if self._database is None else f"{self._database}-claim"
        self._claim: Any = None
        self._exclusive = False
        """Whether the store is exclusive, even while it has lost its claim: writing connections then take none."""
        self._waived = False
        self._names_checked = False
        """Whether the database's file was found to have one name."""
        self._lock = threading.Lock()
        event.listen(writers, "connect", self._claim_shared)
        event.listen(writers, "close", _release_shared)

    @property
    def is_held(self) -> bool:
        """Whether the exclusive claim is held; PostgreSQL releases it if the connection is lost."""
        claim = self._claim  # another thread may release it meanwhile
        return claim is not None and (self._file is not None or not self._is_lost(claim))

    def claim_exclusively(self, patience_seconds: float) -> None:
        """Take the exclusive claim, before anything is written.

        Raises DatabaseTaken if another claim exists for longer than the patience: a killed process may hold its
        claim for a moment. Raises StoreUnavailable if the database does not answer.
        """
        self._check_names()
        give_up = time.monotonic() + patience_seconds
        while not self._try_claim():
            if time.monotonic() > give_up:
                raise DatabaseTaken(
                    f"database {self._name} cannot be used exclusively: another server or command writes to it"
                )
            time.sleep(_PAUSE_SECONDS)
        self._exclusive = True

    def waive(self) -> None:
        """Take no claim for new writing connections: they write only tables of which no server caches anything."""
        self._waived = True

    def reclaim(self) -> bool:
        """Take the exclusive claim again if it was lost. Returns False if another process has a claim now."""
        with self._lock:
            return self.is_held or self._try_claim()

    def release(self) -> None:
        """Release the exclusive claim; the database is shared from now on."""
        self._exclusive = False
        self._release_claim()

    def _check_names(self) -> None:
        """Raises DatabaseTaken for a file with several names, whose claims under another name cannot be seen.

        Only before the first claim: a process that uses another name begins after that name was made, and is checked.
        """
        if self._database is not None and self._database.exists() and self._database.stat().st_nlink > 1:
            raise DatabaseTaken(
                f"database {self._name} has several names (hard links): "
                "a server that uses another name could not be detected"
            )
        self._names_checked = True

    def _release_claim(self) -> None:
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def _try_claim(self) -> bool:
        self._release_claim()
        if self._file is not None:
            self._claim = try_lock(self._file, fcntl.LOCK_EX)
            return self._claim is not None
        connection: Any = None
        try:
            connection = self._new_connection()
            acquired = _try_lock(connection, _TRY_EXCLUSIVE)
        except self._errors as error:
            if connection is not None:
                connection.close()
            raise translate_any(error, self._name) from error
        if acquired:
            self._claim = connection
        else:
            connection.close()
        return acquired

    def _new_connection(self) -> Any:
        """A connection of the driver that is detached from its pool."""
        pooled = self._checkers.raw_connection()
        pooled.detach()
        return pooled.dbapi_connection

    def _is_lost(self, connection: Any) -> bool:
        """Whether the connection was lost, or closed by another thread."""
        try:
            return has_input(connection)
        except self._errors:
            return True

    def _claim_shared(self, connection: Any, record: Any) -> None:
        """Take a shared claim for a new writing connection. Raises DatabaseTaken."""
        if self._exclusive or self._waived:
            return
        if self._file is None:
            acquired = _try_lock(connection, _TRY_SHARED)
            connection.rollback()
        else:
            try:
                if not self._names_checked:
                    self._check_names()
                record.info[_CLAIM] = try_lock(self._file, fcntl.LOCK_SH)
            except BaseException:
                connection.close()
                raise
            acquired = record.info[_CLAIM] is not None
        if not acquired:
            connection.close()
            raise DatabaseTaken(
                f"database {self._name} is used exclusively by another server (setting exclusive): nothing was changed"
            )


def _try_lock(connection: Any, statement: str) -> bool:
    cursor = connection.cursor()
    cursor.execute(statement, (_KEY,))
    return bool(cursor.fetchone()[0])


class Lock:
    """A lock on an open file; closing the file releases it."""

    def __init__(self, file: str, kind: int) -> None:
        self._descriptor: int | None = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()

    @property
    def is_acquired(self) -> bool:
        """Whether the lock was acquired and is not released."""
        return self._descriptor is not None

    def close(self) -> None:
        """Release the lock."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    __del__ = close


def try_lock(file: str, kind: int = fcntl.LOCK_EX) -> Lock | None:
    """Lock a file, and create it if it is missing. None if another process holds a conflicting lock."""
    lock = Lock(file, kind)
    return lock if lock.is_acquired else None


def _release_shared(_connection: Any, record: Any) -> None:
    claim = record.info.pop(_CLAIM, None)
    if claim is not None:
        claim.close()


def has_input(connection: Any) -> bool:
    """Whether the connection has unexpected input, which mostly means that it has ended."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
