"""The first 64 bits of Murmur3 x64 128, for whole arrays: the hash of DataSketches' theta sketches.

Both lanes begin with the seed 9001 (org.apache.datasketches.common.Util.DEFAULT_UPDATE_SEED). Hashes are uint64 arrays.
Nulls have no hash: drop them first.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.sketch.values import murmur3_steps as steps
from hmstats.sketch.values.arrow_bytes import offsets_and_data
from hmstats.sketch.values.murmur3_steps import UInt64s

_SEED = 9001
_ADDENDS = (0x52DCE729, 0x38495AB5)
_MASK = 0xFFFF_FFFF_FFFF_FFFF
# If fewer values than this remain, they are hashed one by one, which is faster than a whole-array step.
_FEW_ROWS = 24


def hash_words(words: UInt64s, length: int) -> UInt64s:
    """The hashes of values of `length` bytes, 1 to 8, each the lower bytes of a little-endian word."""
    hashes = words.copy()
    spare = np.empty((2, min(len(hashes), steps.BLOCK_ROWS)), np.uint64)
    for start in range(0, len(hashes), steps.BLOCK_ROWS):
        block = hashes[start : start + steps.BLOCK_ROWS]
        other, scratch = spare[0, : len(block)], spare[1, : len(block)]
        steps.mix(block, scratch)
        block ^= np.uint64(_SEED)
        other[:] = _SEED
        _finish(block, other, np.uint64(length), scratch)
    return hashes


def hash_bytes(array: pa.Array) -> UInt64s:
    """The hashes of a string, binary, large_string or large_binary array: of each value's bytes (UTF-8 for strings)."""
    offsets, data = offsets_and_data(array)
    hashes = np.empty(len(array), np.uint64)
    for start, stop in steps.blocks(offsets):
        hashes[start:stop] = hash_rows(*steps.padded_block(offsets, data, start, stop))
    return hashes


def hash_rows(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> UInt64s:
    """The hashes of the values at `starts` in `data`, which has 8 bytes more than the last of them needs."""
    order = steps.longest_first(lengths >> 4)
    if order is not None:
        starts, lengths = starts[order], lengths[order]
    words_at = steps.words_anywhere(data)
    first, second = _hash_blocks(words_at, starts, lengths >> 4)
    scratch = np.empty_like(first)
    tails, rest = starts + (lengths & -16), lengths & 15
    _add_tail(first, _tail(words_at, tails, np.minimum(rest, 8)), scratch, lane=0)
    _add_tail(second, _tail(words_at, np.where(rest > 8, tails + 8, tails), np.maximum(rest - 8, 0)), scratch, lane=1)
    _finish(first, second, lengths.view(np.uint64), scratch)
    return first if order is None else steps.restore_order(order, first)


def _tail(words_at: UInt64s, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> UInt64s:
    """The first `lengths` bytes, 0 to 8, of the word at each start; an empty one is 0, which changes nothing."""
    # A shift by 64 bits is undefined, so eight bytes are shifted twice.
    half = (lengths << 2).astype(np.uint64)
    masks = ~((~np.uint64(0) << half) << half)
    tails: UInt64s = words_at[starts] & masks
    return tails


def _add_tail(states: UInt64s, tails: UInt64s, scratch: UInt64s, *, lane: int) -> None:
    _mix_lane(tails, scratch, lane)
    states ^= tails


def _hash_blocks(
    words_at: UInt64s, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> tuple[UInt64s, UInt64s]:
    """Both lanes after all whole blocks of 16 bytes; `counts` of them for each value, in descending order."""
    first, second = np.full(len(starts), _SEED, np.uint64), np.full(len(starts), _SEED, np.uint64)
    scratch = np.empty_like(first)
    ascending = -counts
    for block in range(int(counts[0])):
        active = int(np.searchsorted(ascending, -block))
        if active < _FEW_ROWS:
            for row in range(active):
                at, rest = int(starts[row]) + 16 * block, int(counts[row]) - block
                first[row], second[row] = _hash_long_row((int(first[row]), int(second[row])), words_at, at, rest)
            break
        places = starts[:active] + 16 * block
        _add_block(first[:active], second[:active], words_at[places], words_at[places + 8], scratch[:active])
    return first, second


def _add_block(first: UInt64s, second: UInt64s, low: UInt64s, high: UInt64s, scratch: UInt64s) -> None:
    _mix_lane(low, scratch, 0)
    first ^= low
    steps.rotate(first, 27, scratch)
    first += second
    steps.spread(first, _ADDENDS[0])
    _mix_lane(high, scratch, 1)
    second ^= high
    steps.rotate(second, 31, scratch)
    second += first
    steps.spread(second, _ADDENDS[1])


def _hash_long_row(states: tuple[int, int], words_at: UInt64s, start: int, count: int) -> tuple[int, int]:
    """Both lanes of one value after `count` more blocks, which lie at `start`."""
    first, second = states
    low, high = (words_at[at : at + 16 * count : 16][:count].copy() for at in (start, start + 8))
    _mix_lane(low, np.empty_like(low), 0)
    _mix_lane(high, np.empty_like(high), 1)
    for one, other in zip(low.tolist(), high.tolist(), strict=True):
        first ^= one
        first = (((first << 27 | first >> 37) + second) * 5 + _ADDENDS[0]) & _MASK
        second ^= other
        second = (((second << 31 | second >> 33) + first) * 5 + _ADDENDS[1]) & _MASK
    return first, second


def _mix_lane(words: UInt64s, scratch: UInt64s, lane: int) -> None:
    """Scramble each word of a lane, in place."""
    if lane == 0:
        steps.mix(words, scratch)
        return
    words *= steps.SECOND_FACTOR
    steps.rotate(words, 33, scratch)
    words *= steps.FIRST_FACTOR


def _finish(first: UInt64s, second: UInt64s, lengths: UInt64s | np.uint64, scratch: UInt64s) -> None:
    """Leave the hash in `first`."""
    first ^= lengths
    second ^= lengths
    first += second
    second += first
    steps.finish(first, scratch)
    steps.finish(second, scratch)
    first += second
