"""Compares stored histograms and frequent values with those of the rows that were read."""

from collections.abc import Iterator

import numpy as np

from hmstats.collector.checking.seen import Limits, Truth
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram

_FRACTIONS = [number / 64 for number in range(1, 64)]
_MOST_VALUES = 10


def quantiles_truth(stored: bytes, found: KllHistogram) -> tuple[float, Truth]:
    """The error of the stored quantiles' ranks, as a part of all values, and its limits.

    A value has all ranks from its first to its last occurrence. Raises SketchError for corrupt bytes.
    """
    sketch = KllHistogram.from_bytes(stored)
    allowed = sketch.rank_error_of_all + found.rank_error_of_all + 1 / max(1, min(sketch.count, found.count))
    truth = Truth((Limits(0.0, allowed, certain=False),), decided=True)
    if not (sketch.count and found.count):
        return float(sketch.count != found.count), truth
    ranks = np.array([found.ranks(value) for value in sketch.quantiles(_FRACTIONS)])
    fractions = np.array(_FRACTIONS)
    return float(np.maximum(ranks[:, 0] - fractions, fractions - ranks[:, 1]).max(initial=0.0)), truth


def top_values(stored: bytes, found: TopK) -> Iterator[tuple[str, int, Truth]]:
    """The most frequent stored values: a label, the count, and the count's limits.

    Both sketches bound a value's count from below and above. Raises SketchError for corrupt bytes.
    """
    there = {text: (low, high) for text, low, high in found.top()}
    for text, low, high in TopK.from_bytes(stored).top(_MOST_VALUES):
        least, most = there.get(text, (0, found.error))
        yield f"count of {text!r}", high, Truth((Limits(least, most + high - low),), decided=True)
