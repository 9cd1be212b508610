"""Names in one order, wherever they are read: that of their bytes, which is how Hive and Java sort."""

from typing import Any

from sqlalchemy import ColumnElement, Connection


def by_bytes(connection: Connection, text: ColumnElement[Any]) -> ColumnElement[Any]:
    """A text to order by, or to compare, whatever language the database was made for. SQLite knows no other order."""
    return text.collate("C") if connection.dialect.name == "postgresql" else text
