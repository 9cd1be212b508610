import math
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.frequent_values import items
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.sketch.frequent.frequencies import LEAST_SHARE, MOST_ITEMS
from hmstats.sketch.frequent.top_k import TopK

ROWS = 200_000
_random = np.random.default_rng(3)


def sketch(kind: Kind, *arrays: pa.Array) -> TopK:
    made = ColumnAccumulator.empty(kind)
    for array in arrays:
        made.update(array)
    assert made.top_k is not None
    return made.top_k


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        (Kind.BOOLEAN, pa.array([True, None, False, True]), [("true", 2), ("false", 1)]),
        (Kind.BOOLEAN, pa.array([True]), [("true", 1)]),
        (Kind.LONG, pa.array([7, -1, None, 7], pa.int8()), [("7", 2), ("-1", 1)]),
        (Kind.LONG, pa.array([2**63 - 1, -(2**63), 2**63 - 1]), [(str(2**63 - 1), 2), (str(-(2**63)), 1)]),
        (Kind.DOUBLE, pa.array([math.nan, 0.5, math.nan]), [("nan", 2), ("0.5", 1)]),
        (Kind.DOUBLE, pa.array([0.0, -0.0, math.inf]), [("0.0", 2), ("inf", 1)]),
        (Kind.DECIMAL, pa.array([Decimal("1.50"), Decimal("-0.25"), Decimal("1.50")]), [("1.5", 2), ("-0.25", 1)]),
        (Kind.DECIMAL, pa.array([Decimal("9" * 38), Decimal("9" * 38)]), [("9" * 38, 2)]),
        (Kind.DECIMAL, pa.array([Decimal("12E+3")], pa.decimal128(5, -3)), [("12000", 1)]),
        (Kind.DECIMAL, pa.array([Decimal("2.5")], pa.decimal256(50, 3)), [("2.5", 1)]),
        (Kind.DATE, pa.array([3, -3, 3], pa.int32()).view(pa.date32()), [("3", 2), ("-3", 1)]),
        (
            Kind.TIMESTAMP,
            pa.array([1_999_999, 1_000_000, -1], pa.int64()).view(pa.timestamp("us")),
            [("1", 2), ("-1", 1)],
        ),
        (Kind.STRING, pa.array(["b", "", None, "b"]), [("b", 2), ("", 1)]),
        (Kind.STRING, pa.array(["x" * 300 + "a", "x" * 300 + "b"]), [("x" * 256, 2)]),
        (Kind.BINARY, pa.array([b"\x00\xff", b"\x00\xff", b""]), [("00ff", 2), ("", 1)]),
    ],
)
def test_values_of_each_kind(kind: Kind, array: pa.Array, expected: list[tuple[str, int]]) -> None:
    for form in (array, array.dictionary_encode()) if kind is not Kind.BOOLEAN else (array,):
        found = sketch(kind, form)
        assert found.top() == [(text, count, count) for text, count in expected]
        assert found.count == sum(count for _, count in expected)


@pytest.mark.parametrize(
    ("kind", "values", "item"),
    [
        (Kind.DOUBLE, pa.array([0.0] * 900 + [-0.0] * 900 + [1.5] * 3), "0.0"),
        (Kind.TIMESTAMP, pa.array([1] * 900 + [2] * 900 + [10**6] * 3).cast(pa.timestamp("us")), "0"),
    ],
)
def test_values_of_a_dictionary_that_count_as_one_are_one(kind: Kind, values: pa.Array, item: str) -> None:
    """The rare value is left out, and that many are the error of each item."""
    rare = pa.concat_arrays([values, pa.array([7 * 10**6]).cast(values.type)])
    for form in (rare, rare.dictionary_encode()):
        found = sketch(kind, form)
        assert {text: (low, high) for text, low, high in found.top()}[item] == (1799, 1800)


def test_texts_that_are_no_utf8_are_counted() -> None:
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"\xff", b"\xff"]).buffers())
    assert sketch(Kind.STRING, broken).top() == [("\ufffd", 2, 2)]


@given(st.lists(st.integers(-40, 40), max_size=200), st.sampled_from([1, 10**6]))
def test_numbers_near_together_and_far_apart_are_counted_alike(numbers: list[int], factor: int) -> None:
    values = [number * factor for number in numbers]
    truth = Counter(str(each) for each in values)
    found = sketch(Kind.LONG, pa.array(values, pa.int64()))
    assert {text: low for text, low, _ in found.top()} == truth
    assert found.error == 0


def large(form: str, numbers: Any) -> tuple[Kind, pa.Array]:
    """The numbers as values of a kind."""
    forms: dict[str, tuple[Kind, pa.Array]] = {
        "long": (Kind.LONG, pa.array(numbers * 1_000_003)),
        "small long": (Kind.LONG, pa.array(numbers)),
        "double": (Kind.DOUBLE, pa.array(numbers / 7)),
        "string": (Kind.STRING, pa.array(numbers).cast(pa.string())),
        "dictionary": (Kind.STRING, pa.array(numbers).cast(pa.string()).dictionary_encode()),
        "decimal": (Kind.DECIMAL, pa.array(numbers).cast(pa.decimal128(20, 0))),
    }
    return forms[form]


FORMS = ("long", "small long", "double", "string", "dictionary", "decimal")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.01, 0.3])
def test_a_frequent_value_among_distinct_ones_is_found(form: str, share: float) -> None:
    numbers = np.arange(ROWS)
    numbers[: int(ROWS * share)] = 5
    _random.shuffle(numbers)
    truth = int((numbers == 5).sum())
    kind, array = large(form, numbers)
    found = sketch(kind, array, array)
    ((_, low, high),) = found.top(1)
    assert low <= 2 * truth <= high
    assert (found.count, len(found.top())) == (2 * ROWS, 1)
    assert found.error <= found.count // LEAST_SHARE


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("distinct", [ROWS, 5_000])
def test_no_value_of_a_column_without_frequent_ones_is_kept_and_the_bound_holds(form: str, distinct: int) -> None:
    numbers = np.arange(ROWS) % distinct
    _random.shuffle(numbers)
    found = sketch(*large(form, numbers))
    assert found.top() == []
    assert ROWS // distinct <= found.error <= ROWS // LEAST_SHARE
    assert len(found.to_bytes()) < 40


def test_both_zeros_are_one_value() -> None:
    values = np.arange(ROWS, dtype=np.float64)
    values[1_000:1_150], values[2_000:2_150] = 0.0, -0.0
    ((text, low, high),) = sketch(Kind.DOUBLE, pa.array(values)).top(1)
    assert (text, high) == ("0.0", 301)
    assert low >= 250


@given(
    st.integers(0, 2**32), st.sampled_from([3_000, 20_000]), st.sampled_from(FORMS), st.sampled_from([1.2, 1.6, 3.0])
)
@settings(max_examples=30)
def test_every_bound_holds(seed: int, rows: int, form: str, skew: float) -> None:
    numbers = np.minimum(np.random.default_rng(seed).zipf(skew, rows), 10**6)
    kind, array = large(form, numbers)
    truth = Counter(items(kind, array.to_pylist()))
    found = sketch(kind, array)
    kept = {text: (low, high) for text, low, high in found.top()}
    assert all(low <= truth[text] == high for text, (low, high) in kept.items())
    assert max((count for text, count in truth.items() if text not in kept), default=0) <= found.error
    assert found.error <= max(rows // MOST_ITEMS, 1)


def test_values_that_come_at_fixed_distances_are_not_overlooked() -> None:
    numbers = np.arange(ROWS) + 10
    numbers[3::64] = 1
    assert sketch(*large("long", numbers)).top(1)[0][0] == "1000003"


def test_the_most_frequent_are_kept_of_many_and_what_is_left_out_is_in_the_error() -> None:
    truth = {str(number): 300 - number for number in range(300)}
    numbers = np.repeat(np.arange(300), np.arange(300, 0, -1))
    _random.shuffle(numbers)
    found = sketch(*large("string", numbers))
    assert found.error == 300 - MOST_ITEMS
    kept = found.top()
    assert len(kept) == MOST_ITEMS
    assert all(high == truth[text] and low == truth[text] - found.error for text, low, high in kept)


def test_it_is_kept_only_when_asked_for_and_by_both_sides() -> None:
    with_one, without = ColumnAccumulator.empty(Kind.LONG), ColumnAccumulator.empty(Kind.LONG, top_k=False)
    for each in (with_one, without):
        each.update(pa.array([1, 1, 2]))
    assert without.top_k is None
    assert with_one.merge(without).top_k is None
    assert ColumnAccumulator.from_bytes(without.to_bytes()).top_k is None
    read = ColumnAccumulator.from_bytes(with_one.merge(with_one).to_bytes())
    assert read.top_k is not None
    assert read.top_k.top() == [("1", 4, 4), ("2", 2, 2)]
