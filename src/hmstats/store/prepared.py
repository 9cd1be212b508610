"""Statements that PostgreSQL prepares once for each session: to plan one takes as long as to write some rows.

A unit prepares a statement in the same round trip in which it first runs. What a session knows is noted beside its
connection. Where a pooler lends another session each time that does not hold: the store then goes on without.
"""

import hashlib
import re
from typing import Any, NamedTuple, Self

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

_NOTED = "hmstats_prepared"
_MOST = 300
"""Statements that a session keeps; others are sent whole."""
_PLACE = re.compile("%(s|%)")
OTHER_SESSION = frozenset({"26000", "42P05"})
"""What PostgreSQL says in a session that is not the one of before: unknown there, or prepared by another."""


class Prepared(NamedTuple):
    """A statement's name, the text that prepares it, and the one that runs it with the driver's parameters."""

    name: str
    prepare: str
    run: str

    @classmethod
    def of(cls, text: str) -> Self:
        """From a text whose parameters are written %s."""
        count = text.count("%s")
        places = iter(range(1, count + 1))
        numbered = _PLACE.sub(lambda found: f"${next(places)}" if found[1] == "s" else "%", text)
        name = name_of(text)
        given = f"({', '.join(['%s'] * count)})" if count else ""
        return cls(name, f"PREPARE {name} AS {numbered}", f"EXECUTE {name}{given}")

    def text(self, connection: Connection, whole: str) -> str:
        """What runs the statement in a connection's session, and prepares it unless it is; `whole` is its own text.

        It is to be sent at once, with parameters.
        """
        known: set[str] = connection.info.setdefault(_NOTED, set())
        if self.name in known:
            return self.run
        if len(known) >= _MOST:
            return whole
        known.add(self.name)
        return f"{self.prepare.replace('%', '%%')};\n{self.run}"


def name_of(text: str) -> str:
    """A name that no other statement has, in whatever process: a pooler may lend the session of another's."""
    return f"hmstats_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def forget(connection: Connection) -> None:
    """Have a session know nothing after an error, which it may have met before what was noted was prepared."""
    if connection.invalidated or not connection.info.pop(_NOTED, None):
        return
    try:
        connection.rollback()
        connection.exec_driver_sql("DEALLOCATE ALL")
        connection.rollback()
    except SQLAlchemyError:
        connection.invalidate()


def is_unprepared(error: SQLAlchemyError) -> bool:
    """Whether the session that a statement ran in is not the one that it was prepared in."""
    return isinstance(error, DBAPIError) and code_of(error.orig) in OTHER_SESSION


def code_of(error: Any) -> str | None:
    """The state that PostgreSQL gives with an error of the driver; None where it gave none."""
    code: str | None = getattr(error, "pgcode", None)
    return code
