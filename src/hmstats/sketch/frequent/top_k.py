"""Frequent values of a column: a DataSketches frequent-items sketch of texts (frequent_values.py has their form).

A kept item has a weight, the least number of times that it occurred; no value, kept or not, occurred more often than
its weight and the sketch's error together. Each merge and each part keeps this true (Misra and Gries 1982; Agarwal et
al. 2012: mergeable summaries).

The library drops the count and the error of a sketch whose items were all purged, so both are kept beside it here.
Its bytes, little-endian:

    byte 0      longs before the weights: 4, or 1 of an empty sketch
    byte 1      version: 1
    byte 2      family: 10
    bytes 3-4   log2 of the largest and of the present size of the map
    byte 5      flags: 1 or 4 when empty
    bytes 8-31  count of items, as 32 bits; unused; count of values and error, as 64 bits
    then        the weights, as 64 bits; the items, each after its length as 32 bits
"""

import struct
from collections.abc import Iterable, Sequence

import numpy as np
from datasketches import frequent_items_error_type, frequent_strings_sketch

from hmstats.errors import SketchError

LOG2_SIZE = 9
"""384 items at most: the error of many merges stays below 0.7 % of the values, of skewed ones far below."""
MOST_BYTES = 8_192
MOST_READ_BYTES = 1024 * 1024
"""The longest sketch of another writer that is read."""

_FIRST = struct.Struct("<BBBBBBxx")
_REST = struct.Struct("<IxxxxQQ")
_LENGTH = struct.Struct("<I")
_NOW_AT = 4
_FAMILY = 10
_EMPTY_FLAGS = 5
_LOG2_LEAST, _LOG2_MOST = 3, 16
_MOST_COUNT = 2**63 - 1
_EVERY = frequent_items_error_type.NO_FALSE_NEGATIVES
_UNREADABLE = (ValueError, RuntimeError, IndexError, MemoryError, TypeError)
"""The errors that the library raises for bytes that it cannot read; ValueError includes text that is not UTF-8."""


class TopK:
    """A sketch of the values that occur often. `count` is how many values it has seen.

    `sketch` is the library's object, whose own count is not used; `more` is the error beside the library's.
    """

    __slots__ = ("count", "more", "sketch")

    def __init__(self) -> None:
        """An empty sketch, the identity of `merge`."""
        self.sketch = frequent_strings_sketch(LOG2_SIZE)
        self.more = 0
        self.count = 0

    @classmethod
    def from_bytes(cls, data: bytes) -> "TopK":
        """Read DataSketches bytes. Raises SketchError when they are corrupt or of another kind."""
        items, count, error = _read_header(data)
        read = cls()
        read.count = count
        if items:
            read.sketch = _deserialize(_small(data, items))
            if read.sketch.num_active_items != items or read.sketch.get_serialized_size_bytes() != len(data):
                raise SketchError(f"a frequent-items sketch of {items} items does not have these {len(data)} bytes")
        read.more = error - read._purged_weight()
        return read

    @classmethod
    def merge_many(cls, sketches: Iterable[bytes]) -> "TopK":
        """Merge serialised sketches. Raises SketchError if one is corrupt."""
        merged = cls()
        merged.absorb(cls.from_bytes(sketch) for sketch in sketches)
        return merged

    @property
    def error(self) -> int:
        """The most times that an unlisted value may have occurred, and a listed one beyond its weight."""
        return self._purged_weight() + self.more

    def add(self, items: Sequence[str], weights: Sequence[int], count: int, unseen: int) -> None:
        """Add a part of `count` values, in which these items occur at least `weights` times.

        An item occurs at most `unseen` times more often than its weight, any other value at most `unseen` times.
        """
        for text, weight in zip(items, weights, strict=True):
            self.sketch.update(text, weight)
        self.count += count
        self.more += unseen

    def merge(self, other: "TopK") -> "TopK":
        """A new sketch of both sides' values."""
        merged = TopK()
        merged.absorb([self, other])
        return merged

    def absorb(self, others: Iterable["TopK"]) -> None:
        """Merge others in place."""
        for other in others:
            self.count += other.count
            if other.sketch.is_empty():
                self.more += other.error
            else:
                self.sketch.merge(other.sketch)
                self.more += other.more

    def top(self, k: int | None = None) -> list[tuple[str, int, int]]:
        """The `k` (None: all) most frequent items, each with the least and the most times that it occurred.

        The most is also the best estimate: it is the truth for an item that every part kept. Items that are as
        frequent come in the order of their texts. Raises SketchError when an item is no UTF-8.
        """
        error = self.error
        return [(text, weight, min(weight + error, self.count)) for text, weight in self._rank_items()[:k]]

    def to_bytes(self) -> bytes:
        """DataSketches bytes; the least frequent items are left out if there would be more than MOST_BYTES.

        Equal content gives equal bytes, whatever the order of the values.
        """
        if not self.count:
            return _FIRST.pack(1, 1, _FAMILY, LOG2_SIZE, _LOG2_LEAST, _EMPTY_FLAGS)
        ranked = self._rank_items()
        ends = np.cumsum([len(text.encode()) + 12 for text, _ in ranked]) + _FIRST.size + _REST.size
        fitting = min(int(np.searchsorted(ends, MOST_BYTES, side="right")), _capacity(LOG2_SIZE))
        cut = ranked[fitting][1] if fitting < len(ranked) else 0
        kept = [(text.encode(), weight - cut) for text, weight in ranked if weight > cut]
        size = next(each for each in range(_LOG2_LEAST, LOG2_SIZE + 1) if len(kept) <= _capacity(each))
        first = _FIRST.pack(4, 1, _FAMILY, LOG2_SIZE, size, 0)
        weights = np.array([weight for _, weight in kept], "<u8").tobytes()
        items = b"".join(_LENGTH.pack(len(text)) + text for text, _ in kept)
        return first + _REST.pack(len(kept), self.count, self.error + cut) + weights + items

    def __repr__(self) -> str:
        return f"TopK(items={self.sketch.num_active_items}, count={self.count}, error={self.error})"

    def _purged_weight(self) -> int:
        """The weight that the library purged: for any item the distance of its bounds."""
        return int(self.sketch.get_upper_bound("") - self.sketch.get_lower_bound(""))

    def _rank_items(self) -> list[tuple[str, int]]:
        """Each item and its weight, the heaviest first."""
        try:
            found = self.sketch.get_frequent_items(_EVERY, 0)
        except _UNREADABLE as error:
            raise SketchError(f"a frequent-items sketch has an item that is no UTF-8: {error}") from error
        return sorted(((text, weight) for text, _, weight, _ in found), key=lambda each: (-each[1], each[0]))


def _read_header(data: bytes) -> tuple[int, int, int]:
    """Items, values and error. Raises SketchError unless they and the weights go together."""
    if len(data) < _FIRST.size:
        raise SketchError(f"a frequent-items sketch has at least {_FIRST.size} bytes, not {len(data)}")
    if len(data) > MOST_READ_BYTES:
        raise SketchError(f"a frequent-items sketch may have {MOST_READ_BYTES} bytes, not {len(data)}")
    longs, version, family, most, now, flags = _FIRST.unpack_from(data)
    if (version, family) != (1, _FAMILY) or not _LOG2_LEAST <= now <= most <= _LOG2_MOST:
        raise SketchError(f"a frequent-items sketch has version 1 and family {_FAMILY}; these bytes {data[:8].hex()}")
    if longs == 1 and flags & _EMPTY_FLAGS and len(data) == _FIRST.size:
        return 0, 0, 0
    if longs != 4 or flags & _EMPTY_FLAGS or len(data) < _FIRST.size + _REST.size:
        raise SketchError(f"a frequent-items sketch of {len(data)} bytes begins with {data[:8].hex()}")
    items, count, error = _REST.unpack_from(data, _FIRST.size)
    if items > _capacity(most) or len(data) < _FIRST.size + _REST.size + 12 * items:
        raise SketchError(f"a frequent-items sketch of {len(data)} bytes says that it has {items} items")
    weights = np.frombuffer(data, "<u8", items, _FIRST.size + _REST.size)
    if not 0 < count <= _MOST_COUNT or error > count or not (weights > 0).all() or sum(weights.tolist()) > count:
        raise SketchError(f"a frequent-items sketch of {count} values has weights or an error beyond them")
    if not items and len(data) > _FIRST.size + _REST.size:
        raise SketchError(f"a frequent-items sketch without items does not have {len(data)} bytes")
    return items, count, error


def _capacity(log2_size: int) -> int:
    """How many items fit into a map of this size: three quarters."""
    return 3 << log2_size - 2


def _small(data: bytes, items: int) -> bytes:
    """The bytes with the smallest map that holds the items: the library allocates one of the size that they claim."""
    size = next(each for each in range(_LOG2_LEAST, _LOG2_MOST + 1) if items <= _capacity(each))
    return data[:_NOW_AT] + bytes([min(size, data[_NOW_AT])]) + data[_NOW_AT + 1 :]


def _deserialize(data: bytes) -> frequent_strings_sketch:
    try:
        return frequent_strings_sketch.deserialize(data)
    except _UNREADABLE as error:
        raise SketchError(f"a frequent-items sketch cannot be read: {error}") from error
