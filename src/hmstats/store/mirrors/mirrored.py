"""HMSTATS_MIRROR: the tables that mirror those of another metastore, and what it has of their statistics.

A mirror has the rows of any table. Its statistics are sent on when its version is above SENT_VERSION; whoever sends
them claims the mirror by a number in CLAIMED_UNTIL, and changes that as long as the claim is to hold.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select, update

from hmstats.model.catalog.objects import TableName
from hmstats.store.schema import DBS, HMSTATS_MIRROR, TBLS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements import queued
from hmstats.store.unit.unit import Unit

_M = HMSTATS_MIRROR.c
_VERSIONED = HMSTATS_MIRROR.join(VERSIONS, VERSIONS.c.TBL_ID == _M.TBL_ID)
_NAMED = TBLS.join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
_NEVER = 0
_CLAIM_SECONDS = 600
"""Above the epoch's seconds, a claim's first number: servers older than the renewal of claims take it for the claim's
end.
"""


class Mirror(NamedTuple):
    """A mirror, with the version of its statistics."""

    table_id: int
    name: TableName
    version: int


def add(unit: Unit, table_id: int, upstream_id: int | None) -> None:
    """Note that a new table is a mirror; `upstream_id` is its id in the other metastore, None if that has no ids."""
    columns: dict[str, list[int | None]] = {
        "TBL_ID": [table_id],
        "UPSTREAM_ID": [upstream_id],
        "SENT_VERSION": [1],
        "CLAIMED_UNTIL": [_NEVER],
    }
    queued.insert(unit, HMSTATS_MIRROR, columns)


def upstream_id(connection: Connection, table_id: int) -> int | None:
    """The id of a mirrored table in the other metastore; None if it is unknown."""
    return connection.execute(select(_M.UPSTREAM_ID).where(_M.TBL_ID == table_id)).scalar_one_or_none()


def of_upstream_id(connection: Connection, upstream_id: int) -> int | None:
    """The mirror of the table with this id in the other metastore; None if there is none."""
    query = select(_M.TBL_ID).where(_M.UPSTREAM_ID == upstream_id).order_by(_M.TBL_ID).limit(1)
    return connection.execute(query).scalar_one_or_none()


def remove(unit: Unit, table_ids: Sequence[int]) -> None:
    """Forget that tables are mirrors."""
    queued.delete(unit, _M.TBL_ID, table_ids)


def name_of_one(connection: Connection, *, mirrors: bool) -> TableName | None:
    """The name of a table that is a mirror, or of one that is none; None if there is no such table."""
    have = select(_M.TBL_ID)
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED)
    query = query.where(TBLS.c.TBL_ID.in_(have) if mirrors else TBLS.c.TBL_ID.not_in(have)).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else TableName(*row)


def names(connection: Connection) -> list[TableName]:
    """The names of all tables that have mirrors."""
    query = select(DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME).select_from(_NAMED)
    found = connection.execute(query.where(TBLS.c.TBL_ID.in_(select(_M.TBL_ID))).order_by(TBLS.c.TBL_ID))
    return [TableName(*row) for row in found]


def unsent(connection: Connection, limit: int, after: int = 0) -> list[Mirror]:
    """Mirrors to be sent with ids above `after`, by id, at most `limit`."""
    query = (
        select(_M.TBL_ID, DBS.c.CTLG_NAME, DBS.c.NAME, TBLS.c.TBL_NAME, VERSIONS.c.VERSION)
        .select_from(_VERSIONED.join(TBLS, TBLS.c.TBL_ID == _M.TBL_ID).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID))
        .where(VERSIONS.c.VERSION > _M.SENT_VERSION, _M.TBL_ID > after)
        .order_by(_M.TBL_ID)
        .limit(limit)
    )
    return [Mirror(row[0], TableName(*row[1:4]), row[4]) for row in connection.execute(query)]


def is_unsent(connection: Connection, table_id: int) -> bool:
    """Whether a mirror is to be sent."""
    query = select(_M.TBL_ID).select_from(_VERSIONED)
    query = query.where(_M.TBL_ID == table_id, VERSIONS.c.VERSION > _M.SENT_VERSION)
    return connection.execute(query).one_or_none() is not None


def count_unsent(connection: Connection) -> int:
    """The number of mirrors to be sent, claimed ones included."""
    query = select(func.count()).select_from(_VERSIONED).where(VERSIONS.c.VERSION > _M.SENT_VERSION)
    return connection.execute(query).scalar_one()


def claim(unit: Unit, table_id: int, replaced: int | None) -> int | None:
    """Claim a mirror. Returns the claim's number; None if another has claimed it, whose number is not `replaced`."""
    number = max(unit.now_seconds + _CLAIM_SECONDS, (replaced or _NEVER) + 1)
    free = _M.CLAIMED_UNTIL == _NEVER
    if replaced is not None:
        free |= _M.CLAIMED_UNTIL == replaced
    taken = update(HMSTATS_MIRROR).where(_M.TBL_ID == table_id, free).values(CLAIMED_UNTIL=number)
    return number if unit.connection.execute(taken).rowcount == 1 else None


def beat(unit: Unit, table_id: int, number: int) -> int | None:
    """Give a claim its next number, which is returned; None if the claim has been replaced."""
    next_number = max(unit.now_seconds + _CLAIM_SECONDS, number + 1)
    held = update(HMSTATS_MIRROR).where(_M.TBL_ID == table_id, _M.CLAIMED_UNTIL == number)
    return next_number if unit.connection.execute(held.values(CLAIMED_UNTIL=next_number)).rowcount == 1 else None


def claim_number(connection: Connection, table_id: int) -> int | None:
    """The number of the claim on a mirror; None if there is none."""
    query = select(_M.CLAIMED_UNTIL).where(_M.TBL_ID == table_id, _M.CLAIMED_UNTIL != _NEVER)
    return connection.execute(query).scalar_one_or_none()


def release(unit: Unit, table_id: int, number: int, version: int | None) -> None:
    """End a claim, unless it has been replaced; with a version, note that the other metastore has its statistics."""
    values = {"CLAIMED_UNTIL": _NEVER, **({} if version is None else {"SENT_VERSION": version})}
    held = update(HMSTATS_MIRROR).where(_M.TBL_ID == table_id, _M.CLAIMED_UNTIL == number)
    unit.connection.execute(held.values(**values))
