"""Calls about the health of statistics. Only hmstats keeps it."""

from collections.abc import Callable, Iterator
from typing import Any

from hmstats.client.naming import AnyTable, as_table_name
from hmstats.model.health.pages import HealthPage, ObjectHealth
from hmstats.wire.idl import extension
from hmstats.wire.statistics import health as codec


class HealthCalls:
    """The health of tables and partitions, the worst first.

    Every method raises ServiceUnavailable if the metastore cannot be reached, CallRefused if it answers with an
    exception, and UnknownCall if it is not hmstats.
    """

    def __init__(self, ask: Callable[[str, Any], Any]) -> None:
        self._ask = ask

    def page(
        self,
        databases: str | None = None,
        tables: str | None = None,
        *,
        below: int | None = None,
        after: str | None = None,
        most: int | None = None,
        catalog: str | None = None,
    ) -> HealthPage:
        """A page of the tables that match patterns (None: all), with a health below `below`, after a cursor."""
        request = extension.HealthRequest(
            catName=catalog, dbPatterns=databases, tblPatterns=tables, below=below, after=after, most=most
        )
        return codec.page_from_thrift(self._ask("get_statistics_health", request))

    def partitions_page(
        self, table: AnyTable, *, below: int | None = None, after: str | None = None, most: int | None = None
    ) -> HealthPage:
        """A page of a table's partitions, with a health below `below`, after a cursor."""
        name = as_table_name(table)
        request = extension.PartitionHealthRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, below=below, after=after, most=most
        )
        return codec.page_from_thrift(self._ask("get_partition_health", request))

    def tables(
        self,
        databases: str | None = None,
        tables: str | None = None,
        *,
        below: int | None = None,
        catalog: str | None = None,
    ) -> Iterator[ObjectHealth]:
        """All pages of `page`."""
        after: str | None = None
        while True:
            page = self.page(databases, tables, below=below, after=after, catalog=catalog)
            yield from page.entries
            if (after := page.next_page) is None:
                return

    def partitions(self, table: AnyTable, *, below: int | None = None) -> Iterator[ObjectHealth]:
        """All pages of `partitions_page`."""
        after: str | None = None
        while True:
            page = self.partitions_page(table, below=below, after=after)
            yield from page.entries
            if (after := page.next_page) is None:
                return
