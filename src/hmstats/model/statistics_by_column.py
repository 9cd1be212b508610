"""Statistics of the same columns of many partitions, or of one table, by column.

Writers send thousands of columns in one call, mostly of the same names and types for each partition. Here a number of
a column, its nulls for example, is one list with a value for each partition, so that whole lists are looked at and
stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmstats.model.column_statistics import DATA_CLASSES, ColumnStatistics, Kind, StatisticsSet


class ColumnValues(NamedTuple):
    """One column's statistics of all partitions.

    `values` is by field of the kind's data class a value for each partition, None where it is unknown. A field that
    is unknown of all of them is left out.
    """

    column: str
    column_type: str
    kind: Kind
    values: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class StatisticsByColumn:
    """Statistics of one engine, of different partitions (a table's own: of None alone) and different columns."""

    partitions: Sequence[str | None]
    engine: str
    columns: Sequence[ColumnValues]

    def sets(self, analyzed_seconds: int | None = None) -> list[StatisticsSet]:
        """The same as a set for each partition, in their order."""
        by_column = [_statistics(each, len(self.partitions)) for each in self.columns]
        return [
            StatisticsSet(columns, partition, self.engine, analyzed_seconds)
            for partition, columns in zip(self.partitions, zip(*by_column, strict=True), strict=True)
        ]


def _statistics(of: ColumnValues, count: int) -> list[ColumnStatistics]:
    data, fields = DATA_CLASSES[of.kind], list(of.values)
    rows = zip(*of.values.values(), strict=True) if fields else [()] * count
    return [ColumnStatistics(of.column, of.column_type, data(**dict(zip(fields, row, strict=True)))) for row in rows]
