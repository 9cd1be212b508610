"""Marks of events on partitions: PARTITION_EVENTS."""

from typing import Any

from sqlalchemy import Connection, exists, insert, select

from hmstats.model.catalog.objects import TableName
from hmstats.store.schema import PARTITION_EVENTS
from hmstats.store.unit.ids import Sequence
from hmstats.store.unit.unit import Unit


def is_marked(connection: Connection, name: TableName, partition: str, event: int) -> bool:
    """Whether a partition is marked with an event; `partition` is its values joined by commas, as in Hive."""
    p = PARTITION_EVENTS.c
    marked = exists().where(
        p.CAT_NAME == name.catalog,
        p.DB_NAME == name.database,
        p.TBL_NAME == name.table,
        p.PARTITION_NAME == partition,
        p.EVENT_TYPE == event,
    )
    return bool(connection.execute(select(marked)).scalar_one())


def insert_one(unit: Unit, name: TableName, partition: str, event: int) -> None:
    """Mark a partition with an event."""
    row: dict[str, Any] = {
        "PART_NAME_ID": unit.ids(Sequence.PARTITION_EVENT, 1)[0],
        "CAT_NAME": name.catalog,
        "DB_NAME": name.database,
        "TBL_NAME": name.table,
        "PARTITION_NAME": partition,
        "EVENT_TYPE": event,
        "EVENT_TIME": unit.now_seconds * 1000,
    }
    unit.connection.execute(insert(PARTITION_EVENTS), row)
