"""What the log is told of statistics that were written or deleted.

An event carries the whole table, which a write of statistics does not read. So the tables that were written last are
remembered with their versions: whoever writes to one again at the version at which it was left needs no statement.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hmstats.model.catalog import Parameters, Table, TableName
from hmstats.model.column_statistics import StatisticsSet
from hmstats.model.events import StatisticsDeleted, StatisticsUpdated
from hmstats.model.names import partition_values
from hmstats.service.statistics.missing import missing_table
from hmstats.service.statistics.newest import Newest
from hmstats.store import tables
from hmstats.store.targets import Target
from hmstats.store.unit import Unit


@dataclass(frozen=True, slots=True)
class Left:
    """A table as a unit leaves it, at its new version; true once the unit is committed."""

    version: int
    table: Table


class StatisticsRecorder:
    """Records events of statistics. One object serves all threads."""

    def __init__(self) -> None:
        self._left = Newest[int, Left]()

    def table(
        self, unit: Unit, name: TableName, target: Target, written: Iterable[StatisticsSet], marks: Parameters
    ) -> Left | None:
        """Record that a table's statistics were written, perhaps several times, and these parameters put.

        What is returned is to be remembered.
        """
        if unit.events is None:
            return None
        known = self._known(target)
        table = replace(known, parameters={**known.parameters, **marks}) if known else _read(unit, name)
        unit.record(*(StatisticsUpdated(table, each, table.parameters) for each in written))
        return Left(target.version + 1, table)

    def partitions(
        self,
        unit: Unit,
        name: TableName,
        target: Target,
        written: Iterable[tuple[int, StatisticsSet]],
        marks: Mapping[int, Parameters],
    ) -> Left | None:
        """Record the same of partitions, with their ids, one event for each; what to remember."""
        if unit.events is None:
            return None
        table = self._known(target) or _read(unit, name)
        for part_id, each in written:
            values = partition_values(each.partition or "", target.keys)
            unit.record(StatisticsUpdated(table, each, marks.get(part_id, {}), values))
        return Left(target.version + 1, table)

    def remember(self, left: Left | None) -> None:
        """Remember a table as it was left by a unit that is committed."""
        if left is not None and left.table.id is not None:
            self._left.put(left.table.id, left)

    def knows(self, target: Target) -> bool:
        """Whether a write to the table can be recorded without reading it."""
        return self._known(target) is not None

    def _known(self, target: Target) -> Table | None:
        left = self._left.get(target.id)
        return left.table if left and left.version == target.version and not target.transactional else None


def record_deleted(
    unit: Unit, name: TableName, target: Target, partitions: Sequence[str | None], columns: Sequence[str] | None
) -> None:
    """Record that statistics of columns (None: of all, in one event) went, of partitions or, None, of the table."""
    for partition in partitions:
        values = () if partition is None else partition_values(partition, target.keys)
        of_columns: Sequence[str | None] = columns or [None]
        unit.record(*(StatisticsDeleted(name, each, partition, values) for each in of_columns))


def _read(unit: Unit, name: TableName) -> Table:
    """The table as the unit leaves it."""
    table = tables.get(unit.connection, name)
    if table is None:
        raise missing_table(name)
    return table
