import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sketch.vectors import VECTORS

from hmstats.sketch.values import murmur3_steps
from hmstats.sketch.values.arrow_bytes import byte_lengths
from hmstats.sketch.values.murmur3 import hash_doubles, hash_longs, hash_strings

MASK = 2**64 - 1


def rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & MASK


def mixed(word: int) -> int:
    return rotated(word * 0x87C37B91114253D5 & MASK, 31) * 0x4CF5AD432745937F & MASK


def hash_one(data: bytes) -> int:
    """The algorithm for one value, as it is described: no arrays, no blocks."""
    state = 104729
    whole = len(data) // 8 * 8
    for at in range(0, whole, 8):
        state ^= mixed(int.from_bytes(data[at : at + 8], "little"))
        state = (rotated(state, 27) * 5 + 0x52DCE729) & MASK
    state ^= mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        state = (state ^ state >> 33) * factor & MASK
    return state ^ state >> 33


@pytest.mark.parametrize("vector", VECTORS["hash64"], ids=str)
def test_hashes_are_those_of_hive(vector: dict[str, Any]) -> None:
    if "long" in vector:
        found = hash_longs(np.array([vector["long"]], np.int64))
    elif "double" in vector:
        found = hash_doubles(np.array([vector["double"]], np.float64))
    else:
        found = hash_strings(pa.array([vector["string"]]))
    assert found.view(np.int64).tolist() == [vector["hash"]]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_a_long_is_hashed_as_its_bytes_big_endian(values: list[int]) -> None:
    expected = [hash_one(struct.pack(">q", value)) for value in values]
    assert hash_longs(np.array(values, np.int64)).tolist() == expected


def test_longs_of_several_blocks_and_strided_ones() -> None:
    values = np.arange(-20_000, 20_000)
    assert hash_longs(values)[12_345] == hash_one(struct.pack(">q", 12_345 - 20_000))
    assert hash_longs(values[::-3]).tolist() == hash_longs(values)[::-3].tolist()
    assert values[0] == -20_000


def test_every_nan_is_one_value_and_the_zeros_are_two() -> None:
    nans = np.array([0x7FF8_0000_0000_0000, 0x7FF8_0000_0000_0001, -1], np.int64).view(np.float64)
    assert set(hash_doubles(nans).tolist()) == {hash_one(struct.pack(">Q", 0x7FF8_0000_0000_0000))}
    assert len(set(hash_doubles(np.array([0.0, -0.0])).tolist())) == 2


@given(st.lists(st.binary(max_size=70)), st.sampled_from([pa.binary(), pa.large_binary()]))
def test_bytes_of_any_lengths(values: list[bytes], arrow_type: pa.DataType) -> None:
    assert hash_strings(pa.array(values, arrow_type)).tolist() == [hash_one(value) for value in values]


@given(st.lists(st.text(max_size=20)), st.integers(0, 5), st.sampled_from([pa.string(), pa.large_string()]))
def test_a_slice_of_strings(values: list[str], start: int, arrow_type: pa.DataType) -> None:
    array = pa.array(values, arrow_type).slice(min(start, len(values)))
    encoded = [value.encode() for value in values[start:]]
    assert hash_strings(array).tolist() == [hash_one(value) for value in encoded]
    assert byte_lengths(array).tolist() == [len(value) for value in encoded]


def test_few_long_values_among_many_short_ones() -> None:
    values = [b"ab" * n for n in range(100)] + [bytes(range(256)) * 40, b"x" * 9999] + [b"end"] * 50
    assert hash_strings(pa.array(values)).tolist() == [hash_one(value) for value in values]


def test_blocks_end_by_bytes_and_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [b"v" * (n % 37) for n in range(1000)] + [b"w" * 500, b""]
    expected = [hash_one(value) for value in values]
    monkeypatch.setattr(murmur3_steps, "_BLOCK_BYTES", 100)
    assert hash_strings(pa.array(values)).tolist() == expected
    monkeypatch.setattr(murmur3_steps, "BLOCK_ROWS", 7)
    assert hash_strings(pa.array(values)).tolist() == expected
