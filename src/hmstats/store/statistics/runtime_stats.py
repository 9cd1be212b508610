"""RUNTIME_STATS: what Hive's queries have counted, as Hive sends it."""

from typing import Any

from sqlalchemy import Connection, delete, select

from hmstats.model.statistics.runtime_stats import RuntimeStat
from hmstats.store.schema import RUNTIME_STATS
from hmstats.store.statements import queued
from hmstats.store.unit.ids import Sequence
from hmstats.store.unit.unit import Unit

_R = RUNTIME_STATS.c


def add(unit: Unit, stat: RuntimeStat) -> None:
    """Insert what a query has counted."""
    row: dict[str, list[Any]] = {
        "RS_ID": [unit.ids(Sequence.RUNTIME_STAT, 1)[0]],
        "CREATE_TIME": [stat.created_seconds],
        "WEIGHT": [stat.weight],
        "PAYLOAD": [stat.payload],
    }
    queued.insert(unit, RUNTIME_STATS, row)


def newest(connection: Connection, until_seconds: int, weight: int) -> list[RuntimeStat]:
    """The newest before a time, newest first, until their weights together reach `weight`."""
    query = select(_R.CREATE_TIME, _R.WEIGHT, _R.PAYLOAD).where(until_seconds > _R.CREATE_TIME)
    stats: list[RuntimeStat] = []
    total = 0
    rows = connection.execute(query.order_by(_R.CREATE_TIME.desc(), _R.RS_ID.desc()).execution_options(yield_per=100))
    for created, each, payload in rows:
        stats.append(RuntimeStat(created, each, bytes(payload or b"")))
        total += each
        if total >= weight:
            break
    rows.close()
    return stats


def remove_older(unit: Unit, before_seconds: int) -> int:
    """Remove counts from before a time. Returns the number of rows removed."""
    if unit.shape.lacks(RUNTIME_STATS):
        return 0
    return unit.connection.execute(delete(RUNTIME_STATS).where(before_seconds > _R.CREATE_TIME)).rowcount
