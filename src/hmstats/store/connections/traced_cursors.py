"""Cursors of the drivers that make a span of each statement, for every way on which statements go to a database.

They are in use while traces are made only. A statement outside of any trace, as the check for changes of others, has no
span. The span has its text, with parameters in place of values; a text with values in it, as the driver makes for many
rows, is not.
"""

import re
import sqlite3
from contextlib import AbstractContextManager
from typing import Any, Self

from psycopg2.extensions import cursor

from hmstats import tracing

_MOST_TEXT = 2_000
_OPENING = re.compile(r"\s*(?:BEGIN;\s*)?(\w+)")


def sqlite_arguments() -> dict[str, Any]:
    """The arguments of a connection to SQLite whose statements have spans; none while no traces are made."""
    return {"factory": _SqliteConnection} if tracing.is_on() else {}


def postgres_arguments() -> dict[str, Any]:
    """The arguments of a connection to PostgreSQL whose statements have spans; none while no traces are made."""
    return {"cursor_factory": postgres_cursor()} if tracing.is_on() else {}


def postgres_cursor(kind: type[Any] = cursor) -> type[Any]:
    """The kind of cursor whose statements have spans; the given one while no traces are made."""
    return type(f"Traced{kind.__name__}", (_TracedCursor, kind), {}) if tracing.is_on() else kind


class _TracedCursor:
    """Goes before psycopg2's own cursor, or one made of it."""

    def execute(self, query: str | bytes, vars: Any = None) -> None:  # noqa: A002 - the driver's name
        """Run statements."""
        with _span("postgresql", query):
            super().execute(query, vars)  # type: ignore[misc]

    def copy_expert(self, sql: str, file: Any, size: int = 8192) -> None:
        """Copy rows."""
        with _span("postgresql", sql):
            super().copy_expert(sql, file, size)  # type: ignore[misc]


class _SqliteCursor(sqlite3.Cursor):
    """A cursor of sqlite3 that makes a span for each statement."""

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        """Run a statement."""
        with _span("sqlite", sql):
            return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Self:
        """Run a statement for each of many rows."""
        with _span("sqlite", sql):
            return super().executemany(sql, parameters)


class _SqliteConnection(sqlite3.Connection):
    """A connection of sqlite3 whose cursors make spans."""

    def cursor(self, factory: Any = _SqliteCursor) -> Any:
        """A cursor whose statements have spans."""
        return super().cursor(factory)


def _span(system: str, text: str | bytes) -> AbstractContextManager[Any]:
    is_text = isinstance(text, str)
    begun = text[:100] if isinstance(text, str) else text[:100].decode(errors="replace")
    found = _OPENING.match(begun)
    return tracing.inner_span(
        found[1].upper() if found else "SQL",
        "client",
        db__system__name=system,
        db__query__text=text[:_MOST_TEXT] if is_text else None,
    )
