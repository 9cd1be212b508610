"""Quantiles of a column: a DataSketches KLL sketch of floats, as Hive 4 stores it in `histogram`.

Its rank error is 1.33 % at k = 200, with 99 % confidence. Values are cast to single precision, as Hive does
(org.apache.hadoop.hive.common.histogram.KllHistogramEstimator).
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from datasketches import kll_floats_sketch

from hmstats.errors import SketchError
from hmstats.sketch.quantiles import kll_bytes

DEFAULT_K = 200

_SAMPLING_ERROR = 0.0015
"""Standard error of rank that sampling may add; the sketch's own is 0.005, so the two together are 4 % more."""
_SORTED_SAMPLE = 1024
"""The least size of a sample of sorted values, in which each stands for its neighbours: ranks are off by less than 0.1
%."""


class KllHistogram:
    """A sketch of the distribution of numbers; NaN is left out. `sketch` is the library's object."""

    __slots__ = ("sketch",)

    def __init__(self, k: int = DEFAULT_K) -> None:
        """An empty sketch, the identity of `merge`. Raises SketchError if k is not 8 to 65535."""
        if not kll_bytes.MIN_K <= k <= 0xFFFF:
            raise SketchError(f"a KLL sketch has k from {kll_bytes.MIN_K} to 65535, not {k}")
        self.sketch = kll_floats_sketch(k)

    @classmethod
    def from_bytes(cls, data: bytes) -> "KllHistogram":
        """Read a KLL float sketch of DataSketches. Raises SketchError when it is corrupt or of another kind."""
        kll_bytes.check(data)
        read = cls()
        read.sketch = kll_floats_sketch.deserialize(data)
        return read

    def to_bytes(self) -> bytes:
        """DataSketches bytes, which Hive reads."""
        return bytes(self.sketch.serialize())

    @property
    def k(self) -> int:
        """The size of its top level."""
        return int(self.sketch.k)

    @property
    def count(self) -> int:
        """The number of values that were added."""
        return int(self.sketch.n)

    @property
    def rank_error(self) -> float:
        """How far off a quantile's rank may be, a part of all values, with 99 % confidence; 0 when all are kept."""
        return float(self.sketch.normalized_rank_error(False)) if self.sketch.is_estimation_mode() else 0.0

    @property
    def rank_error_of_all(self) -> float:
        """How far off the rank of every quantile at once may be, a part of all values, with 99 % confidence.

        0 if the sketch holds all values.
        """
        return float(self.sketch.normalized_rank_error(True)) if self.sketch.is_estimation_mode() else 0.0

    def ranks(self, value: float) -> tuple[float, float]:
        """The parts of all values that are below a value, and at or below it."""
        return float(self.sketch.get_rank(value, False)), float(self.sketch.get_rank(value, True))

    def add(self, values: npt.NDArray[np.generic], weights: npt.NDArray[np.int64] | None = None) -> None:
        """Add numbers; each as often as its weight says."""
        with np.errstate(over="ignore"):
            floats = values.astype(np.float32)
        numbers = ~np.isnan(floats)
        if not numbers.all():
            floats = floats[numbers]
            weights = None if weights is None else weights[numbers]
        if weights is None:
            self._add_each(floats)
        elif len(floats):
            self._add_weighted(floats, weights)

    def merge(self, other: "KllHistogram") -> "KllHistogram":
        """A new sketch of both sides' values; its k is the smaller one."""
        merged = KllHistogram(min(self.k, other.k))
        merged.absorb([self, other])
        return merged

    def absorb(self, others: Iterable["KllHistogram"]) -> None:
        """Merge others in place."""
        for other in others:
            self.sketch.merge(other.sketch)

    def quantiles(self, fractions: Sequence[float]) -> list[float]:
        """The values below which these fractions of all values lie; an empty list when it has seen nothing.

        0 is the least value and 1 the greatest, both exact. Raises SketchError for a fraction that is not from
        0 to 1.
        """
        if not all(0 <= fraction <= 1 for fraction in fractions):
            raise SketchError(f"a quantile's fraction is from 0 to 1; asked for {list(fractions)}")
        if self.sketch.is_empty():
            return []
        ends = {0.0: self.sketch.get_min_value(), 1.0: self.sketch.get_max_value()}
        inner = self.sketch.get_quantiles(list(fractions))
        return [ends.get(fraction, quantile) for fraction, quantile in zip(fractions, inner, strict=True)]

    def __repr__(self) -> str:
        return f"KllHistogram(k={self.k}, count={self.count})"

    def _add_each(self, floats: kll_bytes.Floats) -> None:
        levels = _sampled_levels(self.count + len(floats))
        whole = len(floats) >> levels << levels
        if levels and whole >> levels > 1:
            groups = floats[:whole].reshape(-1, 1 << levels)
            picked = groups[np.arange(len(groups)), _offsets(len(groups), levels)]
            self._add_sample(picked, levels, float(groups.min()), float(groups.max()))
            floats = floats[whole:]
        self.sketch.update(floats)

    def _add_weighted(self, floats: kll_bytes.Floats, weights: npt.NDArray[np.int64]) -> None:
        """Add each value as often as its weight; of many sorted values only a sample is added."""
        if (floats[1:] < floats[:-1]).any():
            order = np.argsort(floats)
            floats, weights = floats[order], weights[order]
        ends = np.cumsum(weights)
        total = int(ends[-1])
        levels = max(0, (total // _SORTED_SAMPLE).bit_length() - 1)
        groups = total >> levels if levels else 0
        if groups:
            places = (np.arange(groups) << levels) + _offsets(groups, levels)
            picked = floats[np.searchsorted(ends, places, side="right")]
            self._add_sample(picked, levels, float(floats[0]), float(floats[-1]))
        rest = np.arange(groups << levels, total)
        self.sketch.update(floats[np.searchsorted(ends, rest, side="right")])

    def _add_sample(self, picked: kll_bytes.Floats, levels: int, low: float, high: float) -> None:
        """Add one of every 2^levels values, picked by chance, as that many (Karnin, Lang, Liberty 2016: sampler).

        `low` and `high` are the bounds of all of them.
        """
        sample = kll_floats_sketch(self.k)
        sample.update(picked)
        lifted = kll_bytes.lift(kll_bytes.read(sample.serialize()), levels, low, high)
        self.sketch.merge(kll_floats_sketch.deserialize(kll_bytes.write(lifted)))


def _offsets(groups: int, levels: int) -> npt.NDArray[np.int64]:
    """For each group of 2^levels values the index of a random one."""
    return np.random.default_rng().integers(0, 1 << levels, groups)


def _sampled_levels(count: int) -> int:
    """The levels that a stream of so many values may skip: the variance of its ranks is count * 2^levels / 4."""
    return max(0, int(4 * _SAMPLING_ERROR**2 * count).bit_length() - 1)
