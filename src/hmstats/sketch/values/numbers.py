"""Numbers, decimals, dates and timestamps of an array, as integers if possible.

Integers in a range no larger than their count, such as dates, quantities or keys of small tables, are counted without
sorting or hashing, and become sorted distinct values with weights.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.values.column_values import Weights
from hmstats.sketch.values.decimal_doubles import doubles, to_unscaled, unscaled_doubles

Bound: TypeAlias = int | float | Decimal
Int64s = npt.NDArray[np.int64]
Values = Int64s | npt.NDArray[np.float64]

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers without nulls, each as often as `weights` says; None: once.

    `values` are hashed and kept in the histogram: int64 (values, days, seconds) or float64 (doubles and decimals).
    `whole` are the same as whole numbers, a decimal's times 10^`scale`; None for doubles, and for decimals that 64 bits
    do not hold: these are in `wide`.
    """

    values: Values
    weights: Weights | None
    whole: Int64s | None = None
    scale: int | None = None
    wide: pa.Array | None = None


def numbers_of(array: pa.Array, weights: Weights | None, kind: Kind) -> Numbers:
    """The numbers of an array from `column_values.present`.

    A timestamp's fraction of a second is cut off downwards, as Hive does.
    """
    if kind is Kind.DOUBLE:
        return Numbers(array.to_numpy(), weights)
    if kind is not Kind.DECIMAL:
        whole, weights = _count_numbers(_to_integers(array, kind), weights)
        return Numbers(whole, weights, whole)
    scaled = to_unscaled(array)
    if scaled is None:
        return Numbers(doubles(array), weights, wide=array)
    scaled, weights = _count_numbers(scaled, weights)
    return Numbers(unscaled_doubles(scaled, array.type.scale), weights, scaled, array.type.scale)


def bounds(numbers: Numbers) -> tuple[Bound, Bound] | None:
    """The least and the greatest value: exact decimals of a decimal array; None when there are only NaNs.

    -0.0 is 0.0 here, so that the bounds do not depend on the order of the values.
    """
    if numbers.wide is not None:
        ends = pc.min_max(numbers.wide)
        return ends["min"].as_py(), ends["max"].as_py()
    if numbers.whole is not None:
        low, high = int(numbers.whole.min()), int(numbers.whole.max())
        return (low, high) if numbers.scale is None else (_decimal(low, numbers.scale), _decimal(high, numbers.scale))
    least, greatest = np.fmin.reduce(numbers.values), np.fmax.reduce(numbers.values)
    return None if np.isnan(least) else ((least + 0).item(), (greatest + 0).item())


def _to_integers(array: pa.Array, kind: Kind) -> Int64s:
    if kind is not Kind.TIMESTAMP:
        values: Int64s = array.to_numpy()
        return values
    ticks: Int64s = array.view(pa.int64()).to_numpy()
    return ticks if array.type.unit == "s" else ticks // _PER_SECOND[array.type.unit]


def _count_numbers(whole: Int64s, weights: Weights | None) -> tuple[Int64s, Weights | None]:
    """The distinct numbers in order and their counts, where their range is small; else as they are."""
    if weights is not None:
        return whole, weights
    low, high = int(whole.min()), int(whole.max())
    if high - low >= len(whole):
        return whole, None
    counts = np.bincount(whole - low)
    there = np.flatnonzero(counts)
    return there + low, counts[there]


def _decimal(whole: int, scale: int) -> Decimal:
    return Decimal(whole).scaleb(-scale)
