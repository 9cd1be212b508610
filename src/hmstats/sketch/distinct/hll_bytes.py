"""The bytes of a Hive HyperLogLog sketch (org.apache.hadoop.hive.common.ndv.hll.HyperLogLogUtils).

    48 4C 4C            "HLL"
    1 byte              p << 4 | encoding; 0 is sparse, 1 to 6 are the bits of a dense register, 7 is a byte each
    varint              the estimate, at least 1; readers count anew
    sparse              varint count of the codes; the first code; the differences of the next, each as a 64-bit varint
    dense               2^p registers, packed, most significant bits first

A code is key << 6 | rank: 25 bits of the hash and the position of the first 1 bit above the low p bits. p = 16 does not
fit its four bits and is written as 0; Hive writes the same and cannot read it, this reader can.

Many sketches are read in one pass. No allocation depends on a number in the bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError

Codes = npt.NDArray[np.uint32]
Registers = npt.NDArray[np.uint8]

MAGIC = b"HLL"
HEADER_BYTES = 4
_LONGEST_VARINT = 10
"""Bytes of a number of 64 bits."""
MIN_P, MAX_P = 4, 16
_MOST_SPARSE_BYTES = HEADER_BYTES + _LONGEST_VARINT * (2 + (1 << MAX_P))
"""The longest sparse sketch: with more codes than the largest dense one has registers, it would be dense."""
KEY_BITS, RANK_BITS = 25, 6
MAX_RANK = 63
"""The rank of a hash without any 1 bit above its low p. Hive has 65 here, which its six bits cannot hold."""

_SPARSE, _BYTE_EACH = 0, 7
_CODE_LIMIT = 1 << KEY_BITS + RANK_BITS
# Masks for the lower seven bits of the first so many bytes of a word.
_SEVEN_BITS = np.array([0x7F7F7F7F7F & (1 << 8 * length) - 1 for length in range(6)], np.uint64)


@dataclass(frozen=True, slots=True)
class Header:
    """The first four bytes. `width` is the bits of a dense register, 0 of a sparse sketch."""

    p: int
    width: int


def read_header(data: bytes) -> Header:
    """The header of a sketch's bytes. Raises SketchError for bytes of another kind."""
    if len(data) < 6 or data[:3] != MAGIC:
        raise SketchError(
            f"a HyperLogLog sketch starts with {MAGIC.hex()}; these {len(data)} bytes with {data[:4].hex()}"
        )
    p, encoding = data[3] >> 4 or MAX_P, data[3] & 7
    if p < MIN_P or data[3] & 8:
        raise SketchError(f"a HyperLogLog sketch has p from {MIN_P} to {MAX_P}; its fourth byte is {data[3]:#04x}")
    return Header(p, 8 if encoding == _BYTE_EACH else encoding)


def write_sparse(p: int, estimate: int, codes: Codes) -> bytes:
    """The bytes of a sparse sketch; `codes` are distinct and go out in the order that they have."""
    differences = np.diff(codes.astype(np.int64), prepend=0)
    numbers = np.concatenate(([estimate, len(codes)], differences)).astype(np.uint64)
    return _first_bytes(p, _SPARSE) + _write_varints(numbers)


def write_dense(p: int, estimate: int, registers: Registers) -> bytes:
    """The bytes of a dense sketch; its registers are as narrow as the greatest allows."""
    width = int(registers.max()).bit_length()
    first_bytes = _first_bytes(p, width)
    return first_bytes + _write_varints(np.array([estimate], np.uint64)) + bytes(_pack(registers.reshape(-1, 8), width))


def read_codes(sketches: Sequence[bytes], p: int) -> Codes:
    """The codes of sparse sketches of one p, one sketch after the other. Raises SketchError for corrupt bytes."""
    _check_longest(sketches, _MOST_SPARSE_BYTES, p)
    bodies = [sketch[4:] for sketch in sketches]
    if any(body[-1] & 0x80 for body in bodies):
        raise SketchError("a sparse HyperLogLog sketch ends within a number: it was cut off")
    numbers, counts = _read_varints(bodies)
    starts = np.cumsum(counts) - counts
    if counts.min() < 2 or (numbers[starts + 1] != counts - 2).any():
        raise SketchError("a sparse HyperLogLog sketch has another number of entries than it says")
    entries = np.ones(len(numbers), np.bool_)
    entries[starts] = entries[starts + 1] = False
    numbers[~entries] = 0
    sums = np.cumsum(numbers, dtype=np.uint32)
    # Each sketch's codes begin at 0: subtract the sum before it.
    return _checked_codes((sums - np.repeat(sums[starts], counts))[entries], p)


def read_registers(sketches: Sequence[bytes], header: Header) -> Registers:
    """The registers of dense sketches of one header, a row each. Raises SketchError for corrupt bytes."""
    size = (header.width << header.p) // 8
    _check_longest(sketches, HEADER_BYTES + _LONGEST_VARINT + size, header.p)
    if not _have_one_varint(sketches, size):
        for sketch in sketches:
            found = len(sketch) - _after_estimate(sketch)
            if found != size:
                raise SketchError(
                    f"a dense HyperLogLog sketch of p = {header.p} has {size} bytes of registers, not {found}"
                )
    packed = np.frombuffer(b"".join([sketch[-size:] for sketch in sketches]), np.uint8)
    grouped = packed.reshape(len(sketches), -1, header.width)
    registers = _unpack(grouped, header.width).reshape(len(sketches), 1 << header.p)
    # Hive's rank of a hash that is all 0 is one more than the bits of a hash.
    registers[registers == 65] = MAX_RANK
    if registers.max() > MAX_RANK:
        raise SketchError(f"a register of a HyperLogLog sketch is at most 65, not {registers.max()}")
    return registers


def _check_longest(sketches: Sequence[bytes], most: int, p: int) -> None:
    """Raises SketchError for one that is longer than its header allows, before anything is made of it."""
    longest = max(map(len, sketches))
    if longest > most:
        raise SketchError(f"a HyperLogLog sketch of p = {p} has at most {most} bytes in this encoding, not {longest}")


def _first_bytes(p: int, width: int) -> bytes:
    return MAGIC + bytes([p << 4 & 0xFF | width])


def _checked_codes(codes: Codes, p: int) -> Codes:
    """The codes, if each has the rank that its key shows, or a higher one where the key shows none."""
    if codes.size and codes.max() >= _CODE_LIMIT:
        raise SketchError(
            f"a code of a sparse HyperLogLog sketch has {KEY_BITS + RANK_BITS} bits; one is {codes.max():#x}"
        )
    ranks = codes & np.uint32(MAX_RANK)
    upper = codes >> np.uint32(RANK_BITS + p)
    shown = np.bitwise_count(upper ^ (upper - np.uint32(1)))
    if np.where(upper > 0, ranks != shown, ranks <= KEY_BITS - p).any():
        raise SketchError("a sparse HyperLogLog sketch has an entry whose rank contradicts its key")
    return codes


def _pack(registers: Registers, width: int) -> Registers:
    """Groups of eight registers (last axis: 8) in `width` bytes."""
    packed = np.zeros((*registers.shape[:-1], width + 1), np.uint8)
    for position in range(8):
        byte, bit = divmod(position * width, 8)
        pair = registers[..., position].astype(np.uint16) << np.uint16(16 - bit - width)
        packed[..., byte] |= (pair >> np.uint16(8)).astype(np.uint8)
        packed[..., byte + 1] |= pair.astype(np.uint8)
    return packed[..., :width]


def _unpack(packed: Registers, width: int) -> Registers:
    """Groups of eight registers (last axis: `width` bytes) as one byte each (last axis: 8)."""
    registers = np.empty((*packed.shape[:-1], 8), np.uint8)
    mask = np.uint16((1 << width) - 1)
    for position in range(8):
        byte, bit = divmod(position * width, 8)
        spare = 16 - bit - width
        pair = packed[..., byte].astype(np.uint16) << np.uint16(8)
        if bit + width > 8:
            pair |= packed[..., byte + 1]
        registers[..., position] = pair >> np.uint16(spare) & mask
    return registers


def _have_one_varint(sketches: Sequence[bytes], size: int) -> bool:
    """Whether each sketch has exactly one varint between its header and its registers; all are checked together."""
    estimates = [sketch[HEADER_BYTES:-size] for sketch in sketches]
    ends = np.cumsum([len(each) for each in estimates])
    lasts = np.flatnonzero(np.frombuffer(b"".join(estimates), np.uint8) < 0x80)
    return max(map(len, estimates)) <= _LONGEST_VARINT and np.array_equal(lasts + 1, ends)


def _after_estimate(sketch: bytes) -> int:
    """The start of the registers: after the varint of the estimate."""
    for place in range(HEADER_BYTES, min(HEADER_BYTES + _LONGEST_VARINT, len(sketch))):
        if not sketch[place] & 0x80:
            return place + 1
    raise SketchError("a HyperLogLog sketch's estimate does not end: it was cut off or is of another kind")


def _write_varints(numbers: npt.NDArray[np.uint64]) -> bytes:
    """The numbers, seven bits a byte, least significant first, the upper bit set on all but the last byte."""
    groups = numbers[:, np.newaxis] >> np.arange(0, 70, 7, dtype=np.uint64)
    more = np.zeros(groups.shape, np.bool_)
    more[:, :-1] = groups[:, 1:] > 0
    kept = np.concatenate((np.ones((len(numbers), 1), np.bool_), more[:, :-1]), axis=1)
    coded = (groups & np.uint64(0x7F)).astype(np.uint8) | (more.astype(np.uint8) << 7)
    return bytes(coded[kept])


def _read_varints(bodies: Sequence[bytes]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """The low 32 bits of all numbers of all bodies, and how many each body has. Each body ends with a whole number."""
    coded = np.frombuffer(b"".join((*bodies, bytes(8))), np.uint8)
    ends = np.flatnonzero(coded[:-8] < 0x80)
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    if lengths.max() > 10:
        raise SketchError(f"a number in a HyperLogLog sketch has at most 10 bytes, not {lengths.max()}")
    # Five bytes have 35 bits, which is all that counts of a number of ten.
    words = np.ndarray((len(coded) - 7,), "<u8", coded, 0, (1,))[starts]
    words &= _SEVEN_BITS[np.minimum(lengths, 5)]
    numbers = np.zeros(len(words), np.uint32)
    for place in range(5):
        numbers |= ((words >> np.uint64(8 * place) & np.uint64(0x7F)) << np.uint64(7 * place)).astype(np.uint32)
    body_ends = np.cumsum([len(body) for body in bodies])
    counts = np.diff(np.searchsorted(ends, body_ends), prepend=0)
    return numbers, counts.astype(np.int64)
