"""HMSTATS_HEALTH_PROGRESS: how far the notification log has been followed, and which tables changed since.

Ids of events are in the order of commits, so nothing that was committed is passed over. If events are missing, since
they were removed or the log was off, all tables are walked through in the order of their ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, func, insert, or_, select, update

from hmstats.model.catalog.objects import VIRTUAL_VIEW
from hmstats.store.changes import notifications
from hmstats.store.changes.touched_partitions import names_after
from hmstats.store.schema import DBS, TBLS
from hmstats.store.schema import HMSTATS_HEALTH as HEALTH
from hmstats.store.schema import HMSTATS_HEALTH_PROGRESS as PROGRESS
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.schema import NOTIFICATION_LOG as LOG
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.unit.unit import Unit

_ROW = 1
"""The id of the only row."""
_P = PROGRESS.c
_LOCK = f'''
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    LOCK TABLE "{PROGRESS.name}" IN EXCLUSIVE MODE
'''
"""Readers of the table do not wait; a server of the version before, which locks its row, does."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The last event that health reflects. `walked_to` is the last table of a walk; None if there is no walk."""

    event_id: int
    walked_to: int | None

    def reaches(self, event_id: int) -> bool:
        """Whether health reflects this event and all before it."""
        return self.walked_to is None and event_id <= self.event_id


def lock(unit: Unit) -> None:
    """Let no other unit judge until this one ends, whose reads all see one snapshot. It must have read nothing before.

    The snapshot begins when the lock is held. SQLite has one writer alone, who sees no others' writes.
    """
    if unit.connection.dialect.name == "postgresql":
        unit.connection.exec_driver_sql(_LOCK)


def lock_progress(unit: Unit) -> Progress:
    """Lock, as `lock` does, and return the progress. The first time, a walk begins."""
    lock(unit)
    query = select(_P.EVENT_ID, _P.WALKED_TO).where(_P.ID == _ROW)
    row = unit.connection.execute(query).one_or_none()
    if row is None:
        first = Progress(notifications.current_id(unit.connection), 0)
        unit.connection.execute(insert(PROGRESS).values(ID=_ROW, EVENT_ID=first.event_id, WALKED_TO=0))
        return first
    return Progress(*row)


def last_to_follow(connection: Connection) -> int | None:
    """The last event of the log; None if health reflects it."""
    row = connection.execute(select(_P.EVENT_ID, _P.WALKED_TO).where(_P.ID == _ROW)).one_or_none()
    last = notifications.current_id(connection)
    return None if row is not None and row.WALKED_TO is None and row.EVENT_ID == last else last


def advance(unit: Unit, progress: Progress) -> Progress:
    """Store the progress, and return it."""
    to = update(PROGRESS).where(_P.ID == _ROW)
    unit.connection.execute(to.values(EVENT_ID=progress.event_id, WALKED_TO=progress.walked_to))
    return progress


@dataclass(frozen=True, slots=True)
class Changed:
    """The last of some events, and the ids of the tables that they name; `complete` if no event is missing."""

    event_id: int
    table_ids: Sequence[int]
    complete: bool


def after(connection: Connection, event_id: int, most: int) -> Changed:
    """The tables that changed after an event, by at most so many events."""
    query = (
        select(LOG.c.EVENT_ID, TBLS.c.TBL_ID)
        .select_from(
            LOG.outerjoin(DBS, and_(DBS.c.NAME == LOG.c.DB_NAME, DBS.c.CTLG_NAME == LOG.c.CAT_NAME)).outerjoin(
                TBLS, and_(TBLS.c.DB_ID == DBS.c.DB_ID, TBLS.c.TBL_NAME == LOG.c.TBL_NAME)
            )
        )
        .where(LOG.c.EVENT_ID > event_id)
        .order_by(LOG.c.EVENT_ID)
        .limit(most)
    )
    rows = connection.execute(query).all()
    last = rows[-1].EVENT_ID if rows else event_id
    current = notifications.current_id(connection)
    complete = len(rows) == last - event_id and current >= last and bool(rows or current == event_id)
    return Changed(last if complete else current, sorted({each.TBL_ID for each in rows} - {None}), complete)


def walk(connection: Connection, after_id: int, most: int) -> list[int]:
    """The ids of the next tables of a walk."""
    query = select(TBLS.c.TBL_ID).where(after_id < TBLS.c.TBL_ID).order_by(TBLS.c.TBL_ID).limit(most)
    return list(connection.execute(query).scalars())


def other_versions(connection: Connection, after_id: int, most: int) -> list[int]:
    """The ids of the next tables that were not judged at their current version."""
    at = and_(HEALTH.c.TBL_ID == TBLS.c.TBL_ID, HEALTH.c.PART_ID == OF_TABLE)
    now = func.coalesce(VERSIONS.c.VERSION, 0)
    query = (
        select(TBLS.c.TBL_ID)
        .select_from(TBLS.outerjoin(VERSIONS, VERSIONS.c.TBL_ID == TBLS.c.TBL_ID).outerjoin(HEALTH, at))
        .where(after_id < TBLS.c.TBL_ID, TBLS.c.TBL_TYPE != VIRTUAL_VIEW)
        .where(or_(HEALTH.c.VERSION.is_(None), now != HEALTH.c.VERSION))
    )
    return list(connection.execute(query.order_by(TBLS.c.TBL_ID).limit(most)).scalars())


def touched(connection: Connection, versions: Mapping[int, tuple[int, int]]) -> dict[int, frozenset[str] | None]:
    """The partitions that each table's writes between two of its versions touched; None if perhaps all of it."""
    rows = names_after(connection, [*versions])
    found: dict[int, frozenset[str] | None] = {}
    for table_id, (old, new) in versions.items():
        named = [rows.get((table_id, each)) for each in range(old + 1, new + 1)]
        known = [each for each in named if each is not None]
        found[table_id] = frozenset().union(*known) if named and len(known) == len(named) else None
    return found
