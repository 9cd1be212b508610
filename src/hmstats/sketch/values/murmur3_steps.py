"""Steps that Murmur3's 64-bit forms share, over whole uint64 arrays and in place, and the blocks that they work in."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hmstats.sketch.values.arrow_bytes import Offsets

UInt64s = npt.NDArray[np.uint64]

FIRST_FACTOR = np.uint64(0x87C37B91114253D5)
SECOND_FACTOR = np.uint64(0x4CF5AD432745937F)
_FINAL_FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))
# Blocks are small enough for their scratch arrays to stay in the processor's cache.
BLOCK_ROWS = 8192
_BLOCK_BYTES = 1 << 20


def blocks(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Split rows into consecutive ranges, each of few rows and few bytes, or of one row."""
    start, rows = 0, len(offsets) - 1
    while start < rows:
        limit = start + BLOCK_ROWS
        within = np.searchsorted(offsets[start : limit + 1], int(offsets[start]) + _BLOCK_BYTES, side="right") - 1
        stop = min(rows, limit, start + max(1, int(within)))
        yield start, stop
        start = stop


def padded_block(
    offsets: Offsets, data: npt.NDArray[np.uint8], start: int, stop: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The bytes of some rows, with 8 more to read a whole word anywhere; their starts and lengths."""
    first, last = int(offsets[start]), int(offsets[stop])
    padded = np.zeros(last - first + 8, np.uint8)
    padded[: last - first] = data[first:last]
    starts = offsets[start:stop].astype(np.int64) - first
    return padded, starts, np.diff(offsets[start : stop + 1]).astype(np.int64)


def words_anywhere(padded: npt.NDArray[np.uint8]) -> UInt64s:
    """A view of padded bytes as words: for each byte the little-endian word that begins there."""
    return np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))


def longest_first(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.intp] | None:
    """The order of descending counts of words; None when all are the same."""
    least, most = int(counts.min()), int(counts.max())
    if least == most:
        return None
    below: npt.NDArray[Any] = most - counts
    # Small numbers are sorted by their digits, which is many times faster.
    return np.argsort(below.astype(np.uint8) if most - least < 256 else below, kind="stable")


def restore_order(order: npt.NDArray[np.intp], sorted_hashes: UInt64s) -> UInt64s:
    """The hashes of values that were sorted by `order`, in the original order."""
    hashes = np.empty_like(sorted_hashes)
    hashes[order] = sorted_hashes
    return hashes


def mix(words: UInt64s, scratch: UInt64s) -> None:
    """Scramble each word of the first lane, in place."""
    words *= FIRST_FACTOR
    rotate(words, 31, scratch)
    words *= SECOND_FACTOR


def spread(states: UInt64s, addend: int) -> None:
    """Multiply each state by 5 and add a constant, in place."""
    states *= np.uint64(5)
    states += np.uint64(addend)


def finish(states: UInt64s, scratch: UInt64s) -> None:
    """Spread each state over all bits (Murmur3's fmix64), in place."""
    for factor in _FINAL_FACTORS:
        np.right_shift(states, np.uint64(33), out=scratch)
        states ^= scratch
        states *= factor
    np.right_shift(states, np.uint64(33), out=scratch)
    states ^= scratch


def rotate(words: UInt64s, bits: int, scratch: UInt64s) -> None:
    """Rotate each word to the left, in place."""
    np.right_shift(words, np.uint64(64 - bits), out=scratch)
    words <<= np.uint64(bits)
    words |= scratch
