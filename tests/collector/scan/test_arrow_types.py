"""Arrays are brought to their column's type, and left alone where they are."""

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from hmstats.collector.scan.arrow_types import arrow_type, conform

NOON = datetime(2020, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("column_type", "expected"),
    [
        ("decimal(38,10)", pa.decimal128(38, 10)),
        ("decimal(5)", pa.decimal128(5, 0)),
        ("decimal", pa.decimal128(10, 0)),
        ("timestamp", pa.timestamp("us")),
        ("timestamp with local time zone", pa.timestamp("us")),
        ("varchar(3)", pa.string()),
        ("char(3)", pa.string()),
        ("tinyint", pa.int8()),
    ],
)
def test_types(column_type: str, expected: pa.DataType) -> None:
    assert arrow_type(column_type) == expected


@pytest.mark.parametrize(
    ("given", "column_type", "expected"),
    [
        (pa.array([1, None], pa.int16()), "bigint", [1, None]),
        (pa.array([7], pa.int32()), "decimal(12,2)", [Decimal("7.00")]),
        (pa.array([b"abc"]), "string", ["abc"]),
        (pa.array([NOON], pa.timestamp("ns", "America/New_York")), "timestamp", [NOON.replace(tzinfo=None)]),
        (pa.array([1_500, -1, -1_000, None], pa.timestamp("ns")), "timestamp", [1, -1, -1, None]),
        (pa.array([-(2**63), 2**63 - 1], pa.timestamp("ns")), "timestamp", [-(2**63) // 1000, 2**63 // 1000]),
        (pa.array([-1], pa.timestamp("ns")).dictionary_encode(), "timestamp", [-1]),
        (pa.nulls(2), "double", [None, None]),
    ],
)
def test_values_fit(given: pa.Array, column_type: str, expected: list[object]) -> None:
    found = conform(given, arrow_type(column_type))
    assert found.type == arrow_type(column_type)
    values = found.cast(pa.int64()) if isinstance(expected[0], int) else found
    assert values.to_pylist() == expected


def test_dictionaries_and_large_texts_are_left_alone() -> None:
    for array in (pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(["a"], pa.large_string())):
        assert conform(array, pa.string()) is array


@pytest.mark.parametrize(
    ("given", "column_type"),
    [
        (pa.array([300]), "tinyint"),
        (pa.array([9_300_000_000_000_000], pa.timestamp("ms", "UTC")), "timestamp"),
        (pa.array([-9_300_000_000_000], pa.timestamp("s")), "timestamp"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error(given: pa.Array, column_type: str) -> None:
    with pytest.raises(pa.ArrowInvalid):
        conform(given, arrow_type(column_type))
