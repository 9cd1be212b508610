"""Merges a column's sketches of either kind, as merges of statistics need it (model/statistics/merge.py)."""

from collections.abc import Callable
from dataclasses import dataclass

from hmstats.errors import SketchError
from hmstats.sketch.distinct import bit_vector, hll_bytes
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram


@dataclass(frozen=True, slots=True)
class MergedSketches:
    """Merges the sketches of one column; the first argument is the stored one.

    `ignored` is told the error of a stored sketch that cannot be read, and is skipped.
    """

    ignored: Callable[[SketchError], None]

    def merge_bit_vectors(self, one: bytes, other: bytes) -> tuple[bytes, int | None]:
        """The merged vector and its distinct count; if the kinds cannot be merged, the HyperLogLog one and None."""
        of_hll = [each.startswith(hll_bytes.MAGIC) for each in (one, other)]
        try:
            if all(of_hll):
                hll = HiveHll.merge_many([one, other])
                return hll.to_bytes(), hll.count()
            merged = bit_vector.merge([one, other])
        except SketchError as error:
            self.ignored(error)
            return other, None
        if merged is None:
            return (one if of_hll[0] else other), None
        return merged, bit_vector.estimate(merged)

    def merge_histograms(self, one: bytes, other: bytes) -> bytes:
        """The merged histogram, with the k of the smaller one."""
        try:
            stored = KllHistogram.from_bytes(one)
        except SketchError as error:
            self.ignored(error)
            return other
        return stored.merge(KllHistogram.from_bytes(other)).to_bytes()

    def merge_top_k(self, one: bytes, other: bytes) -> bytes | None:
        """The merged sketch; None if the stored one cannot be read."""
        try:
            return TopK.merge_many([one, other]).to_bytes()
        except SketchError as error:
            self.ignored(error)
            return None
