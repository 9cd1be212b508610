"""Hive's 64-bit hash of values, for whole arrays.

It is Murmur3's 128-bit algorithm with one lane only (org.apache.hive.common.util.Murmur3.hash64, seed 104729), so it is
not the upper half of a real Murmur3. Eight-byte words are read little-endian; Hive hands numbers over big-endian.
Hashes are uint64 arrays. Nulls have no hash: drop them first.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.sketch.values.arrow_bytes import Offsets, offsets_and_data

UInt64s = npt.NDArray[np.uint64]

_SEED = 104729
_FIRST_FACTOR = np.uint64(0x87C37B91114253D5)
_SECOND_FACTOR = np.uint64(0x4CF5AD432745937F)
_ADDEND = 0x52DCE729
_FINAL_FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
_MASK = 0xFFFF_FFFF_FFFF_FFFF
# Blocks are small enough for their scratch arrays to stay in the processor's cache.
_BLOCK_ROWS = 8192
_BLOCK_BYTES = 1 << 20
# If fewer values than this remain, they are hashed one by one, which is faster than a whole-array step.
_FEW_ROWS = 16


def hash_longs(values: npt.NDArray[np.int64]) -> UInt64s:
    """The hashes of int64 values: each as its 8 bytes, big-endian."""
    hashes: UInt64s = values.byteswap().view(np.uint64)
    scratch = np.empty(min(len(hashes), _BLOCK_ROWS), np.uint64)
    for start in range(0, len(hashes), _BLOCK_ROWS):
        block = hashes[start : start + _BLOCK_ROWS]
        spare = scratch[: len(block)]
        _mix(block, spare)
        block ^= np.uint64(_SEED)
        _step(block, spare)
        block ^= np.uint64(8)
        _finish(block, spare)
    return hashes


def hash_doubles(values: npt.NDArray[np.float64]) -> UInt64s:
    """The hashes of float64 values: their IEEE bits as a long; every NaN is Java's, and -0.0 differs from 0.0."""
    bits = values.view(np.int64)
    not_numbers = np.isnan(values)
    if not_numbers.any():
        bits = np.where(not_numbers, np.int64(0x7FF8_0000_0000_0000), bits)
    return hash_longs(bits)


def hash_strings(array: pa.Array) -> UInt64s:
    """The hashes of a string, binary, large_string or large_binary array: of each value's bytes (UTF-8 for strings)."""
    offsets, data = offsets_and_data(array)
    hashes = np.empty(len(array), np.uint64)
    for start, stop in _blocks(offsets):
        first, last = int(offsets[start]), int(offsets[stop])
        # Seven bytes more, so that an eight-byte word can be read anywhere.
        padded = np.zeros(last - first + 8, np.uint8)
        padded[: last - first] = data[first:last]
        starts = offsets[start:stop].astype(np.int64) - first
        lengths = np.diff(offsets[start : stop + 1]).astype(np.int64)
        hashes[start:stop] = _hash_rows(padded, starts, lengths)
    return hashes


def _blocks(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Ranges of rows that together are all: each of few rows and few bytes, or of one row."""
    start, rows = 0, len(offsets) - 1
    while start < rows:
        limit = start + _BLOCK_ROWS
        within = np.searchsorted(offsets[start : limit + 1], int(offsets[start]) + _BLOCK_BYTES, side="right") - 1
        stop = min(rows, limit, start + max(1, int(within)))
        yield start, stop
        start = stop


def _hash_rows(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> UInt64s:
    """The hashes of the values at `starts`: the longest first, so that those with a next word are always the front."""
    order = _longest_first(lengths >> 3)
    if order is not None:
        starts, lengths = starts[order], lengths[order]
    words_at = np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))
    hashes = _hash_words(words_at, starts, lengths >> 3)
    scratch = np.empty_like(hashes)
    tails = words_at[starts + (lengths & -8)]
    tails &= (np.uint64(1) << ((lengths & 7) << 3).astype(np.uint64)) - np.uint64(1)
    # An empty tail is the word 0, which mixes to 0 and changes nothing.
    _mix(tails, scratch)
    hashes ^= tails
    hashes ^= lengths.view(np.uint64)
    _finish(hashes, scratch)
    return hashes if order is None else _in_place_of(order, hashes)


def _longest_first(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.intp] | None:
    """The order of descending counts of words; None when all are the same."""
    least, most = int(counts.min()), int(counts.max())
    if least == most:
        return None
    below: npt.NDArray[Any] = most - counts
    # Small numbers are sorted by their digits, which is many times faster.
    return np.argsort(below.astype(np.uint8) if most - least < 256 else below, kind="stable")


def _hash_words(words_at: UInt64s, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> UInt64s:
    """The state after all whole words; `counts` of them for each value, in descending order."""
    hashes = np.full(len(starts), _SEED, np.uint64)
    scratch = np.empty_like(hashes)
    ascending = -counts
    for word in range(int(counts[0])):
        active = int(np.searchsorted(ascending, -word))
        if active < _FEW_ROWS:
            for row in range(active):
                hashes[row] = _hash_long_row(
                    int(hashes[row]), words_at, int(starts[row]) + 8 * word, counts[row] - word
                )
            break
        mixed = words_at[starts[:active] + 8 * word]
        _mix(mixed, scratch[:active])
        front = hashes[:active]
        front ^= mixed
        _step(front, scratch[:active])
    return hashes


def _hash_long_row(state: int, words_at: UInt64s, start: int, count: int) -> int:
    """The state of one value after `count` more words, which lie at `start`."""
    mixed = words_at[start : start + 8 * count : 8].copy()
    _mix(mixed, np.empty_like(mixed))
    for word in mixed.tolist():
        state ^= word
        state = ((state << 27 | state >> 37) * 5 + _ADDEND) & _MASK
    return state


def _in_place_of(order: npt.NDArray[np.intp], sorted_hashes: UInt64s) -> UInt64s:
    hashes = np.empty_like(sorted_hashes)
    hashes[order] = sorted_hashes
    return hashes


def _mix(words: UInt64s, scratch: UInt64s) -> None:
    """Scramble each word, in place."""
    words *= _FIRST_FACTOR
    _rotate(words, 31, scratch)
    words *= _SECOND_FACTOR


def _step(states: UInt64s, scratch: UInt64s) -> None:
    """Mix each state after a whole word was added, in place."""
    _rotate(states, 27, scratch)
    states *= np.uint64(5)
    states += np.uint64(_ADDEND)


def _finish(states: UInt64s, scratch: UInt64s) -> None:
    """Spread each state over all bits (Murmur3's fmix64), in place."""
    for factor in _FINAL_FACTORS:
        np.right_shift(states, np.uint64(33), out=scratch)
        states ^= scratch
        states *= factor
    np.right_shift(states, np.uint64(33), out=scratch)
    states ^= scratch


def _rotate(words: UInt64s, bits: int, scratch: UInt64s) -> None:
    np.right_shift(words, np.uint64(64 - bits), out=scratch)
    words <<= np.uint64(bits)
    words |= scratch
