"""The rows that were read of a table or a partition, and the limits for all rows that follow from them."""

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from hmstats.collector.checking.groups import AVERAGE_LENGTH, GroupSums, Interval, of_rows
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct import bit_vector

Part: TypeAlias = tuple[bytes, GroupSums | None]
"""A serialized Seen of some rows: the bytes of the state, and the sums of the row groups."""

_STANDARD_ERRORS = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """The lower and upper limit of a number, inclusive; None if unknown.

    If `certain`, the rows that were read prove them; otherwise they hold with a confidence of 99.7 %.
    """

    low: Any = None
    high: Any = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Truth:
    """All limits of a true number. `decided`: the limits are narrow enough to notice a wrong stored number."""

    limits: tuple[Limits, ...]
    decided: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of the rows read of a table or partition. `groups` is None if rows were sampled one by one."""

    state: TableAccumulator
    groups: GroupSums | None

    @classmethod
    def from_part(cls, part: Part) -> "Seen":
        """Deserialize a part."""
        return cls(TableAccumulator.from_bytes(part[0]), part[1])

    def part(self) -> Part:
        """This state serialized, for `from_part`."""
        return self.state.to_bytes(), self.groups

    def merge(self, other: "Seen") -> "Seen":
        """The rows of both."""
        groups = None if self.groups is None or other.groups is None else self.groups.merge(other.groups)
        return Seen(self.state.merge(other.state), groups)

    @property
    def rows_read(self) -> int:
        """The number of rows that were read; that of all rows if there are no columns."""
        return max((each.rows for each in self.state.columns.values()), default=self.state.rows)

    def unseen(self, column: str) -> int:
        """The number of rows of the column that were not read."""
        return self.state.rows - self.state.columns[column].rows

    def count(self, column: str, statistic: str) -> Truth:
        """The limits of the number of rows that are null, true or false."""
        found, unseen = self.state.columns[column], self.unseen(column)
        falses = found.rows - found.nulls - found.trues
        count = {"nulls": found.nulls, "trues": found.trues, "falses": falses}[statistic]
        proven = Limits(count, count + unseen)
        ratio = self._ratio(column, statistic, count, found.rows, 1.0)
        if not unseen or ratio is None:
            return Truth((proven,), decided=not unseen)
        low, high = (part * self.state.rows for part in ratio)
        return Truth((proven, Limits(math.floor(low), math.ceil(high), certain=False)), decided=True)

    def bound(self, column: str, statistic: str) -> Truth:
        """The limits of the least ("low") or the greatest value ("high")."""
        found = getattr(self.state.columns[column], statistic)
        if found is None:
            return Truth((), decided=False)
        if not self.unseen(column):
            return Truth((Limits(found, found),), decided=True)
        return Truth((Limits(high=found) if statistic == "low" else Limits(low=found),), decided=False)

    def span(self, column: str) -> float:
        """The range of the values; 0 if there are no values."""
        low, high = (getattr(self.state.columns[column], end) for end in ("low", "high"))
        return 0.0 if low is None or high is None else float(high) - float(low)

    def max_length(self, column: str) -> Truth:
        """The limits of the greatest length."""
        found, whole = self.state.columns[column].max_length, not self.unseen(column)
        return Truth((Limits(found, found if whole else None),), decided=whole)

    def average_length(self, column: str) -> Truth:
        """The limits of the average length of the values that are not null; 0 if there are none."""
        found, unseen = self.state.columns[column], self.unseen(column)
        values = found.rows - found.nulls
        least = found.total_length / max(1, values + unseen)
        if not unseen:
            return Truth((Limits(least, least),), decided=True)
        ratio = self._ratio(column, AVERAGE_LENGTH, found.total_length, values, float(found.max_length))
        if ratio is None:
            return Truth((Limits(least),), decided=False)
        return Truth((Limits(least), Limits(*ratio, certain=False)), decided=True)

    def distinct(self, column: str, stored_error: float) -> Truth:
        """The limits of a stored number of distinct values with this relative standard error.

        Any value that was not read may be a new one.
        """
        found = self.state.columns[column].hll
        if found is None:
            return Truth((), decided=False)
        own = bit_vector.standard_error(found.to_bytes()) or 0.0
        count, off, unseen = found.count(), _STANDARD_ERRORS * math.hypot(own, stored_error), self.unseen(column)
        limits = Limits(round(count * (1 - off)), round((count + unseen) * (1 + off)), certain=False)
        return Truth((limits,), decided=not unseen)

    def _ratio(self, column: str, statistic: str, part: int, whole: int, most: float) -> Interval | None:
        """The interval of a ratio over all rows; None if it cannot be estimated."""
        seen = self.state.columns[column].rows / max(1, self.state.rows)
        if self.groups is not None:
            return self.groups.ratio(statistic, list(self.state.columns).index(column), seen)
        return of_rows(part / whole, most, whole, seen) if whole else None
