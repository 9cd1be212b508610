"""Calls about the health of statistics (thrift/hmstats.thrift)."""

from typing import Any

from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.health.listing import HealthListing, ListSelection
from hmstats.wire.statistics import health as codec


class HealthCalls:
    """Health of tables and partitions."""

    def __init__(self, listing: HealthListing) -> None:
        self._listing = listing

    def get_statistics_health(self, session: Session, request: Any) -> Any:
        """The health of the statistics of tables, the worst first."""
        catalog = (request.catName or DEFAULT_CATALOG).lower()
        found = self._listing.tables(catalog, request.dbPatterns, request.tblPatterns, _selection(request))
        return codec.page_to_thrift(found)

    def get_partition_health(self, session: Session, request: Any) -> Any:
        """The health of the statistics of a table's partitions, the worst first."""
        name = subject.table(request.dbName, request.tblName, request.catName)
        return codec.page_to_thrift(self._listing.partitions(name, _selection(request)))


def _selection(request: Any) -> ListSelection:
    return ListSelection(request.below, request.most, request.after)
