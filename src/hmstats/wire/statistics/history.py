"""The structs of the history of statistics <-> model, both directions side by side."""

from typing import Any

from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.history import History, PastStatistics, PastWrite, Restored
from hmstats.wire.idl import extension
from hmstats.wire.statistics.extension import sets_with_details_from_thrift, sets_with_details_to_thrift


def history_to_thrift(found: History) -> Any:
    """The struct of the writes of a table."""
    writes = [
        extension.StatisticsWrite(
            at=each.at_ms,
            dbName=each.table.database,
            tblName=each.table.table,
            kinds=list(each.kinds),
            writer=each.writer,
            call=each.call,
            colNames=list(each.columns),
            partNames=list(each.partitions),
        )
        for each in found.writes
    ]
    return extension.StatisticsHistoryResult(writes=writes, oldest=found.oldest_ms, sizeBytes=found.size_bytes)


def history_from_thrift(struct: Any, catalog: str) -> History:
    """The writes in a struct, of a table of this catalog."""
    writes = [
        PastWrite(
            each.at,
            table_name(each.dbName, each.tblName, catalog),
            tuple(each.kinds),
            each.writer,
            each.call,
            tuple(each.colNames),
            tuple(each.partNames),
        )
        for each in struct.writes
    ]
    return History(writes, struct.oldest, struct.sizeBytes)


def past_to_thrift(name: TableName, found: PastStatistics) -> Any:
    """The struct of a table's statistics at a time."""
    structs, details = sets_with_details_to_thrift(name, found.sets, stamp=True)
    parameters = {place: dict(values) for place, values in found.parameters.items()}
    return extension.PastStatisticsResult(at=found.at_ms, colStats=structs, details=details, parameters=parameters)


def past_from_thrift(struct: Any) -> PastStatistics:
    """The statistics at a time in a struct."""
    sets = [each for _, each in sets_with_details_from_thrift(struct.colStats, struct.details, None)]
    return PastStatistics(struct.at, sets, struct.parameters)


def restored_to_thrift(done: Restored) -> Any:
    """The struct of what a restore has changed."""
    return extension.RestoreStatisticsResult(
        at=done.at_ms,
        written=done.written,
        removed=done.removed,
        parameters=done.parameters,
        unmarked=done.unmarked,
    )


def restored_from_thrift(name: TableName, struct: Any) -> Restored:
    """The changes of a restore of a table, from a struct."""
    return Restored(name, struct.at, struct.written, struct.removed, struct.parameters, struct.unmarked)
