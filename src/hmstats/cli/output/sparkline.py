"""A column's distribution as a line of bars."""

from collections.abc import Sequence

import numpy as np

from hmstats.sketch.quantiles.kll import KllHistogram

WIDTH = 8
_BARS = " ▁▂▃▄▅▆▇█"
FRACTIONS = [number / 64 for number in range(65)]


def shape(histogram: bytes | None) -> str:
    """Bars for how many values are in each eighth of the range from least to greatest; empty if unknown.

    Raises SketchError for bytes that are no histogram.
    """
    quantiles = KllHistogram.from_bytes(histogram).quantiles(FRACTIONS) if histogram else []
    return bars(quantiles)


def bars(quantiles: Sequence[float]) -> str:
    """A line of bars for quantiles at equal steps, empty if fewer than two or not finite.

    If all quantiles are equal, the line is one bar in the middle.
    """
    if len(quantiles) < 2 or not np.isfinite(quantiles).all():
        return ""
    if quantiles[0] == quantiles[-1]:
        return f"{_BARS[-1]:^{WIDTH}}".rstrip()
    counts, _ = np.histogram(quantiles, WIDTH)
    levels = np.ceil(counts * (len(_BARS) - 1) / counts.max()).astype(int)
    return "".join(_BARS[level] for level in levels)
