"""Calls about the history of statistics, which only hmstats has."""

from collections.abc import Callable, Sequence
from typing import Any

from hmstats.client.naming import AnyTable, as_table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.history import History, PastStatistics, Restored
from hmstats.wire.idl import extension
from hmstats.wire.statistics import history as codec


class HistoryCalls:
    """The past of statistics. Times are epoch milliseconds.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def history(self, table: AnyTable, column: str | None = None, most: int | None = None) -> History:
        """The last writes of a table's statistics, newest first; of one column if it is given."""
        name = as_table_name(table)
        request = extension.StatisticsHistoryRequest(**_of(name), colName=column, most=most)
        return codec.history_from_thrift(self._ask("get_statistics_history", request), name.catalog)

    def past(
        self,
        table: AnyTable,
        at_ms: int | None,
        columns: Sequence[str] | None = None,
        partitions: Sequence[str] | None = None,
    ) -> PastStatistics:
        """Statistics at a time (None: now), of the table itself or of these partitions; an empty list means all."""
        request = extension.PastStatisticsRequest(
            **_of(as_table_name(table)),
            at=at_ms,
            colNames=None if columns is None else list(columns),
            partNames=None if partitions is None else list(partitions),
        )
        return codec.past_from_thrift(self._ask("get_past_statistics", request))

    def past_of_all(self, table: AnyTable, at_ms: int | None) -> PastStatistics:
        """Statistics at a time (None: now), of the table itself and of all partitions."""
        own, below = self.past(table, at_ms), self.past(table, at_ms, partitions=[])
        return PastStatistics(own.at_ms, [*own.sets, *below.sets], {**own.parameters, **below.parameters})

    def before_last_ms(self, table: AnyTable) -> int | None:
        """The time just before the table's last write; None, which stands for now, if there is none."""
        found = self.history(table, most=1)
        return max(found.oldest_ms, found.writes[0].at_ms - 1) if found.writes else None

    def restore(self, table: AnyTable, at_ms: int, *, dry_run: bool = False, if_version: int | None = None) -> Restored:
        """Write the statistics of a time again; with `dry_run` only count what would change.

        With `if_version` it is refused unless the table has this version (`pending.of_table`).
        """
        name = as_table_name(table)
        request = extension.RestoreStatisticsRequest(**_of(name), at=at_ms, dryRun=dry_run, ifVersion=if_version)
        return codec.restored_from_thrift(name, self._ask("restore_statistics", request))


def _of(name: TableName) -> dict[str, str]:
    return {"dbName": name.database, "tblName": name.table, "catName": name.catalog}
