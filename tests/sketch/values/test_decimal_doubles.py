from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.sketch.values.decimal_doubles import doubles


@given(
    st.data(), st.sampled_from([(18, 0), (15, 2), (38, 18), (38, 22), (38, 30), (38, 38), (9, 9)]), st.integers(0, 2)
)
def test_each_is_the_nearest_double(data: st.DataObject, digits_and_scale: tuple[int, int], start: int) -> None:
    digits, scale = digits_and_scale
    limit = 10**digits - 1
    unscaled = data.draw(st.lists(st.integers(-limit, limit) | st.integers(-min(limit, 10**9), min(limit, 10**9))))
    values = [Decimal(f"{number}E-{scale}") for number in unscaled]
    array = pa.array(values, pa.decimal128(digits, scale)).slice(min(start, len(values)))
    assert doubles(array).tolist() == [float(value) for value in values[start:]]


@pytest.mark.parametrize("text", ["9007199254740993", "-9007199254740993", "0.1", "1E+3", "-0.30", "0"])
def test_wide_decimals_and_edges(text: str) -> None:
    value = Decimal(text)
    assert doubles(pa.array([value], pa.decimal256(60, 10))).tolist() == [float(value)]
    assert doubles(pa.array([value], pa.decimal128(30, 10))).tolist() == [float(value)]
    assert doubles(pa.array([value], pa.decimal128(20, 2)))[0] == float(value)


def test_a_negative_scale() -> None:
    assert doubles(pa.array([Decimal("12E+3")], pa.decimal128(5, -3))).tolist() == [12_000.0]
