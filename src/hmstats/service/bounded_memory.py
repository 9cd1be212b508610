"""An LRU cache, limited in bytes, of values that were read from the database and hold for ever or as of a version."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple


class _Entry(NamedTuple):
    """A cached value, and its size in bytes."""

    value: Any
    size: int


class BoundedMemory:
    """An LRU cache of at most `most_bytes` together. Thread-safe.

    A larger value is not kept, nor is one that was read before the memory was cleared: a reader notes `cleared` first.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.cleared = 0
        self._free_bytes = most_bytes
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """The bytes of all values."""
        return self.most_bytes - self._free_bytes

    def get(self, key: Hashable) -> Any:
        """The value; None if it is not there."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry.value

    def get_many(self, keys: Sequence[Hashable]) -> list[Any]:
        """The value of each key; None if it is not there."""
        with self._lock:
            entries = [*map(self._entries.get, keys)]
            for key, entry in zip(keys, entries, strict=True):
                if entry is not None:
                    self._entries.move_to_end(key)
        return [None if entry is None else entry.value for entry in entries]

    def put(self, key: Hashable, value: Any, size: int, cleared: int) -> None:
        """Keep a value of `size` bytes, unless the memory was cleared since its reader noted `cleared`."""
        self.put_many([(key, value, size)], cleared)

    def put_many(self, new: Iterable[tuple[Hashable, Any, int]], cleared: int) -> None:
        """Keep values, each with its key before it and its bytes after it, as `put` does."""
        with self._lock:
            if cleared != self.cleared:
                return
            for key, value, size in new:
                if size > self.most_bytes:
                    continue
                old = self._entries.pop(key, None)
                self._entries[key] = _Entry(value, size)
                self._free_bytes += (old.size if old else 0) - size
            while self._free_bytes < 0:
                _, oldest = self._entries.popitem(last=False)
                self._free_bytes += oldest.size

    def clear(self) -> None:
        """Forget everything, also what is being read."""
        with self._lock:
            self.cleared += 1
            self._entries.clear()
            self._free_bytes = self.most_bytes
