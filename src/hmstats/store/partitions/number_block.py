"""The numbers of one column's statistics in neighbouring partitions, as arrays from which any of them are summed up.

    4 bytes   number of members, and length of the type
    fields    of each of FIELDS 10 bytes: the bytes of a number (0: no member has one), 1 if only some of those with
              statistics have one, and the base to which numbers that are not doubles are added
    type      COLUMN_TYPE of all
    bits      by member: whether it has statistics, whether it has a bit vector, and whether it has the numbers of
              each array that only some have
    arrays    doubles and unsigned integers by member, in the order of FIELDS; of decimals their places in the texts
    texts     4 bytes for the length, and the decimals in order, the least first, with a line feed between two; of each
              column with decimals

Numbers are little-endian. Bits begin at the highest of a byte, each list of them at a byte.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hmstats.errors import SketchError
from hmstats.store.partitions.blocks import Chosen
from hmstats.store.statistics.column_sums import ADDED, DECIMALS, NUMBERS, ColumnSums, Value, is_low
from hmstats.store.statistics.statistics_rows import decimal

MOST_MEMBERS = 1024
"""Most members of a block: a chosen thousand of 20 columns lies in some tens of rows."""
FIELDS = (*NUMBERS, "LAST_ANALYZED", *DECIMALS)
"""The columns of PART_COL_STATS whose numbers a block has."""
_DOUBLES = frozenset({"DOUBLE_LOW_VALUE", "DOUBLE_HIGH_VALUE", "AVG_COL_LEN"})
_LENGTH = struct.Struct("<I")
_HEAD = struct.Struct("<HH" + "BBq" * len(FIELDS))
_WIDTHS = (1, 2, 4, 8)
_LONG_BYTES = 8
Places: TypeAlias = npt.NDArray[np.intp]
"""Places of members in a block, ascending."""
Row: TypeAlias = tuple[bool, Sequence[Any]]
"""Whether a member has a bit vector, and its numbers by FIELDS."""


@dataclass(frozen=True, slots=True, eq=False)
class _Array:
    """A field's numbers by member: doubles, or `base` plus unsigned ones. `known` tells who has one; None: all do."""

    kept: npt.NDArray[Any]
    base: int = 0
    known: Chosen | None = None

    @classmethod
    def of(cls, name: str, values: Sequence[Any], present: Chosen) -> "_Array | None":
        """The array of the members' values; None if none of them has one."""
        known = np.array([each is not None for each in values])
        if not known.any():
            return None
        own = None if (known == present).all() else known
        if name in _DOUBLES:
            return cls(np.array([0.0 if each is None else float(each) for each in values], "<f8"), known=own)
        there = [each for each in values if each is not None]
        base, span = min(there), max(there) - min(there)
        width = next(each for each in _WIDTHS if span < 1 << 8 * each)
        return cls(np.array([0 if each is None else each - base for each in values], f"<u{width}"), base, own)

    def numbers_at(self, places: Places) -> npt.NDArray[Any]:
        """What is kept of the known numbers of the members at these places."""
        return self.kept.take(places if self.known is None else places[self.known.take(places)])


@dataclass(frozen=True, slots=True, eq=False)
class NumberBlock:
    """A block; `present` tells which members have statistics, `sketched` which have a bit vector.

    Of decimals the arrays have the places in `decimals`, which are in order.
    """

    column_type: str
    present: Chosen
    sketched: Chosen
    arrays: Mapping[str, _Array]
    decimals: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, column_type: str, rows: Sequence[Row | None]) -> "NumberBlock":
        """The block of the members' statistics in this type; None for a member without any."""
        present = np.array([row is not None for row in rows])
        sketched = np.array([row is not None and row[0] for row in rows])
        arrays, decimals = dict[str, _Array](), dict[str, Sequence[str]]()
        for place, name in enumerate(FIELDS):
            values = [None if row is None else row[1][place] for row in rows]
            if name in DECIMALS:
                values, decimals[name] = _places(values)
            array = _Array.of(name, values, present)
            if array is not None:
                arrays[name] = array
        return cls(column_type, present, sketched, arrays, decimals)

    @classmethod
    def from_bytes(cls, data: bytes) -> "NumberBlock":
        """The block in these bytes. Raises SketchError if they are none."""
        try:
            return cls._read(data)
        except (ValueError, TypeError, struct.error) as error:
            raise SketchError(f"a block of numbers cannot be read from {len(data)} bytes: {error}") from error

    @classmethod
    def _read(cls, data: bytes) -> "NumberBlock":
        members, type_length, *described = _HEAD.unpack_from(data)
        lists, size = 2 + sum(described[1::3]), -(-members // 8)
        start = _HEAD.size + type_length
        packed = np.frombuffer(data, np.uint8, lists * size, start).reshape(lists, size)
        present, sketched, *known = np.unpackbits(packed, axis=1, count=members).view(np.bool_)
        arrays, offset, partly_known = {}, start + lists * size, iter(known)
        for name, width, partly, base in zip(FIELDS, described[::3], described[1::3], described[2::3], strict=True):
            if width:
                kept = np.frombuffer(data, _kept_as(name, width), members, offset)
                arrays[name] = _Array(kept, base, next(partly_known) if partly else None)
                offset += members * width
        decimals = {}
        for name in [each for each in DECIMALS if each in arrays]:
            decimals[name], offset = _texts(data, offset)
        return cls(data[_HEAD.size : start].decode(), present, sketched, arrays, decimals)

    def to_bytes(self) -> bytes:
        """The bytes of the block."""
        described = list[int]()
        for name in FIELDS:
            array = self.arrays.get(name)
            described += (array.kept.itemsize, array.known is not None, array.base) if array else (0, 0, 0)
        column_type = self.column_type.encode()
        arrays = [self.arrays[name] for name in FIELDS if name in self.arrays]
        known = [each.known for each in arrays if each.known is not None]
        bits = [np.packbits(each).tobytes() for each in (self.present, self.sketched, *known)]
        head = _HEAD.pack(len(self.present), len(column_type), *described)
        texts = [b"\n".join(map(str.encode, self.decimals[name])) for name in DECIMALS if name in self.arrays]
        kept = [each.kept.tobytes() for each in arrays]
        return b"".join([head, column_type, *bits, *kept, *(_LENGTH.pack(len(each)) + each for each in texts)])

    def sums(self, column: str, subset: Chosen | None = None) -> ColumnSums | None:
        """The sums over a subset of the members (None: all); None if none of them has statistics."""
        chosen_ones = self.present if subset is None else subset & self.present
        places = np.flatnonzero(chosen_ones)  # of a subset, places are read in a third of a mask's time
        if not len(places):
            return None
        chosen = {name: (each.numbers_at(places), each.base) for name, each in self.arrays.items()}
        analyzed, since = chosen.pop("LAST_ANALYZED")
        values = {name: _sum(name, *each) for name, each in chosen.items()}
        for name, texts in self.decimals.items():
            place = values.get(name)
            values[name] = None if place is None else texts[int(place)]
        return ColumnSums(
            column,
            self.column_type,
            {name: value for name, value in values.items() if value is not None},
            len(places),
            int(np.count_nonzero(self.sketched.take(places))),
            _total(*chosen["NUM_DISTINCTS"]) or 0 if "NUM_DISTINCTS" in chosen else 0,
            int(np.minimum.reduce(analyzed)) + since,
            knows_decimals=True,
        )


def _sum(name: str, kept: npt.NDArray[Any], base: int) -> Value:
    """The aggregate of numbers by the name of their column; None if there are none that count."""
    if name in ADDED:
        return _total(kept, base)
    if name.startswith("DOUBLE"):
        kept = kept[kept <= np.inf]  # NaN is no bound
    if not len(kept):
        return None
    found: int | float = (np.minimum if is_low(name) else np.maximum).reduce(kept).item()
    return found if name in _DOUBLES else found + base


def _total(kept: npt.NDArray[Any], base: int) -> int | None:
    """The exact sum of the numbers that are not negative, which mean unknown."""
    counted = kept if base >= 0 else kept[kept >= -base]
    if not len(counted):
        return None
    above = int(counted.sum(dtype=np.uint64)) if counted.itemsize < _LONG_BYTES else sum(counted.tolist())
    return above + len(counted) * base


@cache
def _kept_as(name: str, width: int) -> np.dtype[Any]:
    return np.dtype("<f8" if name in _DOUBLES else f"<u{width}")


def _places(values: Sequence[Any]) -> tuple[list[int | None], Sequence[str]]:
    """The places of decimals among the different ones in order, and these as texts."""
    numbers = {text: number for text in values if text is not None and (number := decimal(text)) is not None}
    ordered = sorted(numbers, key=lambda text: (numbers[text], text))
    places = {text: place for place, text in enumerate(ordered)}
    return [places.get(text) for text in values], ordered


def _texts(data: bytes, offset: int) -> tuple[Sequence[str], int]:
    """The texts from this offset on, and the offset after them."""
    (length,) = _LENGTH.unpack_from(data, offset)
    start = offset + _LENGTH.size
    return data[start : start + length].decode().split("\n"), start + length
