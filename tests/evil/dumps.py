"""All that a database holds, to compare before and after, and to put back."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import JSON, Column, Engine, delete, insert

from hmstats.store.schema import METADATA

_NOT_BY_CALLS = {"SEQUENCE_TABLE", "HMSTATS_HEALTH", "HMSTATS_HEALTH_PROGRESS"}
"""A call that is refused may have taken ids; a thread of the server writes health, whoever calls meanwhile."""
_TABLES = [table for name, table in sorted(METADATA.tables.items()) if name not in _NOT_BY_CALLS]

Dump = Mapping[str, list[tuple[Any, ...]]]


def dump(engine: Engine) -> Dump:
    """The rows of each table that has any."""
    lent = engine.raw_connection()  # half the time of statements through SQLAlchemy
    try:
        cursor = lent.cursor()
        return {table.name: rows for table in _TABLES if (rows := _rows(cursor, table.name))}
    finally:
        lent.close()


def restore(engine: Engine, old: Dump) -> None:
    """Make the tables hold what they held."""
    now = dump(engine)
    changed = [table for table in _TABLES if now.get(table.name) != old.get(table.name)]
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET CONSTRAINTS ALL DEFERRED")
        for table in reversed(changed):
            connection.execute(delete(table))
        for table in changed:
            rows = [dict(zip(table.c.keys(), row, strict=True)) for row in old.get(table.name, ())]
            if rows:
                connection.execute(insert(table), rows)


def _rows(cursor: Any, table: str) -> list[tuple[Any, ...]]:
    columns = METADATA.tables[table].c.values()
    names = ", ".join(f'"{column.name}"' for column in columns)
    cursor.execute(f'SELECT {names} FROM "{table}"')
    rows = [tuple(_value(column, each) for column, each in zip(columns, row, strict=True)) for row in cursor]
    return sorted(rows, key=repr)


def _value(column: Column[Any], value: Any) -> Any:
    if isinstance(value, str) and isinstance(column.type, JSON):
        return json.loads(value)
    return bytes(value) if isinstance(value, memoryview) else value
