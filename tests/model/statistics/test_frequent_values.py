import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.frequent_values import MOST_CHARACTERS, items, value

VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.BOOLEAN: st.booleans(),
    Kind.LONG: st.integers(-(2**63), 2**63 - 1),
    Kind.DOUBLE: st.floats(allow_nan=False),
    Kind.DECIMAL: st.decimals(-(10**38), 10**38, allow_nan=False),
    Kind.DATE: st.integers(-(2**31), 2**31 - 1),
    Kind.TIMESTAMP: st.integers(-(2**63), 2**63 - 1),
    Kind.STRING: st.text(max_size=MOST_CHARACTERS),
    Kind.BINARY: st.binary(max_size=MOST_CHARACTERS // 2),
}


@given(st.sampled_from(list(VALUES)), st.data())
def test_a_value_comes_back_from_its_text(kind: Kind, data: st.DataObject) -> None:
    given_value = data.draw(VALUES[kind])
    (text,) = items(kind, [given_value])
    found = value(kind, text)
    assert (found, type(found)) == (given_value, type(given_value))
    assert items(kind, [found]) == [text]


@pytest.mark.parametrize(
    ("kind", "given_value", "text"),
    [
        (Kind.BOOLEAN, True, "true"),
        (Kind.LONG, -5, "-5"),
        (Kind.DOUBLE, 0.1, "0.1"),
        (Kind.DOUBLE, -0.0, "0.0"),
        (Kind.DOUBLE, -math.inf, "-inf"),
        (Kind.DOUBLE, math.nan, "nan"),
        (Kind.DECIMAL, Decimal("12.30"), "12.3"),
        (Kind.DECIMAL, Decimal("-1E+3"), "-1000"),
        (Kind.DECIMAL, Decimal("0.00"), "0"),
        (Kind.DECIMAL, Decimal("9" * 38), "9" * 38),
        (Kind.DATE, -3, "-3"),
        (Kind.TIMESTAMP, 1_700_000_000, "1700000000"),
        (Kind.STRING, "ä" * 300, "ä" * 256),
        (Kind.STRING, b"na\xc3\xafve \xff", "naïve \ufffd"),
        (Kind.BINARY, b"\x00\xff", "00ff"),
        (Kind.BINARY, b"ab" * 100, "6162" * 64),
    ],
)
def test_texts(kind: Kind, given_value: object, text: str) -> None:
    assert items(kind, [given_value]) == [text]


@pytest.mark.parametrize(
    ("kind", "text"),
    [(Kind.BOOLEAN, "yes"), (Kind.LONG, "1.5"), (Kind.DOUBLE, "x"), (Kind.DECIMAL, ""), (Kind.BINARY, "0")],
)
def test_a_text_that_is_no_value_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(SketchError, match=f"of kind {kind.name} is invalid: '{text}'"):
        value(kind, text)
