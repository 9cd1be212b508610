"""Locks on a table's statistics, and how they are made and removed."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hmstats.client import Metastore
from hmstats.errors import StatementError, UnknownCall
from hmstats.model.catalog.objects import DEFAULT_CATALOG, Table
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock
from hmstats.web.answers.locks import AllLocks, Lock, Locks
from hmstats.web.reading.existing import existing_column, existing_table, shown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWish:
    """What is to be locked: all of a table, or a partition, or columns. `refuse` absent: as the metastore is set."""

    partition: str | None = None
    columns: tuple[str, ...] = ()
    refuse: bool | None = None
    reason: str | None = None


def every_lock(service: Metastore) -> AllLocks:
    """The locks of everything that the caller may list. Raises UnknownCall when the metastore is not hmstats."""
    listed = [each for catalog in service.catalog_names() for each in service.locks.listed(catalog=catalog)]
    return AllLocks(locks=tuple(_lock(each) for each in sorted(listed, key=_place)))


def _place(lock: StatisticsLock) -> tuple[str, ...]:
    of, name = lock.object, lock.object.database
    catalog = "" if name.catalog == DEFAULT_CATALOG else name.catalog
    return catalog, name.database, of.table or "", of.partition or ""


def table_locks(service: Metastore, text: str) -> Locks:
    """The locks that cover the table named as `[CATALOG.]DB.TABLE`. Raises NoSuchObject when it is not there."""
    return locks_of(service, existing_table(service, text))


def locks_of(service: Metastore, table: Table) -> Locks:
    """The locks that cover a table; none in a metastore that has no locks."""
    name = table.name
    try:
        found = service.locks.listed(name.database, name.table, name.catalog) if service.may_be_hmstats else []
    except UnknownCall:
        found = []
    own = (each for each in found if each.object.table in (None, name.table))
    return Locks(table=shown_name(name), locks=tuple(replace(_lock(each), dropped=None) for each in own))


def lock(service: Metastore, text: str, wish: LockWish, if_version: int | None = None) -> Locks:
    """Lock statistics of a table; its locks afterwards. Raises NoSuchObject when something of it is not there."""
    table = existing_table(service, text)
    of = _object(table, wish.partition, wish.columns)
    service.locks.lock(of, refuse=wish.refuse, reason=wish.reason, if_version=if_version)
    return locks_of(service, table)


def unlock(
    service: Metastore,
    text: str,
    partition: str | None = None,
    columns: tuple[str, ...] = (),
    if_version: int | None = None,
) -> Locks:
    """Remove the locks of exactly this object; the locks that are left. Raises StatementError if there were none."""
    table = existing_table(service, text)
    of = _object(table, partition, columns)
    if not service.locks.unlock(of, if_version=if_version):
        raise StatementError(f"there is no lock of {of} itself")
    return locks_of(service, table)


def _object(table: Table, partition: str | None, columns: tuple[str, ...]) -> LockedObject:
    names = tuple(dict.fromkeys(existing_column(table, each).name.lower() for each in columns))
    return LockedObject(table.name.parent, table.name.table, partition, names)


def _lock(each: StatisticsLock) -> Lock:
    name = each.object.database
    return Lock(
        catalog=None if name.catalog == DEFAULT_CATALOG else name.catalog,
        database=name.database,
        table=each.object.table,
        partition=each.object.partition,
        columns=each.object.columns,
        refuse=each.refuse,
        reason=each.reason,
        locked_by=each.locked_by,
        locked_at=datetime.fromtimestamp(each.locked_at_seconds, UTC),
        dropped=each.dropped,
    )
