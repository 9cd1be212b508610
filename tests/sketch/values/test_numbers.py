from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.values.numbers import Bound, bounds, numbers_of

_NS = pa.timestamp("ns")


def test_numbers_of_a_small_range_are_counted() -> None:
    found = numbers_of(pa.array([7, 5, 7, 9, 5, 7]), None, Kind.LONG)
    assert found.weights is not None
    assert (found.values.tolist(), found.weights.tolist()) == ([5, 7, 9], [2, 3, 1])


def test_numbers_far_apart_are_left_as_they_are() -> None:
    far = [-(2**63), 2**63 - 1, 0]
    found = numbers_of(pa.array(far), None, Kind.LONG)
    assert (found.values.tolist(), found.weights) == (far, None)


def test_decimals_are_counted_as_whole_numbers() -> None:
    array = pa.array([Decimal("0.25"), Decimal("-0.01"), Decimal("0.25")] * 20, pa.decimal128(20, 2))
    found = numbers_of(array, None, Kind.DECIMAL)
    assert found.weights is not None
    assert found.whole is not None
    assert (found.whole.tolist(), found.weights.tolist(), found.scale) == ([-1, 25], [20, 40], 2)
    assert found.values.tolist() == [-0.01, 0.25]


def test_a_slice_of_decimals_is_its_own_values() -> None:
    array = pa.array([Decimal(1), Decimal(20), Decimal(300)], pa.decimal128(9, 0)).slice(1, 1)
    assert numbers_of(array, None, Kind.DECIMAL).values.tolist() == [20.0]


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        (Kind.LONG, pa.array([3, -2]), (-2, 3)),
        (Kind.DECIMAL, pa.array([Decimal("1.50"), Decimal("-9.99")]), (Decimal("-9.99"), Decimal("1.50"))),
        (Kind.DECIMAL, pa.array([Decimal("9" * 38), Decimal(1)]), (Decimal(1), Decimal("9" * 38))),
        (Kind.DECIMAL, pa.array([Decimal("12E+3")], pa.decimal128(5, -3)), (Decimal(12_000), Decimal(12_000))),
        (Kind.DOUBLE, pa.array([np.nan, -0.0, -np.inf]), (-np.inf, 0.0)),
        (Kind.DOUBLE, pa.array([np.nan]), None),
        (Kind.TIMESTAMP, pa.array([-1, 1_999_999_999], pa.int64()).view(_NS), (-1, 1)),
    ],
)
def test_bounds(kind: Kind, array: pa.Array, expected: tuple[Bound, Bound] | None) -> None:
    assert bounds(numbers_of(array, None, kind)) == expected
