"""The bytes of a DataSketches KLL float sketch, looked through before the library reads them.

    byte 0      5, or 2 of a sketch of at most one value
    byte 1      version: 1, or 2 of a single value
    byte 2      family: 15
    byte 3      flags: 1 empty, 2 the lowest level is sorted, 4 a single value
    bytes 4-7   k, as 16 bits; m = 8; unused
    bytes 8-19  count of values, as 64 bits; smallest k of all merged, as 16 bits; count of levels; unused
    then        start of each level, as 32 bits; smallest and largest value; the kept values, lowest level first

Little-endian. Starts count from the front of a buffer that is filled from its end; its size follows from k and the
levels (Apache DataSketches, kll_helper.compute_total_capacity). A value on level h stands for 2^h values.
"""

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError

Floats = npt.NDArray[np.float32]

MIN_K = 8
_FAMILY = 15
_M = 8
_EMPTY, _LEVEL_ZERO_SORTED, _SINGLE = 1, 2, 4
_MAX_LEVELS = 61
_FIRST = struct.Struct("<BBBBHBx")
_REST = struct.Struct("<QHBx")


@dataclass(frozen=True, slots=True)
class Levels:
    """A sketch of two values or more: `starts` has one entry more than there are levels, the end of the last."""

    k: int
    min_k: int
    count: int
    flags: int
    starts: npt.NDArray[np.int64]
    low: float
    high: float
    items: Floats


def check(data: bytes) -> None:
    """Raise SketchError unless these are the bytes of a sound KLL float sketch."""
    if len(data) < _FIRST.size:
        raise SketchError(f"a KLL sketch has at least {_FIRST.size} bytes, not {len(data)}")
    ints, version, family, flags, k, m = _FIRST.unpack_from(data)
    if family != _FAMILY or m != _M or k < MIN_K:
        raise SketchError(f"a KLL sketch has family 15, k from {MIN_K} and m = 8; these bytes {family}, {k} and {m}")
    short = {(2, 1, _EMPTY): _FIRST.size, (2, 2, _SINGLE): _FIRST.size + 4}.get((ints, version, flags & 5))
    if short is None and (ints, version, flags & 5) != (5, 1, 0):
        raise SketchError(
            f"a KLL float sketch has inconsistent first bytes: size {ints}, version {version}, flags {flags}"
        )
    if short is not None and len(data) != short:
        raise SketchError(f"a KLL float sketch of at most one value has {short} bytes, not {len(data)}")
    if short == _FIRST.size + 4 and np.isnan(_floats(data[_FIRST.size :])[0]):
        raise SketchError("the single value of a KLL sketch is not a number")
    if short is None:
        _check_levels(read(data))


def read(data: bytes) -> Levels:
    """The levels of a sketch of two values or more. Raises SketchError when its parts do not have its length."""
    header = _FIRST.size + _REST.size
    if len(data) < header:
        raise SketchError(f"a KLL sketch of several values has more than {header} bytes, not {len(data)}")
    _, _, _, flags, k, _ = _FIRST.unpack_from(data)
    count, min_k, levels = _REST.unpack_from(data, _FIRST.size)
    if not 1 <= levels <= _MAX_LEVELS or not MIN_K <= min_k <= k:
        raise SketchError(f"a KLL sketch of k = {k} has 1 to {_MAX_LEVELS} levels, not {levels}, or a wrong k: {min_k}")
    items_at = header + 4 * levels + 8
    if len(data) < items_at or len(data) % 4:
        raise SketchError(f"a KLL float sketch of {levels} levels does not have {len(data)} bytes")
    starts = np.frombuffer(data, "<u4", levels, header)
    low, high = _floats(data[items_at - 8 : items_at])
    every_start = np.append(starts, capacity(k, levels)).astype(np.int64)
    return Levels(k, min_k, count, flags, every_start, float(low), float(high), _floats(data[items_at:]))


def write(sketch: Levels) -> bytes:
    """The bytes of a sketch of two values or more."""
    first = _FIRST.pack(5, 1, _FAMILY, sketch.flags, sketch.k, _M)
    rest = _REST.pack(sketch.count, sketch.min_k, len(sketch.starts) - 1)
    bounds = np.array([sketch.low, sketch.high])
    arrays: list[tuple[Any, str]] = [(sketch.starts[:-1], "<u4"), (bounds, "<f4"), (sketch.items, "<f4")]
    return first + rest + b"".join(array.astype(kind).tobytes() for array, kind in arrays)


def lift(sketch: Levels, levels: int, low: float, high: float) -> Levels:
    """A sketch of a sample in which each value stands for 2^levels ones, whose bounds are `low` and `high`."""
    lowest = int(sketch.starts[1] - sketch.starts[0])
    items = np.concatenate((np.sort(sketch.items[:lowest]), sketch.items[lowest:]))
    grown = capacity(sketch.k, len(sketch.starts) - 1 + levels)
    starts = sketch.starts + (grown - sketch.starts[-1])
    every_start = np.concatenate((np.full(levels, starts[0]), starts))
    flags = _LEVEL_ZERO_SORTED
    return Levels(sketch.k, sketch.min_k, sketch.count << levels, flags, every_start, low, high, items)


def capacity(k: int, levels: int) -> int:
    """How many values fit into so many levels: k on the top one, two thirds of that on each one lower, at least 8."""
    return sum(max(_M, _level_capacity(k, depth)) for depth in range(levels))


def _level_capacity(k: int, depth: int) -> int:
    if depth > 30:
        return _level_capacity(_level_capacity(k, depth // 2), depth - depth // 2)
    return ((k << depth + 1) // int(3**depth) + 1) // 2


def _check_levels(sketch: Levels) -> None:
    sizes = np.diff(sketch.starts)
    if (sizes < 0).any() or sizes.sum() != len(sketch.items):
        raise SketchError(f"a KLL sketch keeps {len(sketch.items)} values, but its levels {sizes.tolist()}")
    stood_for = sum(int(size) << level for level, size in enumerate(sizes))
    if stood_for != sketch.count:
        raise SketchError(f"a KLL sketch's values stand for {stood_for} values, but it says {sketch.count}")
    if not (sketch.items >= sketch.low).all() or not (sketch.items <= sketch.high).all():
        raise SketchError(f"a KLL sketch keeps values that are not between its bounds {sketch.low} and {sketch.high}")
    falls = np.flatnonzero(sketch.items[1:] < sketch.items[:-1]) + 1
    level_starts = sketch.starts - sketch.starts[0]
    if not sketch.flags & _LEVEL_ZERO_SORTED:
        falls = falls[falls > level_starts[1]]
    if not np.isin(falls, level_starts).all():
        raise SketchError("a KLL sketch has a level that is not sorted")


def _floats(data: bytes) -> Floats:
    return np.frombuffer(data, "<f4")
