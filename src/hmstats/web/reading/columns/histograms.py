"""Bins of a column's quantiles.

The quantiles in the middle of equal parts of all values stand for one of these parts each. A KLL sketch of
size k puts every rank right within 2.296 / k^0.9723 of all values, and every difference of two ranks, which a bin's
count is, within 2.446 / k^0.9433 (DataSketches, kll_helper::get_normalized_rank_error; both with 99 % confidence).
"""

import math

import numpy as np
import numpy.typing as npt

from hmstats.model.statistics.answers import Quantiles
from hmstats.model.statistics.column_statistics import Kind
from hmstats.web.answers.columns import Histogram
from hmstats.web.answers.numbers import scalar

PARTS_OF_A_PICTURE = 256
PARTS_OF_A_COLUMN = 1_000
QUARTILES = (0.25, 0.5, 0.75)
_ENDS = (0.0, 1.0)
Floats = npt.NDArray[np.float64]
_WHOLE_KINDS = frozenset({Kind.LONG, Kind.DATE})
_MOST_SINGLE = 2**24
"""Whole numbers up to which single precision tells each from the next."""
_DECADES = 2.0
"""From so many powers of ten between least and greatest on, a logarithmic scale can show more."""
_MOST_IN_ONE_BIN = 0.6
"""The part of all values in one bin of equal width from which on it does."""


def fractions(parts: int) -> list[float]:
    """The fractions to ask for: least and greatest value, the quartiles, then the middles of so many equal parts."""
    return [*_ENDS, *QUARTILES, *((each + 0.5) / parts for each in range(parts))]


def histogram(kind: Kind, found: Quantiles, bins: int) -> Histogram | None:
    """The histogram of quantiles at `fractions()`; None when there are no values, or some are not finite."""
    values = np.asarray(found.values, dtype=np.float64)
    if len(values) <= len(_ENDS) + len(QUARTILES) or not np.isfinite(values).all():
        return None
    low, high = (float(each) for each in values[: len(_ENDS)])
    middles = values[len(_ENDS) + len(QUARTILES) :]
    single = kind in _WHOLE_KINDS and high - low < bins and max(-low, high) < _MOST_SINGLE
    if single:
        edges, logarithmic = np.arange(low, high + 2), False
        parts, _ = np.histogram(middles, edges - 0.5)
    else:
        edges, logarithmic = _edges(low, high, middles, bins)
        parts, _ = np.histogram(middles, edges)
    return Histogram(
        edges=tuple(scalar(kind, each) for each in _shown(kind, edges)),
        counts=tuple(round(float(each), 3) for each in parts * (found.count / len(middles))),
        values=found.count,
        bin_error=bin_error(found.rank_error),
        logarithmic=logarithmic,
        single=single,
    )


def bin_error(rank_error: float) -> float:
    """How far off a bin's count may be, a part of all values, for a sketch with this error of a single rank."""
    if not rank_error:
        return 0.0
    size = (2.296 / rank_error) ** (1 / 0.9723)
    return float(min(1.0, 2.446 / size**0.9433))


def _edges(low: float, high: float, middles: Floats, bins: int) -> tuple[Floats, bool]:
    """The edges of the bins, and whether they are logarithmic.

    When most values lie in one bin of equal width and all are positive, the edges grow by a factor.
    """
    if low == high:
        return np.array([low, np.nextafter(low, np.inf)]), False
    equal = np.linspace(low, high, bins + 1)
    crowded = np.histogram(middles, equal)[0].max() > _MOST_IN_ONE_BIN * len(middles)
    if low > 0 and math.log10(high / low) >= _DECADES and crowded:
        grown = np.geomspace(low, high, bins + 1)
        grown[0], grown[-1] = low, high
        return grown, True
    return equal, False


def _shown(kind: Kind, edges: Floats) -> list[float] | list[int]:
    """Edges as values of the column: a day or second is whole, another number has the digits of single precision."""
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return [math.floor(each) for each in edges]
    numbers = [float(f"{each:.7g}") for each in edges]
    return [int(each) for each in numbers] if all(each.is_integer() for each in numbers) else numbers
