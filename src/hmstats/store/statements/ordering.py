"""One order of names everywhere: by their bytes, as Hive and Java sort."""

from typing import Any

from sqlalchemy import ColumnElement, Connection


def by_bytes(connection: Connection, text: ColumnElement[Any]) -> ColumnElement[Any]:
    """The text to order by or compare, whatever the locale of the database; SQLite always sorts by bytes."""
    return by_bytes_of(connection.dialect.name, text)


def by_bytes_of(dialect_name: str, text: ColumnElement[Any]) -> ColumnElement[Any]:
    """The text to order by or compare, for the dialect of this name."""
    return text.collate("C") if dialect_name == "postgresql" else text
