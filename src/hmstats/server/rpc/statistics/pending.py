"""Calls about pending statistics (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.catalog.patterns import matching
from hmstats.service.statistics.pending import PendingStatistics
from hmstats.wire.idl import extension
from hmstats.wire.statistics import pending as codec


class PendingCalls:
    """Pending statistics: not in force until they are published."""

    def __init__(self, pending: PendingStatistics) -> None:
        self._pending = pending

    def list_pending_statistics(self, session: Session, request: Any) -> Any:
        """The pending statistics of the tables that match patterns, and why they wait."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        found = self._pending.listed(catalog)
        in_databases = set(matching([each.table.database for each in found], request.dbPatterns))
        tables = set(matching([each.table.table for each in found], request.tblPatterns))
        wanted = [each for each in found if each.table.database in in_databases and each.table.table in tables]
        return extension.PendingResult(owners=[codec.listed_to_thrift(each) for each in wanted])

    def get_pending_statistics(self, session: Session, request: Any) -> Any:
        """The pending statistics of a table."""
        name = _table(request)
        return codec.of_table_to_thrift(name, self._pending.of_table(name))

    def publish_statistics(self, session: Session, request: Any) -> Any:
        """Write the pending statistics of a table or of some partitions."""
        done = self._pending.publish(
            _table(request), request.partNames, subject.author(session), if_version=request.ifVersion
        )
        return extension.PublishResult(written=done.written, recounted=done.recounted)

    def reject_statistics(self, session: Session, request: Any) -> int:
        """Discard the pending statistics of a table or of some partitions."""
        return self._pending.reject(_table(request), request.partNames, if_version=request.ifVersion)


def _table(request: Any) -> TableName:
    return subject.table(request.dbName, request.tblName, request.catName)
