"""HMSTATS_TABLE_VERSION: a number for each table, one higher after every write that touches it.

What was read of a table is still true as long as its number is the same, on any server.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit


def bump(unit: Unit, table_id: int) -> None:
    """Count one write that touched the table."""
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(VERSIONS).values(TBL_ID=table_id, VERSION=1)
    counted = {"VERSION": VERSIONS.c.VERSION + 1}
    unit.connection.execute(statement.on_conflict_do_update(index_elements=["TBL_ID"], set_=counted))


def read(connection: Connection, table_id: int) -> int:
    """The table's number; 0 before its first write."""
    query = select(VERSIONS.c.VERSION).where(VERSIONS.c.TBL_ID == table_id)
    return connection.execute(query).scalar_one_or_none() or 0


def forget(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove dropped tables' numbers."""
    unit.connection.execute(delete(VERSIONS).where(one_of(unit.connection, VERSIONS.c.TBL_ID, table_ids)))
