"""Sets of values in a query, of any size, as one bound parameter: an array on PostgreSQL, a JSON list on SQLite."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Connection, String, Text, any_, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY


def one_of(connection: Connection, column: ColumnElement[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """The condition that the column is one of the values."""
    if connection.dialect.name == "sqlite":
        listed = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(listed.c.value))
    return column == any_(array_of(column, values))


def array_of(column: ColumnElement[Any], values: Sequence[Any]) -> BindParameter[Any]:
    """Values of a column as one array of PostgreSQL."""
    # The driver writes the array with a cast, and a cast to varchar(n) would cut longer texts without a word.
    kind = Text() if isinstance(column.type, String) else column.type
    return bindparam(None, list(values), ARRAY(kind))
