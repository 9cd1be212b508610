"""Bounds in Spark's texts and back."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import Kind
from hmstats.outlets.spark.spark_bounds import bound_text, bound_value

FIRST_DAY, LAST_DAY = -719162, 2932896
CASES = (
    ("tinyint", Kind.LONG, st.integers(-128, 127)),
    ("smallint", Kind.LONG, st.integers(-(2**15), 2**15 - 1)),
    ("int", Kind.LONG, st.integers(-(2**31), 2**31 - 1)),
    ("bigint", Kind.LONG, st.integers(-(2**63), 2**63 - 1)),
    ("float", Kind.DOUBLE, st.floats(width=32, allow_nan=False)),
    ("double", Kind.DOUBLE, st.floats(allow_nan=False)),
    ("decimal(38,10)", Kind.DECIMAL, st.integers(-(10**38) + 1, 10**38 - 1).map(lambda each: Decimal(f"{each}E-10"))),
    ("date", Kind.DATE, st.integers(FIRST_DAY, LAST_DAY)),
    ("timestamp", Kind.TIMESTAMP, st.integers(FIRST_DAY * 86_400, LAST_DAY * 86_400 + 86_399)),
)


@given(st.one_of(*(st.tuples(st.just(kind), st.just(of), values) for of, kind, values in CASES)))
def test_a_bound_comes_back(case: tuple[Kind, str, Any]) -> None:
    kind, column_type, bound = case
    text = bound_text(kind, column_type, bound)
    assert text is not None
    assert bound_value(kind, column_type, 2, text) == bound


@pytest.mark.parametrize(
    ("kind", "column_type", "text", "expected"),
    [
        (Kind.LONG, "bigint", "-7", -7),
        (Kind.DOUBLE, "double", "9.99E12", 9.99e12),
        (Kind.DOUBLE, "double", "-Infinity", float("-inf")),
        (Kind.DOUBLE, "float", "99.9", float(np.float32(99.9))),
        (Kind.DECIMAL, "decimal(12,2)", "1498.50", Decimal("1498.50")),
        (Kind.DATE, "date", "2002-09-26", 11956),
        (Kind.DATE, "date", "0001-01-01", FIRST_DAY),
        (Kind.TIMESTAMP, "timestamp", "1970-01-01 00:24:58.500000", 1498),
        (Kind.TIMESTAMP, "timestamp", "1969-12-31 23:59:59.500000", -1),
    ],
)
def test_spark_is_understood(kind: Kind, column_type: str, text: str, expected: Any) -> None:
    """Texts as Spark 4.3 stores them."""
    assert bound_value(kind, column_type, 2, text) == expected


@pytest.mark.parametrize(
    ("kind", "column_type", "bound", "expected"),
    [
        (Kind.LONG, "int", 5, "5"),
        (Kind.DOUBLE, "float", float(np.float32(99.9)), "99.9"),
        (Kind.DOUBLE, "double", float("inf"), "Infinity"),
        (Kind.DOUBLE, "double", float("nan"), "NaN"),
        (Kind.DOUBLE, "float", 1e300, "1.0E300"),
        (Kind.DOUBLE, "float", float(np.float32(1e10)), "1.0E10"),
        (Kind.DOUBLE, "double", 9.99e12, "9.99E12"),
        (Kind.DOUBLE, "double", -1.5, "-1.5"),
        (Kind.DOUBLE, "double", 0.0, "0.0"),
        (Kind.DOUBLE, "double", -0.0, "-0.0"),
        (Kind.DOUBLE, "double", 1234567.0, "1234567.0"),
        (Kind.DOUBLE, "double", 12345678.0, "1.2345678E7"),
        (Kind.DOUBLE, "double", 0.001, "0.001"),
        (Kind.DOUBLE, "double", -0.000123, "-1.23E-4"),
        (Kind.DOUBLE, "double", 5e-324, "5.0E-324"),
        (Kind.DECIMAL, "decimal(12,2)", Decimal("1E+3"), "1000"),
        (Kind.DATE, "date", 11956, "2002-09-26"),
        (Kind.TIMESTAMP, "timestamp", -1, "1969-12-31 23:59:59.000000"),
    ],
)
def test_spark_can_read_it(kind: Kind, column_type: str, bound: Any, expected: str) -> None:
    assert bound_text(kind, column_type, bound) == expected


@pytest.mark.parametrize(
    ("kind", "column_type", "bound"),
    [
        (Kind.LONG, "tinyint", 128),
        (Kind.LONG, "int", -(2**31) - 1),
        (Kind.DECIMAL, "decimal(38,0)", Decimal(10**38)),
        (Kind.DECIMAL, "decimal(38,0)", Decimal("1E+38")),
        (Kind.DECIMAL, "decimal(38,0)", Decimal("NaN")),
        (Kind.DATE, "date", LAST_DAY + 1),
        (Kind.TIMESTAMP, "timestamp", FIRST_DAY * 86_400 - 1),
        (Kind.STRING, "string", "x"),
        (Kind.LONG, "int", None),
    ],
)
def test_what_spark_could_not_read_is_left_out(kind: Kind, column_type: str, bound: Any) -> None:
    assert bound_text(kind, column_type, bound) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.LONG, "1.5"),
        (Kind.LONG, str(2**63)),
        (Kind.DOUBLE, "NaN"),
        (Kind.DECIMAL, "many"),
        (Kind.DECIMAL, "Infinity"),
        (Kind.DATE, "2001-02-29"),
        (Kind.TIMESTAMP, "noon"),
        (Kind.BOOLEAN, "true"),
        (Kind.LONG, None),
    ],
)
def test_a_text_that_says_no_bound(kind: Kind, text: str | None) -> None:
    assert bound_value(kind, "bigint", 2, text) is None


def test_a_timestamp_of_the_first_version_is_in_an_unknown_time_zone() -> None:
    assert bound_value(Kind.TIMESTAMP, "timestamp", 1, "2001-01-01 10:00:00.0") is None
    assert bound_value(Kind.DATE, "date", 1, "2001-01-01") == 11323
