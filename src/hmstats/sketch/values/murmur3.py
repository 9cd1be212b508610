"""Hive's 64-bit hash of values, for whole arrays.

It is Murmur3's 128-bit algorithm with one lane only (org.apache.hive.common.util.Murmur3.hash64, seed 104729), so it is
not the upper half of a real Murmur3. Eight-byte words are read little-endian; Hive hands numbers over big-endian.
Hashes are uint64 arrays. Nulls have no hash: drop them first.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.sketch.values import murmur3_steps as steps
from hmstats.sketch.values.arrow_bytes import offsets_and_data
from hmstats.sketch.values.murmur3_steps import UInt64s

_SEED = 104729
_ADDEND = 0x52DCE729
_MASK = 0xFFFF_FFFF_FFFF_FFFF
# If fewer values than this remain, they are hashed one by one, which is faster than a whole-array step.
_FEW_ROWS = 16


def hash_longs(values: npt.NDArray[np.int64]) -> UInt64s:
    """The hashes of int64 values: each as its 8 bytes, big-endian."""
    hashes: UInt64s = values.byteswap().view(np.uint64)
    scratch = np.empty(min(len(hashes), steps.BLOCK_ROWS), np.uint64)
    for start in range(0, len(hashes), steps.BLOCK_ROWS):
        block = hashes[start : start + steps.BLOCK_ROWS]
        spare = scratch[: len(block)]
        steps.mix(block, spare)
        block ^= np.uint64(_SEED)
        _step(block, spare)
        block ^= np.uint64(8)
        steps.finish(block, spare)
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
    for start, stop in steps.blocks(offsets):
        hashes[start:stop] = _hash_rows(*steps.padded_block(offsets, data, start, stop))
    return hashes


def _hash_rows(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> UInt64s:
    """The hashes of the values at `starts`: the longest first, so that those with a next word are always the front."""
    order = steps.longest_first(lengths >> 3)
    if order is not None:
        starts, lengths = starts[order], lengths[order]
    words_at = steps.words_anywhere(data)
    hashes = _hash_words(words_at, starts, lengths >> 3)
    scratch = np.empty_like(hashes)
    tails = words_at[starts + (lengths & -8)]
    tails &= (np.uint64(1) << ((lengths & 7) << 3).astype(np.uint64)) - np.uint64(1)
    # An empty tail is the word 0, which mixes to 0 and changes nothing.
    steps.mix(tails, scratch)
    hashes ^= tails
    hashes ^= lengths.view(np.uint64)
    steps.finish(hashes, scratch)
    return hashes if order is None else steps.restore_order(order, hashes)


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
        steps.mix(mixed, scratch[:active])
        front = hashes[:active]
        front ^= mixed
        _step(front, scratch[:active])
    return hashes


def _hash_long_row(state: int, words_at: UInt64s, start: int, count: int) -> int:
    """The state of one value after `count` more words, which lie at `start`."""
    mixed = words_at[start : start + 8 * count : 8].copy()
    steps.mix(mixed, np.empty_like(mixed))
    for word in mixed.tolist():
        state ^= word
        state = ((state << 27 | state >> 37) * 5 + _ADDEND) & _MASK
    return state


def _step(states: UInt64s, scratch: UInt64s) -> None:
    """Mix each state after a whole word was added, in place."""
    steps.rotate(states, 27, scratch)
    steps.spread(states, _ADDEND)
