"""Names in one order, wherever they are read: that of their bytes, which is how Hive and Java sort."""

from typing import Any

from sqlalchemy import ColumnElement, Connection


def by_bytes(connection: Connection, text: ColumnElement[Any]) -> ColumnElement[Any]:
    """A text to order by, or to compare, whatever language the database was made for. SQLite knows no other order."""
    return by_bytes_of(connection.dialect.name, text)


def by_bytes_of(dialect_name: str, text: ColumnElement[Any]) -> ColumnElement[Any]:
    """The same by the name of the database's dialect."""
    return text.collate("C") if dialect_name == "postgresql" else text
