"""Decimals as doubles, each rounded once and to the nearest, as Java's BigDecimal.doubleValue() does.

Hive hashes a decimal as its double, so the last bit matters; Arrow's own cast is a bit off now and then.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_EXACT_INTEGER = 1 << 53
_EXACT_POWER = 22
"""A double holds all integers to 2^53 and all powers of ten to 10^22: their quotient is rounded once."""


def doubles(array: pa.Array) -> npt.NDArray[np.float64]:
    """The values of a decimal128 or decimal256 array without nulls, as float64."""
    if not pa.types.is_decimal128(array.type) or not 0 <= array.type.scale <= _EXACT_POWER:
        return _parsed(array)
    low, high = _words(array)
    exact = (high == low >> 63) & (low >= -_EXACT_INTEGER) & (low <= _EXACT_INTEGER)
    values: npt.NDArray[np.float64] = low / 10.0**array.type.scale
    if not exact.all():
        inexact = np.flatnonzero(~exact)
        values[inexact] = _parsed(array.take(pa.array(inexact)))
    return values


def unscaled(array: pa.Array) -> npt.NDArray[np.int64] | None:
    """The values of a decimal array without nulls times 10^scale; None when 64 bits do not hold one of them."""
    if not pa.types.is_decimal128(array.type):
        return None
    low, high = _words(array)
    return low if (high == low >> 63).all() else None


def _words(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lower and the upper 64 bits of each value of a decimal128 array."""
    words = np.frombuffer(array.buffers()[1], np.int64, 2 * len(array), 16 * array.offset).reshape(-1, 2)
    return words[:, 0], words[:, 1]


def _parsed(array: pa.Array) -> npt.NDArray[np.float64]:
    """By way of text: slower, but right for every decimal."""
    values: npt.NDArray[np.float64] = array.cast(pa.string()).cast(pa.float64()).to_numpy()
    return values
