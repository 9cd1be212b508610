"""The numbers of a column's statistics in many partitions, summed up by the columns of PART_COL_STATS."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.merge import MAX_I64
from hmstats.store.statistics import statistics_rows
from hmstats.store.statistics.statistics_rows import SKETCHES, VALUES

Value: TypeAlias = int | float | str | None
DECIMALS = tuple(name for name in VALUES if name.startswith("BIG_DECIMAL"))
"""The bounds of decimals, which are texts: a database cannot compare them."""
NUMBERS = tuple(name for name in VALUES if name not in SKETCHES and name not in DECIMALS)
"""The columns that a database sums up."""
ADDED = frozenset({"NUM_NULLS", "NUM_TRUES", "NUM_FALSES"})
"""The columns whose values add up; of the others the least or the greatest counts."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The aggregate of one column's statistics, over the partitions in which it has one type.

    In `statistics` bounds are the widest, counts are sums, lengths and NDV the largest. Sketches are absent, and so are
    bounds of decimals unless `knows_decimals`. `ndv_sum` is the sum of the partitions' NDV, `bit_vectors` the number of
    partitions with one, and `analyzed_seconds` the time of the oldest statistics, in epoch seconds.
    """

    statistics: ColumnStatistics
    partitions: int
    bit_vectors: int
    ndv_sum: int
    analyzed_seconds: int
    knows_decimals: bool = False


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """Sums of one column over the partitions in which it has one type.

    `values` are by the names of columns, without unknown ones. Sums are not limited to 64 bits. The other fields are
    those of a Summary.
    """

    column: str
    column_type: str
    values: Mapping[str, Value]
    partitions: int
    bit_vectors: int
    ndv_sum: int
    analyzed_seconds: int
    knows_decimals: bool = False

    def plus(self, other: "ColumnSums") -> "ColumnSums":
        """The sums over the partitions of both, which have the column in one type and no partition in common."""
        return ColumnSums(
            self.column,
            self.column_type,
            {
                name: _aggregate(name, self.values.get(name), other.values.get(name))
                for name in self.values.keys() | other.values.keys()
            },
            self.partitions + other.partitions,
            self.bit_vectors + other.bit_vectors,
            self.ndv_sum + other.ndv_sum,
            min(self.analyzed_seconds, other.analyzed_seconds),
            self.knows_decimals and other.knows_decimals,
        )

    def summary(self) -> Summary | None:
        """The summary, in which no sum is above the largest long; None if the type has no statistics."""
        row = [None if name in DECIMALS and not self.knows_decimals else self._limited(name) for name in VALUES]
        read = statistics_rows.column_statistics(self.column, self.column_type, row)
        if read is None:
            return None
        ndv_sum = min(self.ndv_sum, MAX_I64)
        return Summary(read, self.partitions, self.bit_vectors, ndv_sum, self.analyzed_seconds, self.knows_decimals)

    def _limited(self, name: str) -> Value:
        value = self.values.get(name)
        return min(value, MAX_I64) if name in ADDED and isinstance(value, int) else value


def is_low(name: str) -> bool:
    """Whether the least value of a column counts."""
    return name.endswith("LOW_VALUE")


def _aggregate(name: str, one: Value, other: Value) -> Value:
    if one is None or other is None:
        return other if one is None else one
    if name in ADDED:
        return int(one) + int(other)
    if name in DECIMALS:
        return min(one, other, key=Decimal) if is_low(name) else max(one, other, key=Decimal)
    return min(one, other) if is_low(name) else max(one, other)
