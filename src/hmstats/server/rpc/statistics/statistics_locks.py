"""Calls that lock statistics against writes (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.tables.statistics_locks import StatisticsLocks
from hmstats.wire.idl import extension
from hmstats.wire.statistics import statistics_locks as codec


class StatisticsLockCalls:
    """Locks on statistics."""

    def __init__(self, locks: StatisticsLocks) -> None:
        self._locks = locks

    def lock_statistics(self, session: Session, request: Any) -> bool:
        """Lock the statistics of a database, a table, a partition or columns against writes."""
        of = codec.object_from_thrift(request)
        subject.add_to_log(of.database)
        self._locks.lock(
            of,
            refuse=request.refuse,
            reason=request.reason,
            author=subject.author(session),
            if_version=request.ifVersion,
        )
        return True

    def unlock_statistics(self, session: Session, request: Any) -> int:
        """Remove the locks of a database, a table, a partition or columns; returns how many there were."""
        of = codec.object_from_thrift(request)
        subject.add_to_log(of.database)
        return self._locks.unlock(of, if_version=request.ifVersion)

    def get_statistics_locks(self, session: Session, request: Any) -> Any:
        """The locks in the databases, and of the tables, that match patterns."""
        found = self._locks.listed(
            (request.catName or DEFAULT_CATALOG).lower(), request.dbPatterns, request.tblPatterns
        )
        return extension.StatisticsLocksResult(locks=[codec.lock_to_thrift(each) for each in found])
