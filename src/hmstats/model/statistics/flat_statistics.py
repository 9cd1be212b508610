"""A column's statistics as one tuple, and lists of such tuples, for answers that hold thousands of them.

The tuple is (column, Hive type, then the fields of the type's kind in the order of column_statistics.py). It says what
ColumnStatistics says without top-k and provenance, and takes a tenth of the time to make.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Kind
from hmstats.model.statistics.column_types import kind_of

FlatStatistics: TypeAlias = tuple[Any, ...]

FIELDS: dict[Kind, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(data_class)) for kind, data_class in DATA_CLASSES.items()
}
"""The fields that follow column and type in a tuple, for each kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatColumns:
    """Columns' statistics as tuples, with partition, engine and time in lists of the same length.

    `partitions` has "" for a table's own. Statistics are None if the column's type has none.
    """

    statistics: Sequence[FlatStatistics | None]
    partitions: Sequence[str]
    engines: Sequence[str]
    analyzed_seconds: Sequence[int | None]

    def only(self, index: int) -> "FlatColumns":
        """One column of one engine."""
        return FlatColumns(
            statistics=[self.statistics[index]],
            partitions=[self.partitions[index]],
            engines=[self.engines[index]],
            analyzed_seconds=[self.analyzed_seconds[index]],
        )


def flat(statistics: ColumnStatistics) -> FlatStatistics:
    """A column's statistics as a tuple, without top-k and provenance."""
    return (statistics.column, statistics.column_type, *_getter(statistics.kind)(statistics.data))


def column_statistics(flat_statistics: FlatStatistics) -> ColumnStatistics:
    """A tuple as column statistics, the inverse of `flat`. The column's type must have statistics."""
    column, column_type, *values = flat_statistics
    kind = kind_of(column_type)
    assert kind is not None, column_type
    data_class: Any = DATA_CLASSES[kind]
    return ColumnStatistics(column, column_type, data_class(**dict(zip(FIELDS[kind], values, strict=True))))


@lru_cache
def _getter(kind: Kind) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*FIELDS[kind])


def place(kind: Kind, field: str) -> int:
    """The index of a kind's field in the tuple."""
    return 2 + FIELDS[kind].index(field)
