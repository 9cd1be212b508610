"""Statistics of the same columns of many partitions, or of one table, by field.

Writers send thousands of columns in one call, mostly of the same names and types for each partition. Here a field, such
as the nulls of all columns that have the same fields, is one list, so that whole lists are looked at and stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from hmstats.model.column_statistics import DATA_CLASSES, ColumnStatistics, Kind, StatisticsSet


class KindOfColumn(NamedTuple):
    """A column's name and type, in lower case, and the kind of its statistics."""

    column: str
    column_type: str
    kind: Kind


class FieldValues(NamedTuple):
    """Statistics of one kind that have the same fields: by field a value for each, None where it is unknown.

    `places` says whose they are, in ascending order: the place of a partition's column is the partition's number times
    the number of columns, and the column's.
    """

    kind: Kind
    places: Sequence[int]
    values: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class StatisticsByField:
    """Statistics of one engine, of different partitions (a table's own: of None alone) and different columns."""

    partitions: Sequence[str | None]
    engine: str
    columns: Sequence[KindOfColumn]
    groups: Sequence[FieldValues]

    @property
    def size(self) -> int:
        """How many partitions' columns there are."""
        return len(self.partitions) * len(self.columns)

    def sets(self, analyzed_seconds: int | None = None) -> list[StatisticsSet]:
        """The same as a set for each partition, in their order."""
        data: dict[int, Any] = {}
        for kind, places, values in self.groups:
            rows = zip(*values.values(), strict=True) if values else [()] * len(places)
            made = (DATA_CLASSES[kind](**dict(zip(values, row, strict=True))) for row in rows)
            data.update(zip(places, made, strict=True))
        each = [
            ColumnStatistics(column, column_type, data[place])
            for place, (_, (column, column_type, _)) in enumerate(product(self.partitions, self.columns))
        ]
        width = len(self.columns)
        return [
            StatisticsSet(tuple(each[number * width : (number + 1) * width]), name, self.engine, analyzed_seconds)
            for number, name in enumerate(self.partitions)
        ]
