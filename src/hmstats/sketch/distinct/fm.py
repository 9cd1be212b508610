"""FM sketches, with which Hive before 3 counted distinct values: read, merged and estimated, never created.

Source: org.apache.hadoop.hive.common.ndv.fm.FMSketch and FMSketchUtils. The bytes are 46 4D ("FM"), the count of
vectors as 16 bits and each vector as 32 bits, all little-endian; bit 31 is never written. Bit i of a vector says that a
hash with i zeros at its end was seen (Flajolet, Martin 1985).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError

MAGIC = b"FM"
_HEADER_BYTES = 4
_CORRECTION = 0.77351
"""Flajolet and Martin's phi."""


@dataclass(frozen=True, slots=True, eq=False)
class FmSketch:
    """An FM sketch; `vectors` are its bit vectors, as uint32."""

    vectors: npt.NDArray[np.uint32]

    @classmethod
    def from_bytes(cls, data: bytes) -> "FmSketch":
        """Read Hive's bytes. Raises SketchError when they are corrupt or of another kind."""
        if len(data) < _HEADER_BYTES or data[:2] != MAGIC:
            raise SketchError(f"an FM sketch starts with {MAGIC.hex()}; these {len(data)} bytes with {data[:2].hex()}")
        count = int.from_bytes(data[2:4], "little")
        if count == 0 or len(data) != _HEADER_BYTES + 4 * count:
            raise SketchError(f"an FM sketch of {count} vectors does not have {len(data)} bytes")
        return cls(np.frombuffer(data, "<u4", offset=_HEADER_BYTES))

    @classmethod
    def merge_many(cls, sketches: Sequence[bytes]) -> "FmSketch":
        """The union of one serialised sketch or more. Raises SketchError for corrupt bytes, or different sizes."""
        return reduce(cls.merge, map(cls.from_bytes, sketches))

    def merge(self, other: "FmSketch") -> "FmSketch":
        """The union. Raises SketchError when the other has another number of vectors."""
        if len(self.vectors) != len(other.vectors):
            raise SketchError(f"an FM sketch of {len(self.vectors)} vectors does not merge with {len(other.vectors)}")
        return FmSketch(self.vectors | other.vectors)

    def estimate(self) -> int:
        """The number of distinct values: 2 to the mean place of the lowest 0 bit, corrected; 1 when empty."""
        lowest_zeros = np.bitwise_count(self.vectors & ~(self.vectors + np.uint32(1)))
        return int(2.0 ** (float(lowest_zeros.mean()) - np.log2(_CORRECTION)))

    def to_bytes(self) -> bytes:
        """Hive's bytes."""
        return MAGIC + len(self.vectors).to_bytes(2, "little") + self.vectors.astype("<u4").tobytes()
