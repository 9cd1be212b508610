import math
import struct
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sketch.vectors import VECTORS, values

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DoubleStatistics,
    Kind,
    LongStatistics,
    StringStatistics,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch import state_bytes
from hmstats.sketch.accumulator import ColumnAccumulator, TableAccumulator
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.quantiles.kll import KllHistogram

TYPES: dict[Kind, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    Kind.BOOLEAN: (pa.bool_(), st.booleans()),
    Kind.LONG: (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    Kind.DOUBLE: (pa.float64(), st.floats()),
    Kind.DECIMAL: (pa.decimal128(38, 4), st.decimals(-(10**30), 10**30, places=4)),
    Kind.DATE: (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    Kind.TIMESTAMP: (pa.timestamp("us"), st.integers(-(2**62), 2**62)),
    Kind.STRING: (pa.string(), st.text(max_size=12)),
    Kind.BINARY: (pa.binary(), st.binary(max_size=12)),
}
KINDS = list(TYPES)


@st.composite
def columns(draw: st.DrawFn) -> tuple[Kind, pa.Array]:
    """Up to a few hundred values of a kind, with nulls and repeats."""
    kind = draw(st.sampled_from(KINDS))
    arrow_type, value = TYPES[kind]
    some = draw(st.lists(st.none() | value, max_size=12))
    repeats = draw(st.sampled_from([1, 1, 20]))
    array = pa.array(some * repeats, arrow_type)
    return kind, array.dictionary_encode() if draw(st.booleans()) else array


def accumulated(kind: Kind, *arrays: pa.Array | pa.ChunkedArray) -> ColumnAccumulator:
    made = ColumnAccumulator.empty(kind)
    for array in arrays:
        made.update(array)
    return made


def exact(accumulator: ColumnAccumulator) -> tuple[object, ...]:
    """All that does not depend on chance."""
    made = accumulator
    counts = (made.kind, made.rows, made.nulls, made.trues, made.max_length, made.total_length)
    return (*counts, made.low, made.high, made.hll, made.kll and made.kll.count)


def distinct(accumulator: ColumnAccumulator) -> int:
    assert accumulator.hll is not None
    return accumulator.hll.count()


@given(columns(), st.lists(st.integers(0, 240), max_size=4))
@settings(max_examples=200)
def test_the_state_does_not_depend_on_how_the_rows_are_cut(column: tuple[Kind, pa.Array], cuts: list[int]) -> None:
    kind, array = column
    whole = accumulated(kind, array)
    parts = [array.slice(start, max(0, stop - start)) for start, stop in pairwise([0, *sorted(cuts), 1000])]
    merged = ColumnAccumulator.empty(kind)
    for part in parts:
        merged = merged.merge(accumulated(kind, part))
    assert exact(merged) == exact(accumulated(kind, *parts)) == exact(whole)
    assert exact(accumulated(kind, pa.chunked_array(parts, array.type))) == exact(whole)


@given(st.sampled_from(KINDS), st.data())
@settings(max_examples=100)
def test_merge_is_associative_and_commutative_and_empty_is_its_identity(kind: Kind, data: st.DataObject) -> None:
    arrow_type, value = TYPES[kind]
    drawn = st.lists(st.none() | value, max_size=10).map(lambda some: accumulated(kind, pa.array(some, arrow_type)))
    a, b, c = data.draw(drawn), data.draw(drawn), data.draw(drawn)
    before = exact(a)
    assert exact(a.merge(b).merge(c)) == exact(a.merge(b.merge(c)))
    assert exact(a.merge(b)) == exact(b.merge(a))
    assert exact(a.merge(ColumnAccumulator.empty(kind))) == exact(ColumnAccumulator.empty(kind).merge(a)) == before


@given(columns())
@settings(max_examples=200)
def test_a_dictionary_counts_as_its_values_and_the_state_survives_its_bytes(column: tuple[Kind, pa.Array]) -> None:
    kind, array = column
    plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    made = accumulated(kind, array)
    assert exact(made) == exact(accumulated(kind, plain)) == exact(accumulated(kind, plain.dictionary_encode()))
    read = ColumnAccumulator.from_bytes(made.to_bytes())
    assert exact(read) == exact(made)
    assert read.to_bytes() == made.to_bytes()
    assert read.statistics() == made.statistics()


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_numbers_are_counted_exactly(given_values: list[int | None]) -> None:
    made = accumulated(Kind.LONG, pa.array(given_values, pa.int64()))
    there = [value for value in given_values if value is not None]
    found = made.statistics()
    assert isinstance(found, LongStatistics)
    assert (made.rows, found.nulls) == (len(given_values), given_values.count(None))
    assert (found.low, found.high) == (min(there, default=None), max(there, default=None))
    assert found.ndv == len(set(there))


@pytest.mark.parametrize("vector", VECTORS["hll"], ids=lambda v: f"{v['p']}-{v['kind']}-{v['values'][:12]}")
def test_bit_vectors_are_those_of_hive(vector: dict[str, Any]) -> None:
    forms: dict[str, tuple[Kind, Callable[[Any], pa.Array]]] = {
        "long": (Kind.LONG, pa.array),
        "double": (Kind.DOUBLE, pa.array),
        "string": (Kind.STRING, lambda some: some),
        "decimal": (Kind.DECIMAL, lambda some: some),
        "date": (Kind.DATE, lambda days: pa.array(days.astype(np.int32)).view(pa.date32())),
        "timestamp": (Kind.TIMESTAMP, lambda seconds: pa.array(seconds * 1_000_000 + 999_999).view(pa.timestamp("us"))),
    }
    kind, arrow = forms[vector["kind"]]
    array = arrow(values(vector))
    made = ColumnAccumulator.empty(kind, precision=vector["p"], histogram=False)
    made.update(array.slice(0, len(array) // 3))
    made.update(array.slice(len(array) // 3))
    found: Any = made.statistics()
    assert found.ndv == vector["count"]
    assert HiveHll.from_bytes(found.bit_vector) == made.hll
    assert len(found.bit_vector) == vector["length"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [0, 3])
def test_a_column_without_values_has_zeros_and_no_bounds(kind: Kind, rows: int) -> None:
    nothing = pa.array([None] * rows, TYPES[kind][0])
    for array in (nothing, pa.nulls(rows), nothing.dictionary_encode(), pa.nulls(rows).dictionary_encode()):
        made = accumulated(kind, array)
        found: Any = made.statistics()
        assert (made.rows, found.nulls) == (rows, rows)
        for name, expected in {"ndv": 0, "low": None, "high": None, "max_length": 0, "trues": 0, "falses": 0}.items():
            assert getattr(found, name, expected) == expected
        assert exact(made.merge(accumulated(kind))) == exact(made)


def test_booleans() -> None:
    found = accumulated(Kind.BOOLEAN, pa.array([True, None, False, True])).statistics()
    assert found == BooleanStatistics(trues=2, falses=1, nulls=1)


def test_strings_have_lengths_in_bytes_of_utf8_and_the_average_is_of_those_that_are_there() -> None:
    found = accumulated(Kind.STRING, pa.array(["a", None, "\u6f22\u5b57", ""])).statistics()
    assert isinstance(found, StringStatistics)
    assert (found.max_length, found.average_length, found.nulls, found.ndv) == (6, 7 / 3, 1, 3)


@pytest.mark.parametrize("arrow_type", [pa.string(), pa.large_string(), pa.string_view()])
def test_strings_of_any_arrow_type(arrow_type: pa.DataType) -> None:
    some = ["one", "twelve bytes", None, "a value that is longer than any view keeps inside"] * 9
    made = accumulated(Kind.STRING, pa.array(some, arrow_type).slice(1))
    assert exact(made) == exact(accumulated(Kind.STRING, pa.array(some[1:])))
    assert distinct(made) == 3


@pytest.mark.parametrize("arrow_type", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)])
def test_binaries_of_any_arrow_type(arrow_type: pa.DataType) -> None:
    found = accumulated(Kind.BINARY, pa.array([b"abc", None, b"\xff\x00\x01"], arrow_type)).statistics()
    assert found == BinaryStatistics(max_length=3, average_length=3.0, nulls=1)


@pytest.mark.parametrize(
    "arrow_type",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint32(), pa.dictionary(pa.int8(), pa.int16())],
)
def test_integers_of_any_width_are_the_same_values(arrow_type: pa.DataType) -> None:
    assert exact(accumulated(Kind.LONG, pa.array([1, 2, None, 100], arrow_type))) == exact(
        accumulated(Kind.LONG, pa.array([1, 2, None, 100]))
    )


def test_floats_are_hashed_as_doubles() -> None:
    some = [0.5, None, -1.25]
    assert exact(accumulated(Kind.DOUBLE, pa.array(some, pa.float32()))) == exact(
        accumulated(Kind.DOUBLE, pa.array(some))
    )


def test_not_a_number_is_a_value_but_no_bound_and_infinities_are_bounds() -> None:
    made = accumulated(Kind.DOUBLE, pa.array([math.nan, 1.5, None, math.nan]))
    assert (made.low, made.high, made.nulls, distinct(made)) == (1.5, 1.5, 1, 2)
    nothing_else = accumulated(Kind.DOUBLE, pa.array([math.nan]))
    assert (nothing_else.low, nothing_else.high, distinct(nothing_else)) == (None, None, 1)
    assert nothing_else.kll is not None
    assert nothing_else.kll.count == 0
    infinite = accumulated(Kind.DOUBLE, pa.array([-math.inf, 3.0, math.inf]))
    assert (infinite.low, infinite.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [-0.0, 0.0], [-0.0]])
def test_a_negative_zero_is_a_value_of_its_own_but_as_a_bound_it_is_zero(zeros: list[float]) -> None:
    made = accumulated(Kind.DOUBLE, pa.array(zeros))
    assert str((made.low, made.high)) == "(0.0, 0.0)"
    assert distinct(made) == len(zeros)


@pytest.mark.parametrize(
    "arrow_type",
    [pa.decimal32(9, 2), pa.decimal64(12, 2), pa.decimal128(38, 2), pa.decimal256(50, 2)],
)
def test_decimals_of_any_width_have_exact_bounds(arrow_type: pa.DataType) -> None:
    some = [Decimal("12.30"), None, Decimal("-7.05"), Decimal("12.30")]
    made = accumulated(Kind.DECIMAL, pa.array(some, arrow_type))
    assert (str(made.low), str(made.high), distinct(made)) == ("-7.05", "12.30", 2)
    assert exact(made) == exact(accumulated(Kind.DECIMAL, pa.array(some, pa.decimal128(20, 2))))


def test_bounds_of_38_digits_are_kept() -> None:
    low, high = Decimal("-" + "9" * 38), Decimal("9" * 37 + "8")
    made = ColumnAccumulator.from_bytes(accumulated(Kind.DECIMAL, pa.array([high, low])).to_bytes())
    assert (made.low, made.high) == (low, high)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_are_whole_seconds_downwards(unit: str, zone: str | None) -> None:
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    ticks = [-1, 5 * per_second, 6 * per_second - 1, None]
    made = accumulated(Kind.TIMESTAMP, pa.array(ticks, pa.int64()).view(pa.timestamp(unit, zone)))
    assert [made.low, made.high, made.nulls] == [-1, 5, 1]
    assert distinct(made) == 2


@pytest.mark.parametrize("arrow_type", [pa.date32(), pa.date64()])
def test_dates_are_days(arrow_type: pa.DataType) -> None:
    made = accumulated(Kind.DATE, pa.array([-5, None, 19], pa.int32()).view(pa.date32()).cast(arrow_type))
    assert (made.low, made.high, made.nulls, distinct(made)) == (-5, 19, 1, 2)


def test_only_the_dictionary_values_that_occur_count() -> None:
    indices = pa.array([0, 0, None, 3, 2], pa.int8())
    dictionary = pa.array(["used", "the longest of all, not used", "b", None])
    found = accumulated(Kind.STRING, pa.DictionaryArray.from_arrays(indices, dictionary)).statistics()
    assert isinstance(found, StringStatistics)
    assert (found.ndv, found.max_length, found.average_length, found.nulls) == (2, 4, 3.0, 2)


def test_dictionary_values_weigh_as_often_as_they_occur_in_the_histogram() -> None:
    made = accumulated(Kind.LONG, pa.array([1] * 30 + [7] * 70).dictionary_encode())
    assert made.kll is not None
    assert (made.kll.count, made.kll.quantiles([0.29, 0.31])) == (100, [1.0, 7.0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_histogram_is_kept_for_numbers_and_only_when_asked_for(kind: Kind) -> None:
    ordered = kind not in (Kind.BOOLEAN, Kind.STRING, Kind.BINARY)
    with_one, without = ColumnAccumulator.empty(kind), ColumnAccumulator.empty(kind, histogram=False)
    assert ((with_one.kll is not None), without.kll) == (ordered, None)
    assert with_one.merge(without).kll is None


def test_the_histogram_has_the_quantiles() -> None:
    found = accumulated(Kind.LONG, pa.array(np.random.default_rng(5).permutation(50_000))).statistics()
    assert isinstance(found, LongStatistics)
    assert found.histogram is not None
    assert KllHistogram.from_bytes(found.histogram).quantiles([0.5])[0] == pytest.approx(25_000, abs=1_500)


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        (Kind.LONG, pa.array(["1"])),
        (Kind.STRING, pa.array([1])),
        (Kind.DOUBLE, pa.array([1])),
        (Kind.DATE, pa.array([1])),
    ],
)
def test_values_of_another_type_are_refused(kind: Kind, array: pa.Array) -> None:
    for refused in (array, array.dictionary_encode()):
        with pytest.raises(SketchError, match=f"kind {kind.name} does not take values of Arrow's type {array.type}"):
            accumulated(kind, refused)


def test_a_value_beyond_64_bits_is_refused() -> None:
    with pytest.raises(SketchError, match="kind LONG got a value that does not fit"):
        accumulated(Kind.LONG, pa.array([2**63], pa.uint64()))


def test_columns_of_different_kinds_do_not_merge() -> None:
    with pytest.raises(SketchError, match="kind LONG does not merge with one of kind DATE"):
        ColumnAccumulator.empty(Kind.LONG).merge(ColumnAccumulator.empty(Kind.DATE))


def test_precisions_merge_to_the_smaller() -> None:
    array = pa.array(np.arange(10_000))
    fine, coarse = (ColumnAccumulator.empty(Kind.LONG, precision=p) for p in (14, 10))
    fine.update(array)
    coarse.update(array)
    assert fine.merge(coarse).hll == coarse.hll


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(1, 255))
def test_damaged_states_are_refused(noise: bytes, place: int, flip: int) -> None:
    column = accumulated(Kind.DOUBLE, pa.array([1.0, 2.5])).to_bytes()
    table = TableAccumulator.empty({"a": Kind.LONG}).to_bytes()
    for state, read in ((column, ColumnAccumulator.from_bytes), (table, TableAccumulator.from_bytes)):
        damaged = bytearray(state)
        damaged[place % len(state)] ^= flip
        for data in (noise, bytes(damaged), state[: place % len(state)], state + noise + b"!"):
            with pytest.raises(SketchError):
                read(data)


def state(
    kind: bytes, counts: list[int], low: bytes = b"", hll: bytes = b"", kll: bytes = b"", top: bytes = b""
) -> bytes:
    return state_bytes.seal(b"HMSC", state_bytes.join([kind, struct.pack("<5Q", *counts), low, b"", hll, kll, top]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (state(b"listStats", [0] * 5), "unknown kind"),
        (state(b"\xff", [0] * 5), "no UTF-8"),
        (state(b"longStats", [0] * 5, b"1.5"), "has an invalid bound"),
        (state(b"longStats", [0] * 5, b"9" * 5_000), "has an invalid bound"),
        (state(b"doubleStats", [0] * 5, b"nan"), "has an invalid bound"),
        (state(b"doubleStats", [0] * 5, b"0x1p99999"), "has an invalid bound"),
        (state(b"decimalStats", [0] * 5, b"x"), "has an invalid bound"),
        (state(b"decimalStats", [0] * 5, b"NaN"), "has an invalid bound"),
        (state(b"longStats", [0] * 5, hll=b"HLL"), "HyperLogLog"),
        (state(b"longStats", [0] * 5, kll=b"KLL"), "KLL"),
        (state(b"longStats", [0] * 5, top=b"top"), "frequent-items"),
        (state(b"booleanStats", [3, 2, 2, 0, 0]), "3 rows has 2 nulls and 2 trues"),
        (state_bytes.seal(b"HMSC", state_bytes.join([b"longStats"])), "7 parts, not 1"),
    ],
)
def test_a_sound_frame_with_wrong_parts_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(SketchError, match=message):
        ColumnAccumulator.from_bytes(data)


def test_a_tables_state_has_pairs_of_name_and_column() -> None:
    for parts in ([], [b"rows", b"name"], [b"rows", b"\xff", b"column"]):
        with pytest.raises(SketchError):
            TableAccumulator.from_bytes(state_bytes.seal(b"HMST", state_bytes.join(parts)))


BATCH = pa.record_batch({"a": pa.array([1, 2, None]), "b": pa.array(["x", None, "y"]), "c": pa.array([1.0, 2.0, 3.0])})


def test_a_table_takes_batches_and_tables_and_leaves_out_what_was_not_asked_for() -> None:
    made = TableAccumulator.empty({"b": Kind.STRING, "a": Kind.LONG}, histogram=False)
    made.update(BATCH)
    made.update(pa.table(BATCH))
    first, second = made.statistics({"a": "INT", "b": "varchar(10)"})
    assert made.rows == 6
    assert (first.column, first.column_type, second.column, second.column_type) == ("b", "varchar(10)", "a", "int")
    assert isinstance(first.data, StringStatistics)
    assert (first.data.ndv, first.data.nulls) == (2, 2)
    assert isinstance(second.data, LongStatistics)
    assert (second.data.low, second.data.high, second.data.histogram) == (1, 2, None)


def test_tables_merge_and_survive_their_bytes() -> None:
    made = TableAccumulator.empty({"a": Kind.LONG, "c": Kind.DOUBLE}, precision=10)
    made.update(BATCH)
    read = TableAccumulator.from_bytes(made.to_bytes())
    merged = made.merge(read)
    assert merged.rows == 6
    (_, column) = merged.statistics({"a": "int", "c": "double"})
    assert isinstance(column, ColumnStatistics)
    assert isinstance(column.data, DoubleStatistics)
    assert (column.data.low, column.data.high, column.data.ndv) == (1.0, 3.0, 3)
    assert made.columns["a"].hll is not None
    assert (made.rows, made.columns["a"].rows, made.columns["a"].hll.p) == (3, 3, 10)


def test_a_table_without_columns_counts_rows() -> None:
    made = TableAccumulator.empty({})
    made.update(BATCH)
    assert TableAccumulator.from_bytes(made.to_bytes()).merge(made).rows == 6


def test_a_missing_or_ambiguous_column_is_named() -> None:
    with pytest.raises(SketchError, match="the column d 0 times"):
        TableAccumulator.empty({"d": Kind.LONG}).update(BATCH)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(SketchError, match="the column a 2 times"):
        TableAccumulator.empty({"a": Kind.LONG}).update(twice)


def test_tables_of_different_columns_do_not_merge() -> None:
    with pytest.raises(SketchError, match=r"columns \['a'\] do not merge with columns \['b'\]"):
        TableAccumulator.empty({"a": Kind.LONG}).merge(TableAccumulator.empty({"b": Kind.LONG}))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 200)), min_size=1, max_size=5))
def test_rows_beside_a_sample_are_taken_to_be_like_it(parts: list[tuple[int, int, int]]) -> None:
    merged = TableAccumulator.empty({"b": Kind.BOOLEAN})
    for nulls, trues, left_out in parts:
        part = TableAccumulator.empty({"b": Kind.BOOLEAN})
        part.update(pa.table({"b": pa.array([None] * nulls + [True] * trues, pa.bool_())}))
        part.leave_out(left_out)
        merged = TableAccumulator.from_bytes(merged.merge(part).to_bytes())
    nulls, trues, left_out = (sum(column) for column in zip(*parts, strict=True))
    seen, rows = nulls + trues, nulls + trues + left_out
    (found,) = merged.statistics({"b": "boolean"})
    assert merged.rows == rows
    if not left_out:
        assert found.provenance is None
        assert found.data == BooleanStatistics(nulls=nulls, trues=trues, falses=0)
        return
    assert found.provenance == Provenance(exact=False, rows_seen=seen, sample_fraction=seen / rows)
    data = found.data
    assert isinstance(data, BooleanStatistics)
    if not seen:
        assert data == BooleanStatistics()
        return
    assert data.nulls == pytest.approx(nulls * rows / seen, abs=0.5)
    assert data.trues == pytest.approx(trues * rows / seen, abs=1)
    assert (data.nulls or 0) + (data.trues or 0) == rows
    assert data.falses == 0
