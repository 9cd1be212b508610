"""Events for the notification log of statistics that were written or deleted.

An event contains the whole table, which a write of statistics does not read. So the tables written last are cached with
their definitions (versions.py): a write to one whose definition has not changed needs no statement to read it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import Parameters, Table, TableName
from hmstats.model.events import StatisticsDeleted, StatisticsUpdated
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.statistics.errors import missing_table
from hmstats.service.statistics.writing.recent_tables import Newest
from hmstats.store.catalog import tables
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit


@dataclass(frozen=True, slots=True)
class LoggedTable:
    """A table after a unit's write, with its new definition; valid once the unit is committed."""

    definition: int
    table: Table


class StatisticsRecorder:
    """Records events of statistics. Thread-safe."""

    def __init__(self) -> None:
        self._tables = Newest[int, LoggedTable]()

    def table(
        self, unit: Unit, name: TableName, target: TableFacts, written: Iterable[StatisticsSet], marks: Parameters
    ) -> LoggedTable | None:
        """Record writes of a table's statistics, with the parameters `marks` that were put.

        Returns the table to pass to `remember` after the commit; None without a log.
        """
        if unit.events is None:
            return None
        cached = self._cached(target)
        table = replace(cached, parameters={**cached.parameters, **marks}) if cached else _read(unit, name)
        unit.record(*(StatisticsUpdated(table, each, table.parameters) for each in written))
        return LoggedTable(target.definition + 1, table)

    def partitions(
        self,
        unit: Unit,
        name: TableName,
        target: TableFacts,
        written: Iterable[tuple[int, StatisticsSet]],
        marks: Mapping[int, Parameters],
    ) -> LoggedTable | None:
        """Record writes of partitions' statistics (pairs of id and set), one event for each. Returns as `table`."""
        if unit.events is None:
            return None
        table = self._cached(target) or _read(unit, name)
        for part_id, each in written:
            values = partition_values(each.partition or "", target.keys)
            unit.record(StatisticsUpdated(table, each, marks.get(part_id, {}), values))
        return LoggedTable(target.definition + 1, table)

    def remember(self, logged: LoggedTable | None) -> None:
        """Cache a table as a committed unit has written it."""
        if logged is not None and logged.table.id is not None:
            self._tables.put(logged.table.id, logged)

    def forget(self) -> None:
        """Clear the cache."""
        self._tables.forget()

    def knows(self, target: TableFacts) -> bool:
        """Whether the cache has the table of this definition, so that recording a write reads nothing."""
        return self._cached(target) is not None

    def _cached(self, target: TableFacts) -> Table | None:
        logged = self._tables.get(target.id)
        return logged.table if logged and logged.definition == target.definition and not target.transactional else None


def record_deleted(
    unit: Unit, name: TableName, target: TableFacts, partitions: Sequence[str | None], columns: Sequence[str] | None
) -> None:
    """Record deletions of statistics of columns (None: all, in one event) of partitions (None: the table)."""
    for partition in partitions:
        values = () if partition is None else partition_values(partition, target.keys)
        of_columns: Sequence[str | None] = columns or [None]
        unit.record(*(StatisticsDeleted(name, each, partition, values) for each in of_columns))


def _read(unit: Unit, name: TableName) -> Table:
    """The table, read within the unit. Raises NoSuchObject."""
    table = tables.get(unit.connection, name)
    if table is None:
        raise missing_table(name)
    return table
