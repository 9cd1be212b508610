"""Who may write to a database: servers that share it, or one that has it alone and need not look for what others did.

Each connection that writes holds a shared claim as long as it lives, and one store may hold the only one instead. On
PostgreSQL a claim is an advisory lock, for SQLite a lock on a file beside the database's. The system lets go of it when
a process ends, however it ends. Programs that are not ours know nothing of claims.
"""

import fcntl
import os
import select
import threading
import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import SQLAlchemyError

from hmstats.errors import DatabaseTaken
from hmstats.store.failures import translate

_KEY = 0x686D7374617474
_SHARE = "SELECT pg_try_advisory_lock_shared(%s)"
_TAKE = "SELECT pg_try_advisory_lock(%s)"
_CLAIM = "claim"
_PAUSE_SECONDS = 0.1


class Claims:
    """The claims of one store: shared ones, or after `take_alone` one that goes with no other's."""

    def __init__(self, writers: Engine, checkers: Engine) -> None:
        self._checkers = checkers
        self._name = writers.url.render_as_string(hide_password=True)
        self._file = f"{writers.url.database}-claim" if writers.dialect.name == "sqlite" else None
        self._alone: Any = None
        self._exclusive = False
        """Whether it is to be alone, also while it has lost its claim: the connections that write need none then."""
        self._lock = threading.Lock()
        event.listen(writers, "connect", self._share)
        event.listen(writers, "close", _unshare)

    @property
    def alone(self) -> bool:
        """Whether nobody else can write: PostgreSQL lets go of a claim when it loses the connection."""
        return self._alone is not None and (self._file is not None or not _has_news(self._alone))

    def take_alone(self, patience_seconds: float) -> None:
        """Claim the database alone, before anything is written.

        Raises DatabaseTaken when another is in the way for longer than that: one that was killed may still hold its
        claim for a moment. Raises StoreUnavailable.
        """
        give_up = time.monotonic() + patience_seconds
        while not self._take():
            if time.monotonic() > give_up:
                raise DatabaseTaken(
                    f"database {self._name} cannot be had alone: another server or command writes to it"
                )
            time.sleep(_PAUSE_SECONDS)
        self._exclusive = True

    def retake(self) -> bool:
        """Take the claim again where it was lost; false when another has the database now."""
        with self._lock:
            return self.alone or self._take()

    def release(self) -> None:
        """Let go of the claim, and share the database from now on."""
        self._exclusive = False
        self._let_go()

    def _let_go(self) -> None:
        if self._alone is not None:
            self._alone.close()
            self._alone = None

    def _take(self) -> bool:
        self._let_go()
        if self._file is not None:
            self._alone = _locked(self._file, fcntl.LOCK_EX)
            return self._alone is not None
        try:
            lent = self._checkers.raw_connection()
            lent.detach()
            taken = _answer(lent, _TAKE)
        except SQLAlchemyError as error:
            raise translate(error, self._name) from error
        if taken:
            self._alone = lent
        else:
            lent.close()
        return taken

    def _share(self, connection: Any, record: Any) -> None:
        """Have a connection that is to write hold a claim."""
        if self._exclusive:
            return
        if self._file is None:
            shared = _answer(connection, _SHARE)
            connection.rollback()
        else:
            record.info[_CLAIM] = _locked(self._file, fcntl.LOCK_SH)
            shared = record.info[_CLAIM] is not None
        if not shared:
            connection.close()
            raise DatabaseTaken(
                f"database {self._name} belongs to a server alone (setting exclusive): nothing was done"
            )


def _answer(connection: Any, statement: str) -> bool:
    cursor = connection.cursor()
    cursor.execute(statement, (_KEY,))
    return bool(cursor.fetchone()[0])


class _Lock:
    """A lock on an open file, gone with it."""

    def __init__(self, file: str, kind: int) -> None:
        self._descriptor: int | None = os.open(file, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()

    @property
    def held(self) -> bool:
        """Whether it was got."""
        return self._descriptor is not None

    def close(self) -> None:
        """Let go of it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    __del__ = close


def _locked(file: str, kind: int) -> _Lock | None:
    lock = _Lock(file, kind)
    return lock if lock.held else None


def _unshare(_connection: Any, record: Any) -> None:
    claim = record.info.pop(_CLAIM, None)
    if claim is not None:
        claim.close()


def _has_news(connection: Any) -> bool:
    """Whether the database said something that nobody asked for: that the connection has ended."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
