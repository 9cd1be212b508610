from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketch.theta_vectors import VECTORS, array

from hmstats.errors import SketchError
from hmstats.sketch.values.iceberg_hashes import iceberg_hashes
from hmstats.sketch.values.murmur3_128 import hash_bytes

SMALL = pytest.mark.parametrize("vector", VECTORS["small"], ids=lambda vector: str(vector["name"]))


@SMALL
def test_values_are_hashed_in_their_form_in_iceberg(vector: dict[str, Any]) -> None:
    forms = [bytes.fromhex(each) for each in vector["bytes"] if each]
    assert iceberg_hashes(array(vector)).tolist() == hash_bytes(pa.array(forms, pa.binary())).tolist()


@SMALL
def test_nulls_and_slices_change_nothing(vector: dict[str, Any]) -> None:
    values = array(vector)
    apart = pa.concat_arrays([pa.nulls(3, values.type), values, pa.nulls(1, values.type)]).slice(2)
    assert iceberg_hashes(apart).tolist() == iceberg_hashes(values).tolist()


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1)))
def test_a_decimal_is_the_fewest_bytes_of_its_unscaled_value(unscaled: list[int]) -> None:
    values = pa.array([Decimal(each) for each in unscaled], pa.decimal128(38, 0))
    forms = [
        each.to_bytes((each if each >= 0 else ~each).bit_length() // 8 + 1, "big", signed=True) for each in unscaled
    ]
    assert iceberg_hashes(values).tolist() == hash_bytes(pa.array(forms, pa.binary())).tolist()


def test_a_dictionary_is_hashed_once_a_value_that_occurs() -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2, 3]), pa.array(["a", "not used", "b", None]))
    assert sorted(iceberg_hashes(values).tolist()) == sorted(iceberg_hashes(pa.array(["a", "b"])).tolist())


def test_views_and_large_texts_are_texts() -> None:
    plain = iceberg_hashes(pa.array(["a", "a longer text, not in the view"]))
    for wanted in (pa.large_string(), pa.string_view()):
        assert iceberg_hashes(pa.array(["a", "a longer text, not in the view"], wanted)).tolist() == plain.tolist()


@pytest.mark.parametrize("wanted", [pa.int16(), pa.uint32(), pa.list_(pa.int32()), pa.decimal256(40, 2)], ids=str)
def test_other_types_are_refused(wanted: pa.DataType) -> None:
    with pytest.raises(SketchError, match="no theta sketch of values of Arrow's type"):
        iceberg_hashes(pa.nulls(2, wanted))
