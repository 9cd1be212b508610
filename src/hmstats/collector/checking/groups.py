"""Estimates for all rows from the row groups of a sample, with confidence intervals.

Whole row groups are sampled, and the rows of one group are similar, so the unit of the sample is the group, not the
row. The ratio estimator of cluster sampling and its variance are those of Cochran, Sampling Techniques (1977), 2.11 and
6.3.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hmstats.sketch.accumulator import TableAccumulator

COUNTS = ("nulls", "trues", "falses")
AVERAGE_LENGTH = "average_length"
STATISTICS = (*COUNTS, AVERAGE_LENGTH)
"""The extrapolated statistics: each is a fraction of all rows, or for lengths the bytes of all values."""

LEAST_UNITS = 20
STANDARD_ERRORS = 3.5
"""The half-width of a 99.7 % confidence interval for 20 groups (Student's t with 19 degrees of freedom)."""
_DOUBT = 0.003

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GroupSums:
    """Sums over row groups: their number, and for each statistic and column the wholes, parts, squares and products.

    `sums` has the shape (5, statistics, columns).
    """

    units: int
    sums: Floats

    @classmethod
    def empty(cls, columns: int) -> "GroupSums":
        """The sums of no groups."""
        return cls(0, np.zeros((5, len(STATISTICS), columns)))

    @classmethod
    def of(cls, counts: Floats) -> "GroupSums":
        """The sums of one group, whose wholes and parts are given in the shape (2, statistics, columns)."""
        whole, part = counts
        return cls(1, np.stack([whole, part, whole * whole, whole * part, part * part]))

    def merge(self, other: "GroupSums") -> "GroupSums":
        """The sums over the groups of both."""
        return GroupSums(self.units + other.units, self.sums + other.sums)

    def ratio(self, statistic: str, column: int, seen: float) -> Interval | None:
        """The confidence interval (99.7 %) of a ratio; None if there are too few groups.

        `seen` is the fraction of all rows that is in the groups.
        """
        whole, part, squares, products, parts = self.sums[:, STATISTICS.index(statistic), column].tolist()
        if self.units < LEAST_UNITS or not whole:
            return None
        ratio = part / whole
        spread = max(0.0, parts - 2 * ratio * products + ratio * ratio * squares) / (self.units - 1)
        error = math.sqrt((1 - seen) * spread / self.units) * self.units / whole
        return _interval_around(ratio, error, self.units, bounded=statistic in COUNTS)


def of_rows(ratio: float, most: float, units: int, seen: float) -> Interval | None:
    """The interval around `ratio`, the mean of `units` values from 0 to `most`, if rows were sampled one by one.

    `seen` is the fraction of all rows that was sampled. The variance of such values is at most (most - mean) * mean
    (Bhatia and Davis 2000). None if fewer than LEAST_UNITS values were sampled.
    """
    if units < LEAST_UNITS:
        return None
    error = math.sqrt((1 - seen) * max(0.0, most - ratio) * ratio / units)
    return _interval_around(ratio, error, units, bounded=most == 1)


def counts(state: TableAccumulator) -> Floats:
    """The wholes and parts of a state so far, in the shape (2, statistics, columns)."""
    columns = state.columns.values()
    rows = np.array([each.rows for each in columns], np.float64)
    nulls = np.array([each.nulls for each in columns], np.float64)
    trues = np.array([each.trues for each in columns], np.float64)
    lengths = np.array([each.total_length for each in columns], np.float64)
    return np.stack([[rows, rows, rows, rows - nulls], [nulls, trues, rows - nulls - trues, lengths]])


def _interval_around(ratio: float, error: float, units: int, *, bounded: bool) -> Interval:
    """The interval around a ratio. If the ratio is 0 or 1, a few units that differ may just not have been sampled."""
    low, high = ratio - STANDARD_ERRORS * error, ratio + STANDARD_ERRORS * error
    if not bounded:
        return max(0.0, low), high
    unseen = 1 - _DOUBT ** (1 / units)
    if ratio in (0.0, 1.0):
        return (0.0, unseen) if ratio == 0 else (1 - unseen, 1.0)
    return max(0.0, low), min(1.0, high)
