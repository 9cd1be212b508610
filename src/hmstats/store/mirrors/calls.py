"""HMSTATS_MIRROR_CALL: calls under way that change tables of the other metastore.

A row is written before the call is passed on, and removed with what the call does to the mirrors. If a server is killed
in between, the row stays and says whose mirrors may be wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, or_, select

from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.store.schema import HMSTATS_MIRROR_CALL as CALLS
from hmstats.store.unit.unit import Unit

_C = CALLS.c


class CallUnderWay(NamedTuple):
    """A call, and what it changes."""

    id: str
    subject: TableName | DatabaseName


def begin(unit: Unit, call_id: str, subjects: Sequence[TableName | DatabaseName]) -> None:
    """Note that a call begins to change these tables or databases."""
    rows = [
        {
            "ID": f"{call_id}{number}",
            "CAT_NAME": each.catalog,
            "DB_NAME": each.database,
            "TBL_NAME": each.table if isinstance(each, TableName) else None,
            "STARTED_AT": unit.now_seconds,
        }
        for number, each in enumerate(subjects)
    ]
    unit.connection.execute(insert(CALLS), rows)


def end(unit: Unit, call_id: str) -> None:
    """Note that a call has ended."""
    unit.connection.execute(delete(CALLS).where(_C.ID.startswith(call_id, autoescape=True)))


def is_changed(connection: Connection, name: TableName) -> bool:
    """Whether a call is under way that changes a table."""
    here = _C.CAT_NAME == name.catalog, _C.DB_NAME == name.database
    query = select(_C.ID).where(*here, or_(_C.TBL_NAME == name.table, _C.TBL_NAME.is_(None))).limit(1)
    return connection.execute(query).one_or_none() is not None


def listed(connection: Connection) -> list[CallUnderWay]:
    """All calls under way."""
    query = select(_C.ID, _C.CAT_NAME, _C.DB_NAME, _C.TBL_NAME)
    return [
        CallUnderWay(each, DatabaseName(catalog, database) if table is None else TableName(catalog, database, table))
        for each, catalog, database, table in connection.execute(query)
    ]
