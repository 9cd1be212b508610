"""Theta sketches: distinct counts in the form of Iceberg's Puffin files (blob type apache-datasketches-theta-v1).

A sketch keeps the 4,096 smallest hashes that it has seen; theta is the next one, below which every hash is kept. That
does not depend on the order of the values, and every reader of DataSketches takes it. Up to 4,096 distinct values the
bytes are those of Iceberg's own writers; above, those keep a few hashes more or less, depending on how rows were split.

The bytes, little-endian (org.apache.datasketches.theta.PreambleUtil):

    byte 0       words of 8 bytes before the entries: 1 (no entry, or one), 2, or 3 if theta is below 1
    bytes 1, 2   version 3 and family 3 (compact)
    bytes 3, 4   0
    byte 5       flags: read-only, compact, ordered; empty; a single entry
    bytes 6-7    hash of the seed, 0 in an empty sketch
    bytes 8-15   count of entries and 1.0 as float32; or the single entry
    bytes 16-23  theta, if it is below 1
    then         entries in ascending order
"""

import math
import struct
from typing import Any

import datasketches
import numpy as np
import pyarrow as pa

from hmstats.errors import SketchError
from hmstats.sketch.values.iceberg_hashes import iceberg_hashes
from hmstats.sketch.values.murmur3_steps import UInt64s

NOMINAL_ENTRIES = 4096
STANDARD_ERROR = 1 / math.sqrt(NOMINAL_ENTRIES - 1)
"""The relative standard error of an estimate above 4,096 distinct values."""
_WHOLE = 2**63 - 1
"""Theta of a sketch that has left out nothing."""
_SEED = 9001
_SEED_HASH = 0x93CC
_ORDERED, _EMPTY, _SINGLE = 0x1A, 0x04, 0x20
_MOST_PENDING = 4 * NOMINAL_ENTRIES
_FIRST = struct.Struct("<BBBxxBH")
_COUNT = struct.Struct("<If")


class ThetaSketch:
    """A distinct count over whole arrays. Merging is that of sets: associative, commutative and idempotent."""

    __slots__ = ("_entries", "_pending", "_pending_count", "_theta")

    def __init__(self) -> None:
        self._theta = _WHOLE
        self._entries: UInt64s = np.empty(0, np.uint64)
        self._pending: list[UInt64s] = []
        self._pending_count = 0

    @property
    def theta(self) -> int:
        """The hash from which on entries are left out; 2^63 - 1 if none was."""
        self._fold()
        return self._theta

    @property
    def entries(self) -> UInt64s:
        """The kept hashes, ascending."""
        self._fold()
        return self._entries

    def update(self, values: pa.Array | pa.ChunkedArray) -> None:
        """Add values by their form in Iceberg; nulls, and empty texts and binaries, are not counted.

        Raises SketchError for an Arrow type that is no primitive type of Iceberg.
        """
        for array in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
            self.add_hashes(iceberg_hashes(array))

    def add_hashes(self, hashes: UInt64s) -> None:
        """Add values by their hashes (Murmur3 x64 128, seed 9001, first 64 bits)."""
        # In small blocks: theta falls after the first, so that few hashes of the others are sorted.
        for start in range(0, len(hashes), _MOST_PENDING):
            self._add_block(hashes[start : start + _MOST_PENDING])

    def _add_block(self, hashes: UInt64s) -> None:
        entries = hashes >> np.uint64(1)
        # 0 stands for no entry in DataSketches, so that its one hash in 2^63 is not counted; 0 - 1 is the largest.
        kept = entries[(entries - np.uint64(1)) < np.uint64(self._theta - 1)]
        self._pending.append(kept)
        self._pending_count += len(kept)
        if self._pending_count >= _MOST_PENDING:
            self._fold()

    def merge(self, other: "ThetaSketch") -> "ThetaSketch":
        """A new sketch of both sides' values."""
        merged = ThetaSketch()
        merged._keep_smallest(min(self.theta, other.theta), np.concatenate([self.entries, other.entries]))
        return merged

    def estimate(self) -> float:
        """The number of distinct values: exact, except for equal hashes, if nothing was left out."""
        return float(len(self.entries)) if self.theta == _WHOLE else len(self.entries) / (self.theta / 2**63)

    @property
    def ndv(self) -> int:
        """The estimate as Iceberg's writers put it into a blob's `ndv` property: cut off to a whole number."""
        return int(self.estimate())

    def to_bytes(self) -> bytes:
        """The compact, ordered form that DataSketches reads in every language."""
        entries, count = self.entries, len(self.entries)
        if self.theta < _WHOLE:
            head = _FIRST.pack(3, 3, 3, _ORDERED, _SEED_HASH) + _COUNT.pack(count, 1.0)
            return head + struct.pack("<Q", self.theta) + entries.astype("<u8").tobytes()
        if count == 0:
            return _FIRST.pack(1, 3, 3, _ORDERED | _EMPTY, 0)
        if count == 1:
            return _FIRST.pack(1, 3, 3, _ORDERED | _SINGLE, _SEED_HASH) + entries.astype("<u8").tobytes()
        return _FIRST.pack(2, 3, 3, _ORDERED, _SEED_HASH) + _COUNT.pack(count, 1.0) + entries.astype("<u8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "ThetaSketch":
        """Read a compact sketch of any writer, compressed or not, cut to 4,096 entries.

        Raises SketchError for bytes that DataSketches does not read, and for another seed.
        """
        try:
            found: Any = datasketches.compact_theta_sketch.deserialize(data, _SEED)
        except (RuntimeError, ValueError, IndexError, MemoryError) as error:
            raise SketchError(f"a theta sketch of {len(data)} bytes cannot be read: {error}") from error
        entries = np.fromiter(found, np.uint64, found.num_retained)
        if len(entries) and not (1 <= int(entries.min()) and int(entries.max()) < found.theta64):
            raise SketchError("a theta sketch has entries that are not between 0 and its theta")
        read = cls()
        read._keep_smallest(found.theta64, entries)
        return read

    def _fold(self) -> None:
        """Keep the smallest of what was added since."""
        if not self._pending:
            return
        every = np.concatenate(self._pending)
        self._pending, self._pending_count = [], 0
        if len(self._entries):
            every = every[~self._holds(every)]
        self._keep_smallest(self._theta, np.concatenate([self._entries, every]))

    def _holds(self, hashes: UInt64s) -> Any:
        """Whether each hash is an entry: repeated values need not be sorted again."""
        places = np.searchsorted(self._entries, hashes)
        return self._entries[np.minimum(places, len(self._entries) - 1)] == hashes

    def _keep_smallest(self, theta: int, entries: UInt64s) -> None:
        """Keep the smallest entries below theta, each once."""
        kept = np.unique(entries[entries < np.uint64(theta)])
        if len(kept) > NOMINAL_ENTRIES:
            theta, kept = int(kept[NOMINAL_ENTRIES]), kept[:NOMINAL_ENTRIES]
        self._theta, self._entries = theta, kept.copy()
