"""The distinct count of several partitions together, by Hive's rules.

It lies between the largest partition's count and the sum of all. If all have bit vectors, their union estimates it;
else Hive's density function or tuner does (org.apache.hadoop.hive.metastore.StatObjectConverter).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hmstats.model.statistics.column_statistics import DecimalStatistics, DoubleStatistics, StringStatistics


@dataclass(frozen=True, slots=True)
class DistinctRules:
    """Hive's settings hive.metastore.stats.ndv.densityfunction and hive.metastore.stats.ndv.tuner.

    `tuner` is 0 for the largest partition's count, 1 for the sum of all, or a weight between the two.
    """

    density: bool = False
    tuner: float = 0.0


def distinct_values(data: Any, most: int, density: float | None, rules: DistinctRules) -> int | None:
    """The estimate for partitions whose bounds and largest NDV are in `data`, and whose NDVs add up to `most`.

    `density` is the mean distance between neighbouring values, from density_of. None if `data` has no NDV.
    """
    least: int | None = data.ndv
    if least is None or isinstance(data, StringStatistics):
        return least
    width = None if data.low is None or data.high is None else data.high - data.low
    if rules.density and density and width is not None:
        guess = _clamped(float(width) / density, least, most)
    else:
        guess = _clamped(least + (most - least) * rules.tuner, least, most)
    if width is None or isinstance(data, DoubleStatistics | DecimalStatistics):
        return guess
    return min(guess, max(int(width), 0) + 1)


def density_of(partitions: Iterable[Any]) -> float | None:
    """The mean over the partitions of (high - low) / NDV; None if no partition has all three."""
    known = [each for each in partitions if each.low is not None and each.high is not None and each.ndv]
    densities = [(float(each.high) - float(each.low)) / each.ndv for each in known]
    finite = [each for each in densities if math.isfinite(each)]
    return sum(finite) / len(finite) if finite else None


def _clamped(guess: float, least: int, most: int) -> int:
    if not math.isfinite(guess):
        return least if guess < 0 or math.isnan(guess) else most
    return max(least, min(int(guess), max(least, most)))
