"""Statistics as Arrow arrays, for every program that has an Arrow library (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.questions.whole_statistics import WholeStatistics
from hmstats.wire.idl import extension


class ArrowCalls:
    """Statistics in Arrow's form."""

    def __init__(self, statistics: WholeStatistics) -> None:
        self._statistics = statistics

    def get_arrow_statistics(self, session: Session, request: Any) -> Any:
        """An IPC stream with a batch for the table, or for each of some partitions."""
        from hmstats.outlets.arrow import ipc  # noqa: PLC0415 - 14 MB of a worker that is never asked for it

        name = subject.table(request.dbName, request.tblName, request.catName)
        columns = None if request.colNames is None else [subject.column(each) for each in request.colNames]
        engine = request.engine or DEFAULT_ENGINE
        found = self._statistics.read(name, columns, request.partNames, engine, sketches=bool(request.sketches))
        return extension.ArrowStatisticsResult(stream=ipc.stream(found))
