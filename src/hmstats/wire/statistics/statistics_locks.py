"""Structs of locks on statistics <-> model."""

from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.names import database_name
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.statistics_locks import LockedObject, StatisticsLock
from hmstats.wire.idl import extension


def object_to_thrift(of: LockedObject, **more: Any) -> Any:
    """The struct of what is locked, with other fields of it."""
    return extension.StatisticsLock(
        dbName=of.database.database,
        tblName=of.table,
        partName=of.partition,
        colNames=list(of.columns) or None,
        catName=of.database.catalog,
        **more,
    )


def object_from_thrift(struct: Any) -> LockedObject:
    """The locked object, from a struct. Raises InvalidInput if it names no database."""
    texts = (struct.dbName, struct.tblName, struct.partName, struct.catName, *(struct.colNames or ()))
    if struct.dbName is None or any(each is not None and not isinstance(each, str) for each in texts):
        raise InvalidInput("a lock must name a database by texts that are UTF-8, found none")
    if any(not each for each in struct.colNames or ()):
        raise InvalidInput("the columns of a lock must have names, found none")
    columns = tuple(dict.fromkeys(each.lower() for each in struct.colNames or ()))
    table = struct.tblName.lower() if struct.tblName else None
    return LockedObject(database_name(struct.dbName, struct.catName), table, struct.partName or None, columns)


def lock_to_thrift(lock: StatisticsLock) -> Any:
    """The struct of a listed lock."""
    return object_to_thrift(
        lock.object,
        refuse=lock.refuse,
        reason=lock.reason,
        lockedBy=lock.locked_by,
        lockedAt=lock.locked_at_seconds,
        dropped=lock.dropped,
    )


def lock_from_thrift(struct: Any) -> StatisticsLock:
    """The listed lock in a struct."""
    database = DatabaseName(struct.catName, struct.dbName)
    of = LockedObject(database, struct.tblName, struct.partName, tuple(struct.colNames or ()))
    return StatisticsLock(of, struct.refuse, struct.reason, struct.lockedBy, struct.lockedAt, struct.dropped)
