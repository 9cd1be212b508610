"""Hive's HyperLogLog, which counts distinct values in 2^p registers, in the bytes that Hive reads and writes.

Source: org.apache.hadoop.hive.common.ndv.hll. A sketch begins sparse, with a code for every key it saw, and becomes
dense above a number of codes. Two of Hive's faults are avoided: a larger p folds into a smaller from either side, and
every register is folded (Hive's dense fold loses the ranks above 31 - p).
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError
from hmstats.sketch.distinct import hll_bytes
from hmstats.sketch.distinct.hll_bytes import KEY_BITS, MAX_P, MAX_RANK, MIN_P, RANK_BITS, Codes, Header, Registers
from hmstats.sketch.distinct.hll_estimate import count_dense, count_sparse
from hmstats.sketch.values.murmur3_steps import UInt64s

DEFAULT_P = 12
"""Relative standard error 1.04 / sqrt(2^12) = 1.6 %. Hive's own ANALYZE uses 10 (3.3 %)."""

_BLOCK = 8192
_FIRST_BLOCK = 1024
_DENSE_AT_ONCE = 256
_SPARSE_BYTES_AT_ONCE = 512 * 1024
_MASK = 0xFFFF_FFFF_FFFF_FFFF


class HiveHll:
    """A sketch of the distinct values whose hashes (murmur3) were added.

    `codes` are the entries of a sparse sketch, in the order in which they came; `registers` is None until it is dense.
    Equality ignores the order of the values.
    """

    __slots__ = ("codes", "p", "registers")

    def __init__(self, p: int = DEFAULT_P) -> None:
        """An empty sketch of 2^p registers; it is the identity of `merge`. Raises SketchError if p is not 4 to 16."""
        if not MIN_P <= p <= MAX_P:
            raise SketchError(f"a HyperLogLog sketch has p from {MIN_P} to {MAX_P}, not {p}")
        self.p = p
        self.codes: Codes = np.zeros(0, np.uint32)
        self.registers: Registers | None = None

    @classmethod
    def from_bytes(cls, data: bytes) -> "HiveHll":
        """Read Hive's bytes. Raises SketchError when they are corrupt or of another kind."""
        return cls.merge_many([data])

    @classmethod
    def merge_many(cls, sketches: Sequence[bytes]) -> "HiveHll":
        """The union of serialised sketches, of any precisions, all at once; its p is the smallest that is not empty.

        Raises SketchError when one of them is corrupt, or of another kind.
        """
        alike: dict[bytes, list[bytes]] = {}
        for sketch in sketches:
            alike.setdefault(sketch[: hll_bytes.HEADER_BYTES], []).append(sketch)
        groups = [(hll_bytes.read_header(min(group, key=len)), group) for group in alike.values()]
        merged = cls(min((header.p for header, _ in groups), default=DEFAULT_P))
        for header, group in groups:
            merged.absorb(cls._read_group(header, group))
        return merged

    def merge(self, other: "HiveHll") -> "HiveHll":
        """A new sketch of both sides' values; its p is the smaller one."""
        merged = HiveHll(min(self.p, other.p))
        merged.absorb([self, other])
        return merged

    def fold(self, p: int) -> "HiveHll":
        """A sketch of the same values with 2^p registers. Raises SketchError if p is larger than this sketch's."""
        if p > self.p:
            raise SketchError(f"a HyperLogLog sketch of p = {self.p} cannot be unfolded to {p}")
        folded = HiveHll(p)
        if p == self.p:
            folded.absorb([self])
        elif not self.is_empty:
            folded.registers = _fold(self.as_registers(), self.p - p)
        return folded

    @property
    def is_empty(self) -> bool:
        """Whether no value was added."""
        return self.registers is None and len(self.codes) == 0

    @property
    def is_sparse(self) -> bool:
        """Whether the sketch still stores a code for each key."""
        return self.registers is None

    def add_hashes(self, hashes: UInt64s) -> None:
        """Add values by their hashes."""
        start = 0
        while start < len(hashes):
            # A column with many values becomes dense after its first block.
            stop = start + (_FIRST_BLOCK if start == 0 and self.registers is None else _BLOCK)
            block = hashes[start:stop]
            if self.registers is None:
                self._add_codes(_codes(block, self.p))
            else:
                block = _raising(block, self.registers, self.p)
                index = (block & np.uint64(len(self.registers) - 1)).view(np.int64)
                np.maximum.at(self.registers, index, _ranks(block, self.p))
            start = stop

    def absorb(self, others: Iterable["HiveHll"]) -> None:
        """Merge others in place; p becomes the smallest of the sketches that are not empty."""
        filled = [part for part in (self, *others) if not part.is_empty]
        if not filled:
            return
        p = min(part.p for part in filled)
        if all(part.is_sparse and part.p == p for part in filled):
            codes = np.concatenate([part.codes for part in filled])
            self.p, self.codes = p, codes[:0]
            self._add_codes(codes)
            return
        registers = np.zeros(1 << p, np.uint8)
        for part in filled:
            np.maximum(registers, _fold(part.as_registers(), part.p - p), out=registers)
        self.p, self.codes, self.registers = p, np.zeros(0, np.uint32), registers

    def as_registers(self) -> Registers:
        """The registers, also of a sparse sketch; the caller must not change them."""
        if self.registers is not None:
            return self.registers
        registers = np.zeros(1 << self.p, np.uint8)
        _put(registers, self.codes)
        return registers

    def count(self) -> int:
        """The number of distinct values, as Hive's `count()`; 0 when empty."""
        if self.registers is None:
            return count_sparse(len(self.codes))
        return count_dense(self.registers, self.p)

    def estimate(self) -> int:
        """The number of distinct values as Hive's `estimateNumDistinctValues()`: at least 1, even when empty."""
        return max(1, self.count())

    def to_bytes(self) -> bytes:
        """Hive's bytes. Sparse codes stand in the order of Java's HashMap, as Hive's own."""
        if self.registers is not None:
            return hll_bytes.write_dense(self.p, self.estimate(), self.registers)
        return hll_bytes.write_sparse(self.p, self.estimate(), self.codes[_hash_map_order(self.codes)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HiveHll):
            return NotImplemented
        if self.p != other.p or self.is_sparse != other.is_sparse:
            return False
        if self.registers is None or other.registers is None:
            return np.array_equal(np.sort(self.codes), np.sort(other.codes))
        return np.array_equal(self.registers, other.registers)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"HiveHll(p={self.p}, {'sparse' if self.is_sparse else 'dense'}, count={self.count()})"

    @classmethod
    def _read_group(cls, header: Header, sketches: list[bytes]) -> Iterable["HiveHll"]:
        """Merge serialized sketches of one header to a few: a sparse one, or a dense one for each batch."""
        if header.width == 0:
            sparse = cls(header.p)
            for batch in _batches(sketches):
                sparse._add_codes(hll_bytes.read_codes(batch, header.p))
            yield sparse
            return
        for start in range(0, len(sketches), _DENSE_AT_ONCE):
            dense = cls(header.p)
            registers = hll_bytes.read_registers(sketches[start : start + _DENSE_AT_ONCE], header).max(axis=0)
            dense.registers = registers if registers.any() else None
            yield dense

    def _add_codes(self, codes: Codes) -> None:
        for start in range(0, len(codes), _BLOCK):
            block = codes[start : start + _BLOCK]
            if self.registers is None:
                self._insert(_drop_known(block, self.codes))
            else:
                _put(self.registers, block)

    def _insert(self, codes: Codes) -> None:
        """Store the greatest code of each key, in the keys' order of arrival; become dense if there are many."""
        if len(codes) == 0:
            return
        every = np.concatenate((self.codes, codes))
        keys = every >> RANK_BITS
        ordered = np.sort(keys)
        if (ordered[1:] == ordered[:-1]).any():
            _, first, key_of = np.unique(keys, return_index=True, return_inverse=True)
            greatest = np.zeros(len(first), np.uint32)
            np.maximum.at(greatest, key_of, every)
            every = greatest[np.argsort(first)]
        self.codes = every
        if len(self.codes) > sparse_limit(self.p):
            self.registers = self.as_registers()
            self.codes = np.zeros(0, np.uint32)


def _batches(sketches: list[bytes]) -> Iterator[list[bytes]]:
    """Sketches in order, in batches of limited bytes, since reading takes fifty times their memory."""
    batch: list[bytes] = []
    size = 0
    for sketch in sketches:
        batch.append(sketch)
        size += len(sketch)
        if size >= _SPARSE_BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def sparse_limit(p: int) -> int:
    """A fifth of the bytes of a dense sketch with six bits a register."""
    return ((1 << p) * 6 // 8) // 5


def _raising(hashes: UInt64s, registers: Registers, p: int) -> UInt64s:
    """The hashes whose rank is above the lowest register: no other hash can change a register."""
    zeros = ((1 << int(registers.min())) - 1 << p) & _MASK
    return hashes[hashes & np.uint64(zeros) == 0] if zeros else hashes


def _ranks(hashes: UInt64s, p: int) -> npt.NDArray[np.uint8]:
    """The position, from 1, of the lowest 1 bit above the low p bits."""
    above = hashes >> np.uint64(p)
    # The lowest 1 bit and all below it.
    above ^= above - np.uint64(1)
    ranks: npt.NDArray[np.uint8] = np.bitwise_count(above)
    np.minimum(ranks, MAX_RANK, out=ranks)
    return ranks


def _codes(hashes: UInt64s, p: int) -> Codes:
    keys = (hashes & np.uint64((1 << KEY_BITS) - 1)).astype(np.uint32)
    return keys << np.uint32(RANK_BITS) | _ranks(hashes, p)


def _drop_known(codes: Codes, seen: Codes) -> Codes:
    """The new codes: a column of few values repeats its codes, and a lookup in a small table drops most of them."""
    if len(seen) == 0:
        return codes
    table = np.zeros(_BLOCK, np.uint32)
    table[seen >> RANK_BITS & _BLOCK - 1] = seen
    rest: Codes = codes[table[codes >> RANK_BITS & _BLOCK - 1] != codes]
    # This leaves new codes, and old ones whose slot in the table is used by another.
    ordered = np.sort(seen)
    places = np.minimum(np.searchsorted(ordered, rest), len(ordered) - 1)
    unseen: Codes = rest[ordered[places] != rest]
    return unseen


def _put(registers: Registers, codes: Codes) -> None:
    index = codes >> RANK_BITS & np.uint32(len(registers) - 1)
    np.maximum.at(registers, index, (codes & MAX_RANK).astype(np.uint8))


def _fold(registers: Registers, bits: int) -> Registers:
    """Registers for `bits` fewer bits of index: these bits come below the ranks."""
    if bits == 0:
        return registers
    rows = registers.reshape(1 << bits, -1)
    cut_off = np.arange(1, 1 << bits)
    shown = np.bitwise_count(cut_off ^ (cut_off - 1))[:, np.newaxis]
    folded = np.where(rows[1:] > 0, shown, 0).max(axis=0)
    longer = np.minimum(rows[0] + np.uint8(bits), MAX_RANK)
    merged: Registers = np.maximum(folded, np.where(rows[0] > 0, longer, 0)).astype(np.uint8)
    return merged


def _hash_map_order(codes: Codes) -> npt.NDArray[np.intp]:
    """The order in which a Java HashMap holds the keys: by bucket, within a bucket as they came."""
    keys = codes >> RANK_BITS
    capacity = 16
    while len(keys) > capacity * 3 // 4:
        capacity *= 2
    buckets = (keys ^ keys >> 16) & capacity - 1
    return np.argsort(buckets, kind="stable")
