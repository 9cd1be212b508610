"""Statements that PostgreSQL prepares once for each session: planning takes as long as writing some rows.

A unit prepares a statement in the round trip of its first run. The names prepared in a session are noted with its
connection. If a pooler gives another session each time, the notes are wrong: the store pauses preparing then.
"""

import hashlib
import math
import re
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Self

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

_log = structlog.get_logger(__name__)

_NAMES = "hmstats_prepared"
_MOST_PREPARED = 300
"""Most prepared statements of a session; others are sent whole."""
_PAUSE_SECONDS = 60.0
_PLACEHOLDER = re.compile("%(s|%)")
_NAMED_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
OTHER_SESSION = frozenset({"26000", "42P05"})
"""SQLSTATEs of a session other than the expected one: statement unknown, or prepared already."""
_OUTDATED = "0A000"
"""The SQLSTATE of a prepared query whose columns have other types by now, as after a migration."""


PREPARED: Mapping[str, Any] = {"hmstats_prepared": True}
"""The execution options of a query that a unit has prepared; its text must be the same each time."""
_MOST_QUERIES = 100
"""Most prepared forms of queries in memory."""


class Preparing:
    """Whether statements are prepared in the sessions of a database.

    A pooler that gives another session each time makes that fail: it is paused then, and tried again later, since the
    same error also follows temporary faults. Thread-safe.
    """

    def __init__(self, *, possible: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._from = -math.inf if possible else math.inf

    @property
    def on(self) -> bool:
        """Whether statements are prepared now."""
        return self._clock() >= self._from

    def pause(self, error: SQLAlchemyError) -> None:
        """Prepare nothing for a minute after this error."""
        if self.on:
            reason = str(getattr(error, "orig", error)).strip()
            _log.warning("prepared_statements_paused", seconds=_PAUSE_SECONDS, reason=reason)
        self._from = self._clock() + _PAUSE_SECONDS


class Prepared(NamedTuple):
    """A statement's name, the text that prepares it, and the one that runs it with the driver's parameters."""

    name: str
    prepare: str
    run: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The prepared form of a statement's text with parameters as %s."""
        count = text.count("%s")
        indexes = iter(range(1, count + 1))
        numbered = _PLACEHOLDER.sub(lambda match: f"${next(indexes)}" if match[1] == "s" else "%", text)
        return cls._of_text(text, numbered, ["%s"] * count)

    @classmethod
    def of_named(cls, text: str) -> Self:
        """The prepared form of a statement's text with parameters as %(name)s, each of which may occur repeatedly."""
        parameters = list(dict.fromkeys(_NAMED_PLACEHOLDER.findall(text)))
        placeholders = {parameter: f"${index}" for index, parameter in enumerate(parameters, 1)}
        numbered = _NAMED_PLACEHOLDER.sub(lambda match: placeholders[match[1]], text).replace("%%", "%")
        return cls._of_text(text, numbered, [f"%({parameter})s" for parameter in parameters])

    @classmethod
    def _of_text(cls, text: str, numbered: str, parameters: Sequence[str]) -> Self:
        name = name_of(text)
        arguments = f"({', '.join(parameters)})" if parameters else ""
        return cls(name, f"PREPARE {name} AS {numbered}", f"EXECUTE {name}{arguments}")

    def text(self, session: MutableMapping[Any, Any], unprepared: str) -> str:
        """The text that runs the statement in a session, and prepares it first if necessary.

        `session` is the `info` of its connection, `unprepared` the statement's own text. Send the result at once, with
        parameters.
        """
        prepared_names: set[str] = session.setdefault(_NAMES, set())
        if self.name in prepared_names:
            return self.run
        if len(prepared_names) >= _MOST_PREPARED:
            return unprepared
        prepared_names.add(self.name)
        return f"{self.prepare.replace('%', '%%')};\n{self.run}"


@lru_cache(maxsize=_MOST_QUERIES)
def prepared_query(text: str) -> Prepared:
    """The prepared form of a query's text with parameters as %(name)s; cached, since it takes long to make."""
    return Prepared.of_named(text)


def name_of(text: str) -> str:
    """A unique name for a statement, the same in every process: a pooler may share sessions between them."""
    return f"hmstats_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def deallocate_all(connection: Connection) -> None:
    """Deallocate a session's prepared statements after an error, since a noted one may not have been prepared."""
    if connection.invalidated or not connection.info.pop(_NAMES, None):
        return
    try:
        connection.rollback()
        connection.exec_driver_sql("DEALLOCATE ALL")
        connection.rollback()
    except SQLAlchemyError:
        connection.invalidate()


def is_unprepared(error: SQLAlchemyError) -> bool:
    """Whether a statement failed since its session has not prepared it, or before its tables changed."""
    return isinstance(error, DBAPIError) and code_of(error.orig) in {*OTHER_SESSION, _OUTDATED}


def code_of(error: Any) -> str | None:
    """The SQLSTATE of an error of PostgreSQL's driver; None if it has none."""
    code: str | None = getattr(error, "pgcode", None)
    return code
