"""Cache of the newest values by key, for tables that were written last."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Generic, TypeVar

_MOST_KEPT = 500

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The newest value of each of the last `most` keys. Thread-safe."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The key's value; None if it is not cached."""
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Cache a value; it replaces the key's last one."""
        self.put_all({key: value})

    def forget(self) -> None:
        """Clear the cache."""
        with self._lock:
            self._values.clear()

    def put_all(self, values: Mapping[Key, Value]) -> None:
        """Cache several values; each replaces its key's last one. Evicts the oldest keys beyond `most`."""
        with self._lock:
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
