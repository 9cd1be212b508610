"""Counts of an array's frequent values for a top-k sketch, and a bound for all other values.

Most columns of many values have no frequent ones, and counting each value would cost more than the rest of the
statistics. So the hashes that the distinct count needs anyway are counted in buckets: no value occurs more often than
its bucket is hit, and only the values of buckets that are hit often are counted by themselves. Every bound is certain.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.values.column_values import Weights
from hmstats.sketch.values.murmur3_steps import UInt64s
from hmstats.sketch.values.numbers import Numbers

MOST_ITEMS = 256
"""The most values of one array that are passed on."""
LEAST_SHARE = 1024
"""A value that makes up less than 1/1024 of an array is not passed on, however few others there are."""

_LEAST_BUCKETS, _MOST_BUCKETS = 1 << 10, 1 << 16
_SAMPLE = 1_000


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Distinct values of an array of `count` values, with how often each occurs.

    Any other value occurs at most `unseen` times. `scale` is that of decimals which are given as whole numbers.
    """

    values: Any
    counts: Weights
    count: int
    unseen: int = 0
    scale: int | None = None


def of_repeated(array: pa.Array, weights: Weights | None) -> Frequencies | None:
    """Frequencies of strings, binaries or booleans; None if a sample shows that most of them are distinct."""
    if weights is not None:
        return Frequencies(array, weights, int(weights.sum()))
    if len(array) > _SAMPLE:
        some = array.take(pa.array(np.linspace(0, len(array) - 1, _SAMPLE).astype(np.int64)))
        if len(some.unique()) > _SAMPLE // 4:
            return None
    return Frequencies(*_count_values(array), len(array))


def of_hashed(values: Any, hashes: UInt64s) -> Frequencies:
    """Frequencies of an Arrow or numpy array whose values have these hashes."""
    count = len(values)
    least = count // LEAST_SHARE
    unseen = 0
    if least:
        places = (hashes & np.uint64(_buckets(count) - 1)).view(np.int64)
        if getattr(values, "dtype", None) == np.float64:
            places[values == 0] = 0  # -0.0 has another hash
        hits = np.bincount(places)
        heavy = hits > least
        unseen = int(hits[~heavy].max(initial=0))
        values = _where(values, heavy[places]) if heavy.any() else values[:0]
    return Frequencies(*_count_values(values), count, unseen)


def of_numbers(numbers: Numbers, hashes: UInt64s) -> Frequencies:
    """Frequencies of numbers, dates and timestamps, whose `values` have these hashes."""
    counted: Any = numbers.wide if numbers.wide is not None else numbers.whole
    if counted is None:
        counted = numbers.values
    if numbers.weights is not None:
        count = int(numbers.weights.sum())
        return Frequencies(*_add_equal(counted, numbers.weights), count, scale=numbers.scale)
    found = of_hashed(counted, hashes)
    return Frequencies(found.values, found.counts, found.count, found.unseen, numbers.scale)


def items(kind: Kind, found: Frequencies) -> tuple[list[str], list[int], int]:
    """The most frequent values as items, their weights, and the error.

    The error is subtracted from every weight: both together are the value's count (Misra and Gries 1982).
    """
    counts = found.counts
    least = found.count // LEAST_SHARE
    if len(counts) > MOST_ITEMS:
        least = max(least, int(np.partition(counts, -MOST_ITEMS - 1)[-MOST_ITEMS - 1]))
    kept = np.flatnonzero(counts > least)
    cut = int(counts[counts <= least].max(initial=found.unseen))
    return _texts(kind, found, kept), (counts[kept] - cut).tolist(), cut


def _buckets(count: int) -> int:
    """A power of two, so that a bucket has a few values when all are distinct."""
    return min(_MOST_BUCKETS, max(_LEAST_BUCKETS, 1 << count.bit_length() - 2))


def _where(values: Any, mask: npt.NDArray[np.bool_]) -> Any:
    return values[mask] if isinstance(values, np.ndarray) else values.filter(pa.array(mask))


def _count_values(values: Any) -> tuple[Any, Weights]:
    """Distinct values and their counts."""
    if not isinstance(values, np.ndarray):
        found = values.value_counts()
        return found.field("values"), found.field("counts").to_numpy()
    # Adding nothing makes 0.0 of -0.0.
    distinct: Any = np.unique(values + 0, return_counts=True)
    return distinct[0], distinct[1]


def _add_equal(values: Any, weights: Weights) -> tuple[Any, Weights]:
    """Distinct values and their counts: a dictionary may have several times of one second, and both 0.0 and -0.0."""
    if not isinstance(values, np.ndarray) or (values[1:] > values[:-1]).all():
        return values, weights
    distinct, places = np.unique(values + 0, return_inverse=True)
    return distinct, np.bincount(places, weights).astype(np.int64)


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
