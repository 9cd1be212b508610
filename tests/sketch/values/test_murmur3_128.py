import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from hmstats.sketch.values import murmur3_128
from hmstats.sketch.values.murmur3_128 import hash_bytes, hash_words

MASK = 2**64 - 1
FACTORS = (0x87C37B91114253D5, 0x4CF5AD432745937F)


def rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 64 - bits) & MASK


def finished(state: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        state = (state ^ state >> 33) * factor & MASK
    return state ^ state >> 33


def hash_one(data: bytes) -> int:
    """The algorithm for one value, as it is described: no arrays, no blocks."""
    first = second = 9001
    whole = len(data) // 16 * 16
    for at in range(0, whole + 1, 16):
        low, high = (int.from_bytes(data[start : min(start + 8, at + 16)], "little") for start in (at, at + 8))
        first ^= rotated(low * FACTORS[0] & MASK, 31) * FACTORS[1] & MASK
        if at < whole:
            first = ((rotated(first, 27) + second) * 5 + 0x52DCE729) & MASK
        second ^= rotated(high * FACTORS[1] & MASK, 33) * FACTORS[0] & MASK
        if at < whole:
            second = ((rotated(second, 31) + first) * 5 + 0x38495AB5) & MASK
    first, second = first ^ len(data), second ^ len(data)
    first = (first + second) & MASK
    second = (second + first) & MASK
    return (finished(first) + finished(second)) & MASK


@given(st.lists(st.binary(max_size=70)))
def test_bytes_are_hashed_as_one_by_one(values: list[bytes]) -> None:
    assert hash_bytes(pa.array(values, pa.binary())).tolist() == [hash_one(value) for value in values]


@given(st.lists(st.binary(min_size=4, max_size=4)))
def test_a_word_is_hashed_as_its_bytes(values: list[bytes]) -> None:
    words = np.array([int.from_bytes(value, "little") for value in values], np.uint64)
    assert hash_words(words, 4).tolist() == [hash_one(value) for value in values]


def test_few_long_values_among_many_short_ones() -> None:
    few = murmur3_128._FEW_ROWS - 1
    values = [b"x" * (number % 40) for number in range(20_000)] + [b"long" * (100 + each) for each in range(few)]
    found = hash_bytes(pa.array(values).slice(5)).tolist()
    assert found[-few:] == [hash_one(value) for value in values[-few:]]
    assert found[:100] == [hash_one(value) for value in values[5:105]]


def test_no_values_and_words_of_several_blocks() -> None:
    assert hash_bytes(pa.array([], pa.string())).tolist() == []
    words = np.arange(20_000, dtype=np.uint64)
    assert hash_words(words, 8)[12_345] == hash_one((12_345).to_bytes(8, "little"))
    assert words[1] == 1
