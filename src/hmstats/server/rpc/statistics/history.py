"""Calls about the history of statistics (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.model.catalog.objects import TableName
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.history.history import StatisticsHistory
from hmstats.service.statistics.history.restore import StatisticsRestore
from hmstats.wire.statistics import history as codec


class HistoryCalls:
    """Earlier statistics, the writes that changed them, and restores."""

    def __init__(self, history: StatisticsHistory, restores: StatisticsRestore) -> None:
        self._history = history
        self._restores = restores

    def get_statistics_history(self, session: Session, request: Any) -> Any:
        """The writes of a table's statistics: when, by whom, and what they changed."""
        column = None if request.colName is None else subject.column(request.colName)
        return codec.history_to_thrift(self._history.writes(_table(request), column, request.most))

    def get_past_statistics(self, session: Session, request: Any) -> Any:
        """Statistics of a table or of some partitions as of a time, with their sketches, provenance and parameters."""
        name = _table(request)
        columns = None if request.colNames is None else [subject.column(each) for each in request.colNames]
        found = self._history.past(name, request.at, columns, request.partNames, may_read=session.may_read_statistics)
        return codec.past_to_thrift(name, found)

    def restore_statistics(self, session: Session, request: Any) -> Any:
        """Write the statistics of a time again; a dry run only counts what would change."""
        done = self._restores.restore(
            _table(request),
            request.at,
            dry_run=bool(request.dryRun),
            if_version=request.ifVersion,
            may_read=session.may_read_statistics,
        )
        return codec.restored_to_thrift(done)


def _table(request: Any) -> TableName:
    return subject.table(request.dbName, request.tblName, request.catName)
