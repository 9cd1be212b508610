"""Decimals as doubles, each rounded once and to the nearest, as Java's BigDecimal.doubleValue() does.

Hive hashes a decimal as its double, so the last bit matters; Arrow's own cast is sometimes off by one bit.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_EXACT_INTEGER = 1 << 53
_EXACT_POWER = 22
"""A double holds all integers to 2^53 and all powers of ten to 10^22: their quotient is rounded once."""
_DIGITS_IN_64_BITS = 18
"""The most digits of which any number fits in 64 bits."""


def doubles(array: pa.Array) -> npt.NDArray[np.float64]:
    """The values of a decimal128 or decimal256 array without nulls, as float64."""
    whole = to_unscaled(array)
    return _parse_texts(array) if whole is None else unscaled_doubles(whole, array.type.scale)


def to_unscaled(array: pa.Array) -> npt.NDArray[np.int64] | None:
    """The values of a decimal array without nulls times 10^scale; None when 64 bits do not hold one of them."""
    if not pa.types.is_decimal128(array.type):
        return None
    words = np.frombuffer(array.buffers()[1], np.int64, 2 * len(array), 16 * array.offset).reshape(-1, 2)
    low = np.ascontiguousarray(words[:, 0])
    if array.type.precision > _DIGITS_IN_64_BITS and not (words[:, 1] == low >> 63).all():
        return None
    return low


def unscaled_doubles(whole: npt.NDArray[np.int64], scale: int) -> npt.NDArray[np.float64]:
    """These numbers divided by 10^scale."""
    if not 0 <= scale <= _EXACT_POWER:
        return _parse_texts(_decimals(whole, scale))
    values: npt.NDArray[np.float64] = whole / 10.0**scale
    inexact = np.flatnonzero((whole < -_EXACT_INTEGER) | (whole > _EXACT_INTEGER))
    if len(inexact):
        values[inexact] = _parse_texts(_decimals(whole[inexact], scale))
    return values


def _decimals(whole: npt.NDArray[np.int64], scale: int) -> pa.Array:
    words = np.stack((whole, whole >> 63), axis=1)
    return pa.Array.from_buffers(pa.decimal128(38, scale), len(whole), [None, pa.py_buffer(words)])


def _parse_texts(array: pa.Array) -> npt.NDArray[np.float64]:
    """The doubles parsed from text: slower, but correct for every decimal."""
    values: npt.NDArray[np.float64] = array.cast(pa.string()).cast(pa.float64()).to_numpy()
    return values
