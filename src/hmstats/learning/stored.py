"""The metastore's statistics of the queries' tables: row counts, columns, health; each table is read once."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from hmstats.client import Metastore
from hmstats.client.tables.stored_statistics import StoredStatistics, stored_table
from hmstats.errors import CallRefused, UnknownCall
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.verdicts import StoredColumn, StoredTable
from hmstats.model.health.health import Reason
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.statistics.column_statistics import ColumnStatistics, known_ndv

_MOST_PARTITIONS = 50
"""The most partitions whose provenance is requested."""
_OURS = "hmstats"


@dataclass(slots=True)
class StoredTables:
    """The tables of a metastore in their current state; None for those that it does not have."""

    service: Metastore
    known: dict[TableName, StoredTable | None] = field(default_factory=dict)

    def of(self, names: Iterable[TableName]) -> dict[TableName, StoredTable]:
        """The tables that the metastore has, by name. Raises ServiceUnavailable if the metastore cannot be reached."""
        found = {}
        for name in names:
            if name not in self.known:
                self.known[name] = self._read(name)
            if (table := self.known[name]) is not None:
                found[name] = table
        return found

    def _read(self, name: TableName) -> StoredTable | None:
        try:
            table = self.service.find_table(name)
            stored = None if table is None else stored_table(self.service, table)
        except CallRefused:  # the user may not read it, or its statistics
            return None
        if stored is None:
            return None
        vouched = self._vouched(stored)
        columns = {each.column: _column(each, each.column in vouched) for each in stored.statistics.columns}
        return StoredTable(known_rows(stored.parameters), self._reason(name), columns)

    def _reason(self, name: TableName) -> Reason | None:
        try:
            page = self.service.health.page(name.database, name.table, most=1, catalog=name.catalog)
        except UnknownCall:
            return None
        return page.entries[0].health.reason if page.entries else None

    def _vouched(self, stored: StoredStatistics) -> set[str]:
        """The columns that our collector has counted, in a partitioned table in some of its partitions."""
        names = None
        if stored.table.partition_keys:
            names = self.service.partition_names(stored.table.name)[:_MOST_PARTITIONS]
            if not names:
                return set()
        try:
            found = self.service.provenance(stored.table.name, None, names)
        except (UnknownCall, CallRefused):
            return set()
        ours = {each.column for each in found if _is_ours(each.provenance.tool)}
        return ours - {each.column for each in found if not _is_ours(each.provenance.tool)}


def _is_ours(tool: str | None) -> bool:
    return tool is not None and tool.startswith(_OURS)


def _column(each: ColumnStatistics, vouched: bool) -> StoredColumn:  # noqa: FBT001
    return StoredColumn(known_ndv(each.data), getattr(each.data, "nulls", None), vouched)
