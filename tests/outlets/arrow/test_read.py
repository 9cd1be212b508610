"""What reading takes: the specification's form, and every form near it that writers have been seen to use."""

from collections.abc import Callable
from typing import Any

import nanoarrow as na
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.outlets import examples

from hmstats.errors import InvalidInput
from hmstats.outlets.arrow.build import Statistic, array, arrays
from hmstats.outlets.arrow.read import statistics

VALUES: st.SearchStrategy[tuple[Any, pa.DataType]] = st.one_of(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1), st.sampled_from([pa.int64(), pa.timestamp("ns", "UTC"), pa.duration("ms")])
    ),
    st.tuples(st.integers(-(2**31), 2**31 - 1), st.sampled_from([pa.int32(), pa.date32()])),
    st.tuples(st.floats(allow_nan=False), st.just(pa.float64())),
    st.tuples(st.text(), st.just(pa.string())),
    st.tuples(st.binary(), st.just(pa.binary())),
    st.tuples(st.booleans(), st.just(pa.bool_())),
)
STATISTICS = st.lists(
    st.builds(
        lambda column, name, held: Statistic(column, name, *held),
        st.none() | st.integers(0, 2**31 - 1),
        st.sampled_from(["ARROW:row_count:exact", "HMSTATS:tool"]) | st.text(),
        VALUES,
    ),
    max_size=12,
)


@given(st.lists(STATISTICS, max_size=3))
def test_what_is_built_comes_back(targets: list[list[Statistic]]) -> None:
    for built, expected in zip(arrays(targets), targets, strict=True):
        built.validate(full=True)
        assert statistics(built) == expected


@pytest.mark.parametrize("example", [examples.SIMPLE, examples.COMPLEX, examples.SIMPLE_ARRAY, examples.COMPLEX_ARRAY])
def test_the_specifications_examples(example: list[Statistic]) -> None:
    assert statistics(array(example)) == example


def test_a_part_of_an_array() -> None:
    assert statistics(array(examples.COMPLEX).slice(2, 3)) == examples.COMPLEX[2:9]
    assert statistics(array(examples.COMPLEX).take(pa.array([6, 0]))) == [*examples.COMPLEX[12:], examples.COMPLEX[0]]


def test_a_record_batch_and_another_librarys_array() -> None:
    built = array(examples.COMPLEX)
    assert statistics(pa.RecordBatch.from_struct_array(built)) == examples.COMPLEX
    assert statistics(na.c_array(built)) == examples.COMPLEX


def rebuilt(keys: pa.Array, items: pa.Array, column: pa.DataType | None = None) -> pa.StructArray:
    """The simple example with other arrays for its names and values, everything nullable."""
    offsets = pa.array([0, 1, 5, 9], pa.int32())
    numbers = pa.array([None, 0, 1], column or pa.int32())
    return pa.StructArray.from_arrays(
        [numbers, pa.MapArray.from_arrays(offsets, keys, items)], ["column", "statistics"]
    )


NAMES = [each.name for each in examples.SIMPLE]
LONGS = pa.array([each.value for each in examples.SIMPLE])
CODES = pa.array([7] * 9, pa.int8())
PLACES = pa.array(range(9), pa.int32())


def as_list(large: bool) -> pa.StructArray:
    pairs = pa.StructArray.from_arrays([pa.array(NAMES), LONGS], ["k", "v"])
    made = pa.LargeListArray if large else pa.ListArray
    lists = made.from_arrays(pa.array([0, 1, 5, 9], pa.int64() if large else pa.int32()), pairs)
    return pa.StructArray.from_arrays([pa.array([None, 0, 1]), lists], ["column", "statistics"])


@pytest.mark.parametrize(
    "made",
    [
        lambda: rebuilt(pa.array(NAMES), LONGS),
        lambda: rebuilt(pa.array(NAMES, pa.large_string()), LONGS, pa.int64()),
        lambda: rebuilt(pa.array(NAMES, pa.string_view()), LONGS, pa.uint16()),
        lambda: rebuilt(pa.array(NAMES).dictionary_encode().cast(pa.dictionary(pa.int64(), pa.string())), LONGS),
        lambda: rebuilt(pa.array(NAMES).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.large_string())), LONGS),
        lambda: rebuilt(pa.array(NAMES), pa.UnionArray.from_dense(CODES, PLACES, [LONGS], ["x"], [7])),
        lambda: rebuilt(
            pa.array(NAMES), pa.UnionArray.from_sparse(CODES, [pa.array(["no"] * 9), LONGS], ["s", "x"], [3, 7])
        ),
        lambda: rebuilt(pa.array(NAMES), LONGS.dictionary_encode()),
        lambda: as_list(large=False),
        lambda: as_list(large=True),
    ],
)
def test_forms_near_the_specifications(made: Callable[[], pa.StructArray]) -> None:
    assert statistics(made()) == examples.SIMPLE


def test_nulls_are_passed_over() -> None:
    offsets = pa.array([0, 2, 3, 4], pa.int32())
    held = pa.MapArray.from_arrays(offsets, pa.array(["a", "b", "c", "d"]), pa.array([1, None, 3, 4]))
    masked = pa.StructArray.from_arrays(
        [pa.array([0, 1, 2]), held], ["column", "statistics"], mask=pa.array([False, True, False])
    )
    assert [(each.column, each.name, each.value) for each in statistics(masked)] == [(0, "a", 1), (2, "d", 4)]
    null_map = pa.array([(0, [("a", 1)]), (1, None)], masked.type)
    assert len(statistics(null_map)) == 1


def test_years_beyond_the_calendar() -> None:
    far = Statistic(0, "ARROW:max_value:exact", 2**62, pa.timestamp("s", "UTC"))
    assert statistics(array([far])) == [far]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (pa.array([1]), "must be a struct array, found int64"),
        ("text", "must be a struct array, found str"),
        (pa.array([{"a": 1}]), "must have the field column"),
        (pa.array([{"column": 1}]), "must have the field statistics"),
        (pa.array([{"column": 1, "statistics": 2}]), "must be a map for each column's number"),
        (pa.array([{"column": "x", "statistics": []}]), "must be a map for each column's number"),
        (pa.array([{"column": 1, "statistics": [5]}]), "must be pairs of name and value, found int64"),
    ],
)
def test_what_is_no_statistics_array_is_refused(wrong: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=f"statistics {sentence}"):
        statistics(wrong)
