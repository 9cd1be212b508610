"""Bounds in Arrow's form and back."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import Kind
from hmstats.outlets.arrow.bounds import decode, encode, exactly

DAYS, SECONDS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**33), 2**33)


def unscaled_fits(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**precision - 1
    return st.integers(-most, most).map(lambda unscaled: Decimal(f"{unscaled}E{-scale}"))


@given(
    st.one_of(
        st.tuples(st.just(Kind.LONG), st.integers(-(2**63), 2**63 - 1), st.sampled_from([pa.int8(), pa.int64()])),
        st.tuples(st.just(Kind.DOUBLE), st.floats(allow_nan=False), st.sampled_from([pa.float32(), pa.float64()])),
        st.tuples(st.just(Kind.DATE), DAYS, st.sampled_from([pa.date32(), pa.date64()])),
        st.tuples(
            st.just(Kind.TIMESTAMP), SECONDS, st.sampled_from([pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")])
        ),
        st.tuples(st.just(Kind.DECIMAL), unscaled_fits(38, 0), st.just(pa.decimal128(38, 0))),
        st.tuples(st.just(Kind.DECIMAL), unscaled_fits(7, 7), st.just(pa.decimal128(7, 7))),
        st.tuples(st.just(Kind.DECIMAL), unscaled_fits(76, 3), st.just(pa.decimal256(76, 3))),
        st.tuples(st.just(Kind.DECIMAL), st.integers(0, 2**64 - 1).map(Decimal), st.just(pa.uint64())),
    ),
    st.booleans(),
)
def test_a_bound_comes_back(case: tuple[Kind, Any, pa.DataType], high: bool) -> None:
    kind, bound, column = case
    held = encode(bound, column)
    assert held is not None
    value, type_ = held
    assert type_ == column or type_ in (pa.int64(), pa.float64())
    (scalar,) = pa.array([value], type_)
    assert scalar.is_valid
    assert decode(kind, value, type_, high=high) == bound


@pytest.mark.parametrize(
    ("bound", "column"),
    [
        (2**63, pa.int64()),
        (-(2**63) - 1, pa.int64()),
        (2**31, pa.date32()),
        (2**60, pa.date64()),
        (2**63 // 1_000_000 + 1, pa.timestamp("us")),
        (Decimal(100), pa.decimal128(4, 2)),
        (Decimal("0.001"), pa.decimal128(4, 2)),
        (Decimal("1E+400"), pa.decimal128(4, 2)),
        (Decimal(-1), pa.uint64()),
        (Decimal(2**64), pa.uint64()),
        (Decimal(1), pa.int64()),
    ],
)
def test_what_the_columns_type_cannot_hold(bound: Any, column: pa.DataType) -> None:
    assert encode(bound, column) is None


@pytest.mark.parametrize(
    ("kind", "value", "type_", "low", "high"),
    [
        (Kind.LONG, 2.5, pa.float64(), 2, 3),
        (Kind.LONG, 7, pa.uint8(), 7, 7),
        (Kind.DOUBLE, 3, pa.int32(), 3.0, 3.0),
        (Kind.DECIMAL, 3, pa.int32(), Decimal(3), Decimal(3)),
        (Kind.DECIMAL, 0.1, pa.float64(), Decimal("0.1"), Decimal("0.1")),
        (Kind.TIMESTAMP, -1, pa.timestamp("ms"), -1, -1),
        (Kind.TIMESTAMP, 1_999, pa.timestamp("ms"), 1, 1),
        (Kind.DOUBLE, float("nan"), pa.float64(), None, None),
        (Kind.LONG, float("inf"), pa.float64(), None, None),
        (Kind.DECIMAL, float("inf"), pa.float64(), None, None),
        (Kind.DATE, "2020-01-01", pa.string(), None, None),
        (Kind.LONG, None, pa.null(), None, None),
    ],
)
def test_what_others_write(kind: Kind, value: Any, type_: pa.DataType, low: object, high: object) -> None:
    assert decode(kind, value, type_, high=False) == low
    assert decode(kind, value, type_, high=True) == high


def test_timestamps_have_whole_seconds_only() -> None:
    assert not exactly(Kind.TIMESTAMP, pa.timestamp("us"))
    assert exactly(Kind.TIMESTAMP, pa.timestamp("s"))
    assert exactly(Kind.DATE, pa.date32())
