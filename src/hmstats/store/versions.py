"""HMSTATS_TABLE_VERSION: a number for each table, one higher after every write that touches it.

What was read of a table is still true as long as its number is the same, on any server. A table has a number from its
first day to its last, and ids are never given twice, so a table that is made again is another. Whoever reads a table by
name notes its number (`note`) in the transaction in which the rest is read, for those who listen (`noting`). Who reads
nothing of its partitions but some says so: what happens to others (changes.py) leaves that as it is.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, select
from sqlalchemy.exc import SQLAlchemyError

from hmstats.store import changes
from hmstats.store.batch import Batch
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit
from hmstats.store.upserts import upsert

_CURRENT = 'SELECT "TBL_ID", "VERSION" FROM "HMSTATS_TABLE_VERSION" WHERE "TBL_ID" '
CURRENT_OF_ARRAY = _CURRENT + "= ANY(%s)"
"""PostgreSQL's statement that reads the numbers of an array of tables."""
_CURRENT_OF_JSON = _CURRENT + "IN (SELECT value FROM json_each(?))"


class Noted(NamedTuple):
    """A table's number and, by name, the partitions of which something was read; None is any."""

    version: int
    partitions: frozenset[str] | None


_noted: ContextVar[dict[int, Noted] | None] = ContextVar("noted_versions", default=None)


def bump(unit: Unit, table_id: int, partitions: Collection[str] | None = None) -> None:
    """Count one write that touched the table: with `partitions` nothing of it but these, by their names (changes.py).

    A partition that got another name, or was not there before, is named too.
    """
    bump_all(unit, [table_id])
    if partitions is not None:
        changes.append(unit, table_id, partitions)


def bump_all(unit: Unit, table_ids: Sequence[int]) -> None:
    """Count one write that touched each of these tables, as a new name of their database does."""
    unit.counted.update(table_ids)
    rows = [{"TBL_ID": table_id, "VERSION": 1} for table_id in sorted(table_ids)]
    upsert(unit, VERSIONS, ["TBL_ID"], rows, _counted)


def _counted(old: Any, _new: Any) -> dict[str, ColumnElement[Any]]:
    return {"VERSION": old.VERSION + 1}


def read(connection: Connection, table_id: int) -> int:
    """The table's number; 0 before its first write."""
    query = select(VERSIONS.c.VERSION).where(VERSIONS.c.TBL_ID == table_id)
    return connection.execute(query).scalar_one_or_none() or 0


def read_many(connection: Connection, table_ids: Sequence[int]) -> dict[int, int]:
    """The numbers of those tables that have one."""
    query = select(VERSIONS.c.TBL_ID, VERSIONS.c.VERSION).where(one_of(connection, VERSIONS.c.TBL_ID, table_ids))
    return dict(connection.execute(query).all())


def begin(batch: Batch, table_id: int) -> None:
    """Count the write that makes the table."""
    batch.unit.counted.add(table_id)
    batch.insert(VERSIONS, {"TBL_ID": [table_id], "VERSION": [1]})


def forget(batch: Batch, table_ids: Sequence[int]) -> None:
    """Remove dropped tables' numbers and changes."""
    batch.unit.counted.update(table_ids)
    batch.delete(VERSIONS.c.TBL_ID, table_ids)
    changes.forget(batch, table_ids)


@contextmanager
def noting() -> Iterator[dict[int, Noted]]:
    """The numbers, by table id, of the tables that are read by name inside: of two for one table the first.

    Numbers only grow, so the first is the number of all that was read only as long as it still is the table's.
    """
    noted: dict[int, Noted] = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def note(table_id: int, version: int | None, partitions: Collection[str] | None = None) -> None:
    """Say that a table was found whose number is this; None when it has none.

    `partitions`: of its partitions nothing was read but of these, by the names that they are stored under.
    """
    noted = _noted.get()
    if noted is None:
        return
    known = noted.get(table_id, Noted(version or 0, frozenset()))
    if partitions is None or known.partitions is None:
        noted[table_id] = Noted(known.version, None)
    else:
        noted[table_id] = Noted(known.version, known.partitions.union(partitions))


def current(engine: Engine, table_ids: Collection[int]) -> dict[int, int]:
    """The numbers of those tables that have one: one round trip to the database, since `engine` begins no transaction.

    A database that does not answer tells none; the read that follows says what is wrong with it.
    """
    refused = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
    try:
        lent = engine.raw_connection()  # a statement through SQLAlchemy takes twice as long
    except refused:
        return {}
    try:
        ids = [*table_ids]
        cursor = lent.cursor()
        if engine.dialect.name == "sqlite":
            cursor.execute(_CURRENT_OF_JSON, (json.dumps(ids),))
        else:
            cursor.execute(CURRENT_OF_ARRAY, (ids,))
        return dict(cursor.fetchall())
    except refused as error:
        lent.invalidate(error)
        return {}
    finally:
        lent.close()
