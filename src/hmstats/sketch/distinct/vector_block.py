"""The bit vectors of neighbours in one block, from which any subset of them is merged without reading them.

A union keeps the greatest rank of each register. A block keeps the three greatest with the members that have them: the
first whose member is in the subset is the greatest there. If none of the three is, the register's rank in the subset is
at most the third, which some other block mostly exceeds; where none does, the members' own vectors are read. A block
whose members are all sparse and have few codes together keeps each code with the members that have it.

    1 byte    1 for ranks, 2 for codes
    1 byte    p
    1 byte    number of members
    ranks     a bit for each member: whether it is dense; ranks and members, each 3 x 2^p bytes; all but the first bytes
              compressed by zlib: ranks as the first, and how much less the next are
    codes     number of codes (4 bytes), the codes, and for each of them a bit for each member; compressed likewise

Numbers are little-endian.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError
from hmstats.sketch.distinct import hll_bytes
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.distinct.hll_bytes import Codes, Registers

MOST_MEMBERS = 128
"""Most members of a block: their numbers have seven bits."""
_KEPT = 3
_RANKS, _CODES = 1, 2
_HEAD_BYTES = 3
_LEVEL = 1
"""Of compression: higher ones take several times as long for a few hundredths less."""
Chosen = npt.NDArray[np.bool_]
"""Whether each member is in a subset."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsetUnion:
    """The union of a subset of a block's members, as far as the block tells it.

    `registers` are the greatest known ranks, `bounds` the greatest that a register can have where it is not known, else
    0; both None if the subset has `codes` instead. `dense` tells whether one of the subset is dense.
    """

    p: int
    registers: Registers | None = None
    bounds: Registers | None = None
    dense: bool = False
    codes: Codes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """A block; of `ranks` and `members` (3 rows of 2^p) and `dense`, or of `codes` and `having` (codes x members)."""

    p: int
    size: int
    ranks: Registers | None = None
    members: Registers | None = None
    dense: Chosen | None = None
    codes: Codes | None = None
    having: Chosen | None = None

    @classmethod
    def of(cls, vectors: Sequence[bytes]) -> "VectorBlock":
        """The block of 1 to 128 Hive's HyperLogLog sketches of one p. Raises SketchError for others, or if corrupt."""
        if not 0 < len(vectors) <= MOST_MEMBERS:
            raise SketchError(f"a block has 1 to {MOST_MEMBERS} members, not {len(vectors)}")
        headers = [hll_bytes.read_header(each) for each in vectors]
        if len({each.p for each in headers}) > 1:
            raise SketchError("the members of a block have one p")
        sketches = _sketches(vectors, headers)
        p = headers[0].p
        if all(each.is_sparse for each in sketches):
            every = np.concatenate([each.codes for each in sketches])
            codes, place = np.unique(every, return_inverse=True)
            union = HiveHll(p)
            union.absorb(sketches)
            if union.is_sparse:
                having = np.zeros((len(codes), len(vectors)), np.bool_)
                having[place, np.repeat(np.arange(len(vectors)), [len(each.codes) for each in sketches])] = True
                return cls(p, len(vectors), codes=codes, having=having)
        dense = np.array([not each.is_sparse for each in sketches])
        return cls(p, len(vectors), *_greatest(np.stack([each.as_registers() for each in sketches])), dense)

    @classmethod
    def from_bytes(cls, data: bytes) -> "VectorBlock":
        """Read `to_bytes`. Raises SketchError if the bytes are corrupt."""
        try:
            kind, p, size = data[:_HEAD_BYTES]
            rest = np.frombuffer(zlib.decompress(data[_HEAD_BYTES:]), np.uint8)
            block = {_RANKS: cls._of_ranks, _CODES: cls._of_codes}[kind](p, size, rest)
        except (KeyError, ValueError, zlib.error) as error:
            raise SketchError(f"a block of bit vectors of {len(data)} bytes cannot be read: {error}") from error
        if block.members is not None and (block.members.shape != (_KEPT, 1 << p) or block.members.max() >= size):
            raise SketchError(f"a block of bit vectors has {_KEPT} of {size} members for each of {1 << p} registers")
        return block

    @classmethod
    def _of_ranks(cls, p: int, size: int, rest: Registers) -> "VectorBlock":
        bits, cells = -(-size // 8), _KEPT << p
        dense = np.unpackbits(rest[:bits], count=size).astype(np.bool_)
        less = rest[bits : bits + cells].reshape(_KEPT, -1)
        ranks = np.concatenate((less[:1], less[:1] - np.cumsum(less[1:], axis=0, dtype=np.uint8)))
        return cls(p, size, ranks, rest[bits + cells :].reshape(_KEPT, -1), dense)

    @classmethod
    def _of_codes(cls, p: int, size: int, rest: Registers) -> "VectorBlock":
        count = int(rest[:4].view("<u4")[0])
        having = np.unpackbits(rest[4 + 4 * count :].reshape(count, -(-size // 8)), axis=1, count=size).astype(np.bool_)
        return cls(p, size, codes=rest[4 : 4 + 4 * count].view("<u4").astype(np.uint32), having=having)

    def to_bytes(self) -> bytes:
        """The block's bytes."""
        if self.codes is not None and self.having is not None:
            parts = (
                np.uint32(len(self.codes)).tobytes(),
                self.codes.tobytes(),
                np.packbits(self.having, axis=1).tobytes(),
            )
            return bytes([_CODES, self.p, self.size]) + zlib.compress(b"".join(parts), _LEVEL)
        assert self.ranks is not None
        assert self.members is not None
        assert self.dense is not None
        less = np.concatenate((self.ranks[:1], self.ranks[:-1] - self.ranks[1:]))
        parts = (np.packbits(self.dense).tobytes(), less.tobytes(), self.members.tobytes())
        return bytes([_RANKS, self.p, self.size]) + zlib.compress(b"".join(parts), _LEVEL)

    def union(self) -> HiveHll:
        """The union of all members."""
        union = HiveHll(self.p)
        if self.codes is not None:
            of_codes = HiveHll(self.p)
            of_codes.codes = self.codes
            union.absorb([of_codes])
        elif self.ranks is not None:
            union.registers = self.ranks[0]
        return union

    def subset(self, chosen: Chosen) -> SubsetUnion:
        """The union of the chosen members, as far as it is known."""
        if self.codes is not None and self.having is not None:
            return SubsetUnion(self.p, codes=self.codes[(self.having & chosen).any(axis=1)])
        assert self.ranks is not None
        assert self.members is not None
        assert self.dense is not None
        known = chosen[self.members]
        registers = np.where(known, self.ranks, 0).max(axis=0)
        bounds = np.where(known.any(axis=0), 0, self.ranks[-1])
        return SubsetUnion(self.p, registers, bounds.astype(np.uint8), bool(self.dense[chosen].any()))


def _sketches(vectors: Sequence[bytes], headers: Sequence[hll_bytes.Header]) -> list[HiveHll]:
    """The sketches, read all at once for each header."""
    found: list[HiveHll] = [HiveHll()] * len(vectors)
    for header in set(headers):
        places = [place for place, each in enumerate(headers) if each == header]
        some = [vectors[place] for place in places]
        if header.width:
            for place, registers in zip(places, hll_bytes.read_registers(some, header), strict=True):
                found[place] = HiveHll(header.p)
                found[place].registers = registers if registers.any() else None
        else:
            for place, each in zip(places, some, strict=True):
                found[place] = HiveHll.from_bytes(each)
    return found


def _greatest(registers: Registers) -> tuple[Registers, Registers]:
    """The three greatest ranks of each register, and their members; of equal ranks each register prefers others."""
    count, size = registers.shape
    mixed = (np.arange(size, dtype=np.uint32) * np.uint32(2_654_435_761) >> np.uint32(25)).astype(np.uint16)
    places = np.arange(count, dtype=np.uint16)[:, np.newaxis] ^ mixed
    keys = registers.astype(np.uint16) << np.uint16(7) | places
    ranks, members = np.zeros((_KEPT, size), np.uint8), np.zeros((_KEPT, size), np.uint8)
    every = np.arange(size)
    for each in range(min(_KEPT, count)):
        top = keys.max(axis=0)
        ranks[each] = top >> np.uint16(7)
        members[each] = top & np.uint16(127) ^ mixed
        keys[members[each], every] = 0
    return ranks, members
