"""Calls about pending statistics. Only hmstats has them."""

from collections.abc import Callable, Sequence
from typing import Any

from hmstats.client.naming import AnyTable, as_table_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.model.pending.pending import PendingListed, PendingOfTable
from hmstats.wire.idl import extension
from hmstats.wire.statistics import pending as codec


class PendingCalls:
    """Pending statistics, which are not in force until they are published.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats. With `if_version` a change is refused unless the table has this
    version (`of_table`).
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def listed(
        self, databases: str | None = None, tables: str | None = None, catalog: str | None = None
    ) -> list[PendingListed]:
        """The pending statistics of the tables that match patterns (None: all), and why they wait."""
        request = extension.PendingRequest(catName=catalog, dbPatterns=databases, tblPatterns=tables)
        owners = self._ask("list_pending_statistics", request).owners
        return [codec.listed_from_thrift(each, catalog or DEFAULT_CATALOG) for each in owners]

    def of_table(self, table: AnyTable) -> PendingOfTable:
        """All pending statistics of a table."""
        return codec.of_table_from_thrift(self._ask("get_pending_statistics", _request(table, None)))

    def publish(
        self, table: AnyTable, partitions: Sequence[str] | None = None, *, if_version: int | None = None
    ) -> tuple[int, int]:
        """Publish the pending statistics of a table, or of these partitions.

        Returns how many tables and partitions that were, and of how many of them the counts were left out, since they
        were counted anew in the meantime.
        """
        done = self._ask("publish_statistics", _request(table, partitions, if_version))
        return done.written, done.recounted

    def reject(self, table: AnyTable, partitions: Sequence[str] | None = None, *, if_version: int | None = None) -> int:
        """Discard the pending statistics of a table, or of these partitions; returns of how many."""
        return int(self._ask("reject_statistics", _request(table, partitions, if_version)))


def _request(table: AnyTable, partitions: Sequence[str] | None, if_version: int | None = None) -> Any:
    name = as_table_name(table)
    parts = None if partitions is None else list(partitions)
    return extension.PendingTableRequest(
        dbName=name.database, tblName=name.table, catName=name.catalog, partNames=parts, ifVersion=if_version
    )
