"""The laws of merging, over every kind, with sketches that are plain sets: exact, so that every law is."""

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    Kind,
    LongStatistics,
    StringStatistics,
)
from hmstats.model.statistics.merge import MAX_I64, merge, merge_data
from hmstats.model.statistics.provenance import Provenance


class SetSketches:
    """A sketch is the sorted bytes of a set: its union is the set's, its estimate the set's size."""

    def merge_bit_vectors(self, one: bytes, other: bytes) -> tuple[bytes, int | None]:
        merged = bytes(sorted({*one, *other}))
        return merged, len(merged)

    def merge_histograms(self, one: bytes, other: bytes) -> bytes:
        return bytes(sorted(one + other))

    def merge_top_k(self, one: bytes, other: bytes) -> bytes | None:
        return one + other


SETS = SetSketches()
_COUNTS = st.none() | st.integers(0, MAX_I64)
_BOUNDS: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.DOUBLE: st.floats(allow_nan=False),
    Kind.DECIMAL: st.decimals(allow_nan=False, allow_infinity=False),
}
_LONGS = st.integers(-(2**63), MAX_I64)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "average_length": st.none() | st.floats(0, 1e9),
    "bit_vector": st.none() | st.frozensets(st.integers(0, 255), min_size=1).map(lambda found: bytes(sorted(found))),
    "histogram": st.none() | st.binary(min_size=1, max_size=8).map(lambda found: bytes(sorted(found))),
}


def data(kind: Kind) -> st.SearchStrategy[Any]:
    """Statistics of a kind, each field known or not."""
    bounds = st.none() | _BOUNDS.get(kind, _LONGS)
    strategies = _FIELDS | {"low": bounds, "high": bounds}
    names = [field.name for field in fields(DATA_CLASSES[kind])]
    return st.builds(DATA_CLASSES[kind], **{name: strategies.get(name, _COUNTS) for name in names})


def three() -> st.SearchStrategy[tuple[Any, Any, Any]]:
    return st.sampled_from(Kind).flatmap(lambda kind: st.tuples(data(kind), data(kind), data(kind)))


@given(three())
def test_merging_is_associative(sides: tuple[Any, Any, Any]) -> None:
    one, two, three = sides
    assert merge_data(merge_data(one, two, SETS), three, SETS) == merge_data(one, merge_data(two, three, SETS), SETS)


@given(three())
def test_merging_is_commutative(sides: tuple[Any, Any, Any]) -> None:
    one, two, _ = sides
    assert merge_data(one, two, SETS) == merge_data(two, one, SETS)


@given(three())
def test_knowing_nothing_changes_nothing(sides: tuple[Any, Any, Any]) -> None:
    one, _, _ = sides
    nothing = type(one)()
    assert merge_data(one, nothing, SETS) == one
    assert merge_data(nothing, one, SETS) == one


@given(three())
def test_no_number_leaves_the_range_of_a_long(sides: tuple[Any, Any, Any]) -> None:
    one, two, _ = sides
    merged = merge_data(one, two, SETS)
    for name in ("nulls", "trues", "falses", "ndv"):
        value = getattr(merged, name, None)
        assert value is None or 0 <= value <= MAX_I64


def test_numbers_by_hives_rules() -> None:
    one = LongStatistics(low=-5, high=9, nulls=2, ndv=7)
    two = LongStatistics(low=1, high=30, nulls=3, ndv=4)
    assert merge_data(one, two, SETS) == LongStatistics(low=-5, high=30, nulls=5, ndv=7)
    booleans = BooleanStatistics(trues=1, falses=2, nulls=3), BooleanStatistics(trues=10, falses=20, nulls=30)
    assert merge_data(*booleans, SETS) == BooleanStatistics(trues=11, falses=22, nulls=33)
    texts = StringStatistics(max_length=9, average_length=2.0), StringStatistics(max_length=4, average_length=3.5)
    assert merge_data(*texts, SETS) == StringStatistics(max_length=9, average_length=3.5)
    binaries = BinaryStatistics(max_length=1, nulls=1), BinaryStatistics(average_length=1.0, nulls=1)
    assert merge_data(*binaries, SETS) == BinaryStatistics(max_length=1, average_length=1.0, nulls=2)


def test_decimals_are_compared_as_numbers() -> None:
    """Hive's older mergers compare the scale first, and find 0.2 greater than 3."""
    one, two = (
        DecimalStatistics(low=Decimal("0.2"), high=Decimal("0.2")),
        DecimalStatistics(low=Decimal(3), high=Decimal(3)),
    )
    assert merge_data(one, two, SETS) == DecimalStatistics(low=Decimal("0.2"), high=Decimal(3))


def test_a_side_without_bounds_does_not_erase_the_others() -> None:
    one, two = DateStatistics(low=3, high=4, nulls=1), DateStatistics(nulls=2)
    assert merge_data(one, two, SETS) == merge_data(two, one, SETS) == DateStatistics(low=3, high=4, nulls=3)


def test_not_a_number_is_no_bound() -> None:
    one, two = DoubleStatistics(low=float("nan"), high=float("nan")), DoubleStatistics(low=1.0, high=2.0)
    assert merge_data(one, two, SETS) == merge_data(two, one, SETS) == two


def test_counts_stop_at_the_greatest_long() -> None:
    most = LongStatistics(nulls=MAX_I64, ndv=MAX_I64)
    assert merge_data(most, most, SETS) == most


def test_distinct_values_are_those_of_the_merged_sketches() -> None:
    one, two = StringStatistics(ndv=3, bit_vector=b"abc"), StringStatistics(ndv=2, bit_vector=b"cd")
    assert merge_data(one, two, SETS) == StringStatistics(ndv=4, bit_vector=b"abcd")


def test_without_a_sketch_on_one_side_the_larger_number_stands() -> None:
    one, two = StringStatistics(ndv=3, bit_vector=b"abc"), StringStatistics(ndv=2)
    assert merge_data(one, two, SETS) == merge_data(two, one, SETS) == one


def test_a_sketch_that_has_not_seen_all_does_not_lower_the_number() -> None:
    unseen = merge_data(StringStatistics(ndv=3, bit_vector=b"abc"), StringStatistics(ndv=900), SETS)
    merged: Any = merge_data(unseen, StringStatistics(ndv=2, bit_vector=b"cd"), SETS)
    assert (merged.ndv, merged.bit_vector) == (900, b"abcd")


def test_columns_of_two_kinds_do_not_merge() -> None:
    one = ColumnStatistics("c", "int", LongStatistics(low=1))
    with pytest.raises(InvalidInput, match="column c of kind longStats do not merge with those of kind stringStats"):
        merge(one, replace(one, data=StringStatistics()), SETS)


def test_frequent_values_are_those_of_both_sides_or_none() -> None:
    one = ColumnStatistics("c", "int", LongStatistics(), b"1", Provenance(rows_seen=3, tool="a"))
    two = ColumnStatistics("c", "int", LongStatistics(), b"2", Provenance(rows_seen=4, tool="b"))
    merged = merge(one, two, SETS)
    assert (merged.top_k, merged.provenance) == (b"12", Provenance(rows_seen=7, tool="b"))
    alone = merge(ColumnStatistics("c", "int", LongStatistics()), two, SETS)
    assert (alone.top_k, alone.provenance) == (None, Provenance(tool="b"))


def test_a_merged_column_has_the_second_ones_type() -> None:
    one = ColumnStatistics("c", "int", LongStatistics(low=1))
    two = ColumnStatistics("c", "bigint", LongStatistics(high=2))
    assert merge(one, two, SETS) == ColumnStatistics("c", "bigint", LongStatistics(low=1, high=2))
