"""Tables and partitions by health, the worst first, a page at a time.

A page begins after a key of health and id, and is read from an index in its order: it costs the same at any place of
any number of tables.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, and_, or_, select, tuple_

from hmstats.model.health.health import Health
from hmstats.store.health.health_rows import COLUMNS, parse_row
from hmstats.store.schema import DBS, PARTITIONS, TBLS
from hmstats.store.schema import HMSTATS_HEALTH as HEALTH
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics.details import OF_TABLE

_H = HEALTH.c


class Key(NamedTuple):
    """The beginning of a page: after this health and id of a table, or of a partition."""

    health: int
    id: int


class Listed(NamedTuple):
    """An entry of a list: `names` are the database and the table, or the partition alone."""

    key: Key
    names: Sequence[str]
    health: Health


def tables(
    connection: Connection,
    catalog: str,
    databases: Sequence[str] | None,
    names: Sequence[str] | None,
    below: int,
    after: Key | None,
    most: int,
) -> list[Listed]:
    """Tables with these names (None: all) of databases (None: all) of a catalog, with a health below that."""
    query = (
        select(_H.TBL_ID, DBS.c.NAME, TBLS.c.TBL_NAME, *COLUMNS)
        .select_from(HEALTH.join(TBLS, TBLS.c.TBL_ID == _H.TBL_ID).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID))
        .where(below > _H.HEALTH, DBS.c.CTLG_NAME == catalog)
    )
    if names is None:
        query = query.where(_H.PART_ID == OF_TABLE)
    if databases is not None:
        query = query.where(one_of(connection, DBS.c.NAME, databases))
    if names is not None:
        named = select(TBLS.c.TBL_ID).where(one_of(connection, TBLS.c.TBL_NAME, names))
        # By the ids of few tables: the sum keeps SQLite from reading the health of all tables in its order instead.
        query = query.where(_H.TBL_ID.in_(named), _H.PART_ID + 0 == OF_TABLE)
    if after is not None:
        query = query.where(tuple_(_H.HEALTH, _H.TBL_ID) > tuple_(*after))
    rows = connection.execute(query.order_by(_H.HEALTH, _H.TBL_ID).limit(most))
    return [Listed(Key(row[3], row[0]), row[1:3], parse_row(row[3:])) for row in rows]


def partitions(connection: Connection, table_id: int, below: int, after: Key | None, most: int) -> list[Listed]:
    """Partitions of a table with a health below that."""
    query = (
        select(_H.PART_ID, PARTITIONS.c.PART_NAME, *COLUMNS)
        .select_from(
            HEALTH.join(PARTITIONS, and_(PARTITIONS.c.PART_ID == _H.PART_ID, PARTITIONS.c.TBL_ID == _H.TBL_ID))
        )
        .where(_H.TBL_ID == table_id, _H.PART_ID != OF_TABLE, below > _H.HEALTH)
    )
    if after is not None:
        later = and_(_H.HEALTH == after.health, after.id < _H.PART_ID)
        query = query.where(or_(after.health < _H.HEALTH, later))
    rows = connection.execute(query.order_by(_H.HEALTH, _H.PART_ID).limit(most))
    return [Listed(Key(row[2], row[0]), [row[1]], parse_row(row[2:])) for row in rows]
