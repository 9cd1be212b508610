"""Classification of database errors: whether to retry, and the error for the caller."""

from collections.abc import Mapping
from enum import Enum

from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from hmstats.errors import MetaError, StoreUnavailable


class Failure(Enum):
    """The kind of a database error."""

    CONFLICT = "another writer was in the way"
    RACE = "another writer made or removed a row after it was looked for"
    LOST = "the connection broke before the commit"
    AWAY = "the database does not answer"
    REFUSED = "the database does not take the statement or a value"


TRIES: Mapping[Failure, int] = {
    Failure.CONFLICT: 8,
    Failure.RACE: 3,
    Failure.LOST: 2,
    Failure.AWAY: 1,
    Failure.REFUSED: 1,
}
"""Most attempts of a unit of work, by kind of failure."""

_CONFLICTS = frozenset({"40001", "40P01", "55P03"})
"""PostgreSQL: serialisation failure, deadlock, lock not available."""
_RACES = frozenset({"23503", "23505"})
"""PostgreSQL: foreign key violation, unique violation. SQLite has one writer at a time, so it has no races."""
_AWAY = ("08", "53", "57")
"""PostgreSQL's classes of SQLSTATE: connection, resources, an operator or a timeout intervened."""
_UNKNOWN_SETTING = "unrecognized configuration parameter"
"""What an older PostgreSQL, which lacks a setting of our sessions, says to a connection."""
_SQLITE_BUSY = frozenset({5, 6})
"""SQLITE_BUSY, SQLITE_LOCKED."""
_SQLITE_REFUSED = frozenset({1, 8})
"""SQLITE_ERROR (of the statement), SQLITE_READONLY."""
_SQLITE_RIGHTS = frozenset({8, 14})
"""SQLITE_READONLY, SQLITE_CANTOPEN."""
_RIGHTS = "; its user needs the right to write the file and its folder, also to read"
"""What SQLite needs for the files beside a database, by which readers and writers agree."""


def classify(error: SQLAlchemyError) -> Failure:
    """The kind of failure of an error."""
    if isinstance(error, NoConnectionFree):
        return Failure.AWAY
    if not isinstance(error, DBAPIError):
        return Failure.REFUSED
    sqlite_code = getattr(error.orig, "sqlite_errorcode", None)
    return _of_postgres(error) if sqlite_code is None else _of_sqlite(error, sqlite_code)


def _of_sqlite(error: DBAPIError, code: int) -> Failure:
    primary = code & 0xFF  # the upper bits are details of it
    if primary in _SQLITE_BUSY:
        return Failure.CONFLICT
    if primary in _SQLITE_REFUSED or not isinstance(error, OperationalError):
        return Failure.REFUSED
    return Failure.AWAY


def _of_postgres(error: DBAPIError) -> Failure:
    state = getattr(error.orig, "pgcode", None) or ""
    if state in _CONFLICTS:
        return Failure.CONFLICT
    if state in _RACES:
        return Failure.RACE
    if error.connection_invalidated:
        return Failure.LOST
    if state.startswith(_AWAY) or (not state and isinstance(error, OperationalError | InterfaceError)):
        return Failure.AWAY
    return Failure.REFUSED


def translate(error: SQLAlchemyError, database: str, tries: int = 1) -> MetaError:
    """The error for the caller, with the database's URL (without its password) and the reason."""
    reason = _first_line(getattr(error, "orig", None) or error)
    after = f" after {tries} tries" if tries > 1 else ""
    if isinstance(error, IntegrityError):
        return MetaError(f"database {database} refuses the change{after}: {reason}")
    needed = ", hmstats needs PostgreSQL 12 or newer" if _UNKNOWN_SETTING in reason else ""
    if getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF in _SQLITE_RIGHTS:
        needed = _RIGHTS
    if classify(error) is Failure.REFUSED:
        return MetaError(f"database {database} refuses the statement: {reason}{needed}")
    return StoreUnavailable(f"database {database} does not answer{after}: {reason}{needed}")


def translate_any(error: Exception, database: str) -> MetaError:
    """The error for the caller of one raised by SQLAlchemy, or by the driver used directly."""
    if isinstance(error, SQLAlchemyError):
        return translate(error, database)
    return StoreUnavailable(f"database {database} does not answer: {_first_line(error)}")


def _first_line(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), "no reason given")
