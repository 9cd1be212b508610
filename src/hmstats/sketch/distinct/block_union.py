"""The union of subsets of blocks, and of vectors by themselves, as exact as if each vector had been read.

A subset of a block leaves registers unknown (vector_block.py). When all else is merged, most of them can only be less
than what others have; the blocks for which that is not so are named, so that the caller adds their vectors.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from hmstats.sketch.distinct.hive_hll import DEFAULT_P, HiveHll, sparse_limit
from hmstats.sketch.distinct.hll_bytes import Registers
from hmstats.sketch.distinct.vector_block import SubsetUnion

Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class _KnownRegisters:
    """The merged known registers of the blocks of one precision p; `certain` once one of their members is dense."""

    registers: Registers
    certain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Doubt:
    """The indexes of a block's registers whose true values may exceed the known ones, and their upper bounds."""

    p: int
    places: npt.NDArray[np.intp]
    bounds: Registers


class BlockUnion(Generic[Key]):
    """A union under construction, to which blocks are added, each under a key."""

    def __init__(self) -> None:
        self._known_by_p: dict[int, _KnownRegisters] = {}
        self._sketches: list[HiveHll] = []
        self._doubts: dict[Key, _Doubt] = {}

    def add(self, key: Key, found: SubsetUnion) -> None:
        """Add the subset of a block."""
        if found.codes is not None:
            sketch = HiveHll(found.p)
            sketch.codes = found.codes
            self._sketches.append(sketch)
            return
        assert found.registers is not None
        assert found.bounds is not None
        known = self._known_by_p.setdefault(found.p, _KnownRegisters(np.zeros(1 << found.p, np.uint8)))
        np.maximum(known.registers, found.registers, out=known.registers)
        known.certain |= found.dense
        places = np.flatnonzero(found.bounds > known.registers)
        if len(places):
            self._doubts[key] = _Doubt(found.p, places, found.bounds[places])

    def add_vectors(self, vectors: Iterable[bytes]) -> None:
        """Add Hive's HyperLogLog sketches. Raises SketchError if one is corrupt, or of another kind."""
        self._sketches.append(HiveHll.merge_many([*vectors]))

    def in_doubt(self) -> list[Key]:
        """The keys of blocks whose vectors could still change the union. Call this after everything was added."""
        known = {p: self._with_alike(p) for p in self._known_by_p}
        return [key for key, each in self._doubts.items() if (each.bounds > known[each.p][each.places]).any()]

    def result(self) -> HiveHll | None:
        """The union once no block is in doubt; None if only the vectors tell whether it is sparse."""
        parts = [*self._sketches]
        for p, found in self._known_by_p.items():
            part = HiveHll(p)
            parts.append(part)
            if not found.registers.any():
                continue
            # As many registers as this belong to more keys than a sparse sketch holds.
            if not found.certain and np.count_nonzero(self._with_alike(p)) <= sparse_limit(p):
                return None
            part.registers = found.registers
        union = HiveHll(min((each.p for each in parts), default=DEFAULT_P))
        union.absorb(parts)
        return union

    def _with_alike(self, p: int) -> Registers:
        """The merged registers of all blocks and sketches of this p."""
        registers = self._known_by_p[p].registers.copy()
        for each in self._sketches:
            if each.p == p and not each.is_empty:
                np.maximum(registers, each.as_registers(), out=registers)
        return registers
