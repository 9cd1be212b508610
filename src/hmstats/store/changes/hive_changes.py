"""The tables changed by the newest events of Hive's notification log, for caches beside a Hive.

An event names a table, and the query looks up its current id. If a table was renamed since, one of the events has its
new name. So the events together give every table that changed, unless a name belongs to no table, or a table was
dropped: another may have its name by now.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Engine, and_, bindparam, select
from sqlalchemy.exc import SQLAlchemyError

from hmstats.store.changes.touched_partitions import Changes
from hmstats.store.schema import DBS, TBLS
from hmstats.store.schema import NOTIFICATION_LOG as LOG
from hmstats.store.schema import NOTIFICATION_SEQUENCE as SEQUENCE

_TABLE_EVENTS = frozenset(
    {
        *("CREATE_TABLE", "ALTER_TABLE", "INSERT"),
        *("ADD_PARTITION", "ALTER_PARTITION", "DROP_PARTITION"),
        *("UPDATE_TBL_COL_STAT_EVENT", "UPDATE_PART_COL_STAT_EVENT"),
        *("DELETE_TBL_COL_STAT_EVENT", "DELETE_PART_COL_STAT_EVENT"),
    }
)
"""Types of events that change nothing but the table that they name; any other may change everything."""

_LAST = SEQUENCE.c.NEXT_EVENT_ID - 1
_SINCE = (
    select(_LAST, LOG.c.EVENT_ID, LOG.c.EVENT_TYPE, TBLS.c.TBL_ID)
    .select_from(
        SEQUENCE.outerjoin(LOG, and_(LOG.c.EVENT_ID > bindparam("event_id"), LOG.c.EVENT_ID <= _LAST))
        .outerjoin(DBS, and_(DBS.c.NAME == LOG.c.DB_NAME, DBS.c.CTLG_NAME == LOG.c.CAT_NAME))
        .outerjoin(TBLS, and_(TBLS.c.DB_ID == DBS.c.DB_ID, TBLS.c.TBL_NAME == LOG.c.TBL_NAME))
    )
    .order_by(LOG.c.EVENT_ID)
)


def since(engine: Engine, event_id: int) -> Changes | None:
    """The last event's id and, for each event after `event_id`, the ids (as texts) of tables that may have changed.

    If anything else may have changed, no event has an entry. None if the database does not answer.
    """
    try:
        with engine.connect() as connection:
            rows = connection.execute(_SINCE, {"event_id": event_id}).all()
    except SQLAlchemyError:
        return None
    if not rows:
        return None
    last = int(rows[0][0])
    table_ids = (
        _changed_tables(rows) if [row.EVENT_ID for row in rows] == [*range(event_id + 1, last + 1)] else frozenset()
    )
    return Changes(last, dict.fromkeys(range(event_id + 1, last + 1), table_ids) if table_ids else {})


def _changed_tables(rows: Sequence[Any]) -> frozenset[str]:
    """The ids of the tables of all events, as texts; empty if an event may have changed anything else."""
    if any(row.EVENT_TYPE not in _TABLE_EVENTS or row.TBL_ID is None for row in rows):
        return frozenset()
    return frozenset(str(row.TBL_ID) for row in rows)
