"""Predicts which writes of statistics a metastore would accept and drop, since a lock protects the stored ones."""

from collections.abc import Iterable, Sequence

from hmstats.client.metastore import Metastore
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.statistics_locks import StatisticsLock


def dropping_locks(service: Metastore, name: TableName) -> list[StatisticsLock]:
    """The locks of a table or of something of it that drop writes; none if the metastore is not hmstats."""
    try:
        listed = service.locks.listed(name.database, name.table, name.catalog)
    except CallRefused:
        return []
    return [each for each in listed if not each.refuse]


def dropping_lock(
    locks: Iterable[StatisticsLock], partition: str | None, columns: Sequence[str] | None
) -> StatisticsLock | None:
    """The lock that drops a write of a table's own statistics (None) or of a partition's; None if there is none.

    `columns` are those that are written (None: all).
    """
    for lock in locks:
        of = lock.object
        is_meant = of.partition is None or of.partition == partition
        if is_meant and (not of.columns or columns is None or not set(of.columns).isdisjoint(columns)):
            return lock
    return None


def dropped(lock: StatisticsLock) -> str:
    """The reason why a write is dropped, as a sentence."""
    return f"{lock.object} is locked, so that writes are dropped: hmstats unlock removes the lock"
