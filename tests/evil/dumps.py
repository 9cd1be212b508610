"""All that a database holds, to compare before and after, and to put back."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, delete, insert

from hmstats.store.schema import METADATA

_TABLES = [table for name, table in sorted(METADATA.tables.items()) if name != "SEQUENCE_TABLE"]
"""A call that is refused may have taken ids."""

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
    names = ", ".join(f'"{name}"' for name in METADATA.tables[table].c.keys())  # noqa: SIM118 - its columns have a key
    cursor.execute(f'SELECT {names} FROM "{table}"')
    rows = [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in cursor]
    return sorted(rows, key=repr)
