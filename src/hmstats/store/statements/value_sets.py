"""Sets of values in a query, of any size, as one bound parameter: an array on PostgreSQL, a JSON list on SQLite."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    Text,
    any_,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import TypeEngine

from hmstats.store.connections.bound_values import check

_NUMBERS = frozenset({int, float, bool, type(None)})
_TEXTS = frozenset({str, bytes, type(None)})
_MOST_KEPT, _MOST_CHARACTERS = 200, 10_000
"""Limits of cached arrays: number of texts, and their characters together; 200 arrays take some MB."""


def one_of(connection: Connection, column: ColumnElement[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """The condition that the column is one of the values."""
    check(values)
    if connection.dialect.name == "sqlite":
        listed = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(listed.c.value))
    return column == any_(array_of(column, values))


def one_of_bound(dialect_name: str, column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The condition that the column is one of the values of a parameter, encoded by `bound`; for a cached statement.

    PostgreSQL does not see the values when it plans, and finds rows by key: comparing 1,000 names with its statistics
    takes 3 ms, after which it may scan whole tables instead.
    """
    sent = bindparam(name, type_=Text())
    if dialect_name == "sqlite":
        return column.in_(select(func.json_each(sent).table_valued("value", name=f"{name}_set").c.value))
    array = ARRAY(plain_type(column))
    return column == any_(cast(select(cast(sent, array)).scalar_subquery(), array))


def bound(connection: Connection, values: Sequence[Any]) -> str:
    """Encode values as the parameter of `one_of_bound`. Raises MetaError for an invalid value."""
    check(values)
    return json.dumps(list(values)) if connection.dialect.name == "sqlite" else array_text(values)


def hashed_only(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A redundant key for a GROUP BY of a column, without an order, so that PostgreSQL hashes the rows.

    If it underestimates their number, it would sort them, which takes as long as all the rest.
    """
    return case((column.is_(None), literal_column("'1'::xid")), else_=literal_column("'0'::xid"))


def array_of(column: ColumnElement[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    """Values of a column as an array of PostgreSQL.

    They are sent as one text: from a list the driver would make an expression with an operand for each value, which
    takes both sides four times as long.
    """
    return cast(bindparam(None, array_text(values), Text()), ARRAY(plain_type(column)))


def plain_type(column: ColumnElement[Any]) -> TypeEngine[Any]:
    """The type to cast a column's values to: a cast to varchar(n) would silently cut longer texts."""
    return Text() if isinstance(column.type, String) else column.type


def array_text(values: Sequence[Any]) -> str:
    """The text of an array of values. Format: section "Array Input and Output Syntax" of PostgreSQL's manual."""
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        listed = str(list(values))[1:-1].replace("None", "NULL")
    elif kinds == {str} and len(values) <= _MOST_KEPT and sum(map(len, values)) <= _MOST_CHARACTERS:
        listed = _listed_texts(tuple(values))
    elif kinds == {str} and not _is_special(joined := '","'.join(values), len(values)):
        listed = f'"{joined}"'
    elif kinds <= _TEXTS:  # mostly the same few again and again
        elements = {value: _element(value) for value in set(values)}
        listed = ",".join([elements[value] for value in values])
    else:
        listed = ",".join(map(_element, values))
    return f"{{{listed}}}"


def _is_special(joined: str, count: int) -> bool:
    """Whether texts that were joined by '","' have a character of their own that must be escaped."""
    return "\\" in joined or joined.count('"') > 2 * (count - 1)


@lru_cache(maxsize=200)
def _listed_texts(texts: tuple[str, ...]) -> str:
    """The elements of a few texts; cached, since texts such as a table's columns come again with each write."""
    return ",".join(map(_element, texts))


def _element(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return "NULL" if value is None else str(value)
