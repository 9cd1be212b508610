"""How often the values of an array occur, as a top-k sketch wants to know it: the frequent ones exactly, a bound for
the rest.

A large array is looked at in a sample first. When no value of the sample is frequent, the column has no frequent
values or nearly none, and counting them all would cost more than the rest of its statistics: then only a bound is
known. It holds with a probability of more than 99.9 % (Chernoff's bound for each value that could break it).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.model import frequent_values
from hmstats.model.column_statistics import Kind
from hmstats.sketch.column_values import Numbers, Weights
from hmstats.sketch.decimal_doubles import unscaled

MOST_ITEMS = 256
"""Kept of one array; a value that makes up less than this part of it may be passed over."""

_LEAST_SHARE = 1024
"""A value that makes up less than this part of an array is not kept, however few others there are."""
_SAMPLE_EVERY = 8
_LEAST_SAMPLED = 65_536
_MOST_COUNTERS = 65_536
"""Whole numbers in a range that is no larger are counted without sorting them."""
_LOG_CONFIDENCE = math.log(1e6)


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The distinct values of an array with how often each occurs; none when only a bound is known.

    Any other value occurs at most `unseen` times. `scale` is that of decimals which are given as whole numbers.
    """

    values: Any
    counts: Weights
    unseen: int = 0
    scale: int | None = None


def of_texts(array: pa.Array, weights: Weights | None) -> Frequencies:
    """Of strings and binaries, each of which occurs as often as its weight says."""
    return _of_array(array) if weights is None else Frequencies(array, weights)


def of_numbers(array: pa.Array, values: Numbers, weights: Weights | None) -> Frequencies:
    """Of all other kinds: `array` and `values` are the same (column_values.numbers), each as often as its weight."""
    scale = None
    if pa.types.is_decimal(array.type):
        whole = unscaled(array)
        if whole is None:
            return of_texts(array, weights)
        values, scale = whole, array.type.scale
    if weights is None:
        values, weights, unseen = _of_numbers(values)
        return Frequencies(values, weights, unseen, scale)
    return Frequencies(values, weights, scale=scale)


def items(kind: Kind, found: Frequencies) -> tuple[list[str], list[int], int]:
    """The most frequent values as items, their weights, and how many times more often anything may occur.

    What is taken from every weight is the count of the most frequent value that is left out.
    """
    counts = found.counts
    least = int(counts.sum()) // _LEAST_SHARE if len(counts) else 0
    if len(counts) > MOST_ITEMS:
        least = max(least, int(np.partition(counts, -MOST_ITEMS - 1)[-MOST_ITEMS - 1]))
    kept = np.flatnonzero(counts > least)
    cut = int(counts[counts <= least].max(initial=0))
    return _texts(kind, found, kept), (counts[kept] - cut).tolist(), max(cut, found.unseen)


def _of_array(array: pa.Array) -> Frequencies:
    picked = _sample(len(array))
    if picked is not None:
        bound = _flat_bound(_arrow_counts(array.take(pa.array(picked)))[1], len(array))
        if bound is not None:
            return Frequencies(array.slice(0, 0), np.zeros(0, np.int64), bound)
    return Frequencies(*_arrow_counts(array))


def _arrow_counts(array: pa.Array) -> tuple[pa.Array, Weights]:
    found = array.value_counts()
    return found.field("values"), found.field("counts").to_numpy()


def _of_numbers(values: Numbers) -> tuple[Numbers, Weights, int]:
    """The distinct values, their counts, and the bound for any other."""
    if values.dtype == np.int64:
        low, high = int(values.min()), int(values.max())
        if high - low < min(len(values), _MOST_COUNTERS):
            counts = np.bincount(values - low)
            there = np.flatnonzero(counts)
            return there + low, counts[there], 0
    picked = _sample(len(values))
    if picked is not None:
        bound = _flat_bound(np.unique(values[picked], return_counts=True)[1], len(values))
        if bound is not None:
            return values[:0], np.zeros(0, np.int64), bound
    found: Any = np.unique(values, return_counts=True)
    return found[0], found[1], 0


def _sample(count: int) -> npt.NDArray[np.int64] | None:
    """The places of one value of every group of neighbours; None when there are too few."""
    if count < _LEAST_SAMPLED:
        return None
    groups = count // _SAMPLE_EVERY
    return np.arange(groups) * _SAMPLE_EVERY + np.random.default_rng().integers(0, _SAMPLE_EVERY, groups)


def _flat_bound(counts: Weights, count: int) -> int | None:
    """How often a value occurs at most among `count` without frequent ones; None when there may be some.

    `counts` are those in the sample.
    """
    bound = _SAMPLE_EVERY * (_largest_mean(int(counts.max())) + 1)
    return bound if bound <= count // MOST_ITEMS else None


def _largest_mean(seen: int) -> int:
    """The mean at which so few or fewer are seen once in a million times: exp(-(mean - seen)^2 / (2 mean))."""
    return math.ceil(seen + _LOG_CONFIDENCE + math.sqrt(_LOG_CONFIDENCE**2 + 2 * seen * _LOG_CONFIDENCE))


def _texts(kind: Kind, found: Frequencies, kept: npt.NDArray[np.intp]) -> list[str]:
    values = found.values
    if isinstance(values, np.ndarray):
        if found.scale is not None:
            return frequent_values.items(kind, (Decimal(each).scaleb(-found.scale) for each in values[kept].tolist()))
        return frequent_values.items(kind, values[kept].tolist())
    chosen = values.take(pa.array(kept))
    if kind is Kind.STRING:
        # A file may hold texts that are no UTF-8.
        chosen = chosen.cast(pa.large_binary())
    return frequent_values.items(kind, chosen.to_pylist())
