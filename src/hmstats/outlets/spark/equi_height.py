"""Makes Spark's equi-height histograms from a column's quantiles, bounds and distinct count."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hmstats.model.spark.spark_statistics import EquiHeightHistogram
from hmstats.sketch.quantiles.kll import KllHistogram

BINS = 254
"""Spark's own default, spark.sql.statistics.histogram.numBins."""

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The facts about a column beside its quantiles: bounds, the number of values that are not null, and of distinct
    ones.

    `whole`: its values are whole numbers. `unit`: what a value is multiplied with to be in Spark's unit.
    """

    low: float
    high: float
    values: int
    distinct: int | None = None
    whole: bool = False
    unit: float = 1.0


def equi_height(sketch: KllHistogram, known: ColumnFacts, bins: int = BINS) -> EquiHeightHistogram | None:
    """The histogram; None for a column without values or finite bounds.

    A bin of one value has one distinct value, as in Spark; the others share the rest evenly.
    """
    quantiles = sketch.quantiles(np.linspace(0, 1, bins + 1).tolist())
    if not quantiles or not known.values or not np.isfinite([known.low, known.high]).all():
        return None
    edges = np.clip(np.array(quantiles, np.float64), known.low, known.high)
    edges[0], edges[-1] = known.low, known.high
    edges = np.maximum.accumulate(edges)
    low, high = edges[:-1], edges[1:]
    height = known.values / bins
    distinct = _distinct(low, high, height, known)
    low, high = low * known.unit, high * known.unit
    return EquiHeightHistogram(height, tuple(low.tolist()), tuple(high.tolist()), tuple(distinct.tolist()))


def _distinct(low: Doubles, high: Doubles, height: float, known: ColumnFacts) -> npt.NDArray[np.int64]:
    """How many distinct values each bin has, no more than its rows or its whole numbers."""
    most = np.full(len(low), max(1.0, np.ceil(height)))
    if known.whole:
        most = np.minimum(most, high - low + 1)
    wide = high > low
    if known.distinct is not None and wide.any():
        rest = max(0, known.distinct - len(np.unique(low[~wide])))
        share = np.diff(np.floor(np.linspace(0, rest, int(wide.sum()) + 1)))
        most[wide] = np.minimum(most[wide], np.maximum(1, share))
    return np.where(wide, most, 1).astype(np.int64)
