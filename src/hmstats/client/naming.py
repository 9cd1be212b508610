"""Parses table names as users type them."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from hmstats.errors import StatementError
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DEFAULT_DATABASE, DatabaseName, TableName

_PART = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>[^`.\s]+))\s*(?:\.|$)")
_ALL_TABLES = "*"
_SESSION_CATALOG = "spark_catalog"
"""Spark's name of its catalog for the metastore."""

AnyTable: TypeAlias = TableName | str
"""A table as callers name it: a TableName, or the text `[CATALOG.]DB.TABLE`."""


def named_table(text: str, database: str = DEFAULT_DATABASE) -> TableName:
    """The table `[[CATALOG.]DB.]TABLE`, backquoted or not; `database` is what a bare name means.

    Raises StatementError.
    """
    parts: list[str] = []
    place = 0
    while place < len(text) and (part := _PART.match(text, place)):
        parts.append(part["plain"] or part["quoted"].replace("``", "`"))
        place = part.end()
    if not 1 <= len(parts) <= 3 or place < len(text) or text.endswith("."):
        raise StatementError(f"a table must be named as DB.TABLE, found {text!r}")
    return table_of(parts, database)


def named_object(text: str) -> tuple[DatabaseName, str | None]:
    """The database `DB`, or the database and the table of `[CATALOG.]DB.TABLE`. Raises StatementError."""
    if _PART.fullmatch(text) and not text.endswith("."):
        name = named_table(text)
        return DatabaseName(name.catalog, name.table), None
    table = named_table(text)
    return table.parent, table.table


def named_scope(text: str) -> tuple[DatabaseName, str | None]:
    """The database `DB` or `[CATALOG.]DB.*`, or the database and the table of `[CATALOG.]DB.TABLE`.

    Raises StatementError.
    """
    of, table = named_object(text)
    return of, None if table == _ALL_TABLES else table


def named_pattern(text: str) -> TableName:
    """The tables `[CATALOG.]DB.TABLE`, where `*` may stand for characters of a name. Raises StatementError."""
    try:
        of, table = named_object(text)
    except StatementError:
        table = None
    if table is None:
        raise StatementError(f"tables must be named as DB.TABLE or DB.*, found {text!r}")
    return TableName(of.catalog, of.database, table)


def as_table_name(table: AnyTable) -> TableName:
    """The table itself, or the one that a text names as `[CATALOG.]DB.TABLE`. Raises StatementError."""
    return named_table(table) if isinstance(table, str) else table


def table_of(names: Sequence[str], database: str = DEFAULT_DATABASE) -> TableName:
    """The table of one to three names, from the outside in; `database` is what a bare name means."""
    *outer, table = names
    catalog = outer[0] if len(outer) == 2 else DEFAULT_CATALOG
    own = DEFAULT_CATALOG if catalog.lower() == _SESSION_CATALOG else catalog
    return table_name(outer[-1] if outer else database, table, own)
