"""Rows with large binary values, in PostgreSQL's binary form instead of the driver's text.

As a text a byte takes two digits, which both sides make and read: vectors of 2.5 kB came at 53 µs each, and come at 17.
Format: section "Binary Format" of COPY in the manual of PostgreSQL.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from psycopg2 import Error
from sqlalchemy import BigInteger, Connection, Dialect, LargeBinary, Select
from sqlalchemy.exc import DBAPIError

from hmstats.store.connections.bound_values import check

_SIGNATURE = b"PGCOPY\n\xff\r\n\x00"
_HEADER_BYTES = len(_SIGNATURE) + 8
_NULL = 0xFFFFFFFF
_Reader = Callable[[bytes], Any]


def rows(connection: Connection, statement: Select[Any], values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """All rows of a query for numbers of 64 bits, texts and bytes. Raises SQLAlchemy's errors, as `execute` does.

    On PostgreSQL they are copied, on SQLite fetched.
    """
    if connection.dialect.name == "sqlite":
        return [tuple(row) for row in connection.execute(statement, values)]
    readers = [_reader(each.type) for each in statement.selected_columns]
    return _parse_rows(_copied(connection, statement, values), readers)


def _copied(connection: Connection, statement: Select[Any], values: Mapping[str, Any]) -> bytes:
    compiled = _compiled(statement, connection.dialect)
    parameters = compiled.construct_params(values)
    check(parameters.values())
    driver: Any = connection.connection.dbapi_connection
    output = io.BytesIO()
    text = f"COPY ({compiled}) TO STDOUT WITH (FORMAT binary)"
    try:
        with driver.cursor() as cursor:
            cursor.copy_expert(cursor.mogrify(text, parameters), output)
    except Error as error:
        lost = bool(driver.closed)
        if lost:
            connection.invalidate(error)
        raise DBAPIError.instance(text, parameters, error, Error, connection_invalidated=lost) from error
    return output.getvalue()


@lru_cache(maxsize=100)
def _compiled(statement: Select[Any], dialect: Dialect) -> Any:
    """The statement's text; cached, since callers cache statements, and come with each batch of rows."""
    return statement.compile(dialect=dialect)


def _parse_rows(data: bytes, readers: Sequence[_Reader]) -> list[tuple[Any, ...]]:
    rows, offset = [], _HEADER_BYTES
    while data[offset] == 0:  # the number of columns, 2 bytes; -1 at the end
        offset += 2
        row: list[Any] = []
        for read in readers:
            size = int.from_bytes(data[offset : offset + 4], "big")
            offset += 4
            if size == _NULL:
                row.append(None)
                continue
            row.append(read(data[offset : offset + size]))
            offset += size
        rows.append(tuple(row))
    return rows


def _reader(kind: Any) -> _Reader:
    if isinstance(kind, LargeBinary):
        return bytes
    if isinstance(kind, BigInteger):
        return _int64
    return bytes.decode


def _int64(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)
