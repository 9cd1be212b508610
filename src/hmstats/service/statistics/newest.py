"""What is remembered of the tables that were written last, so that whoever writes to one again need not read it."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Generic, TypeVar

_MOST_KEPT = 500

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The newest value of each key, of those keys that were put last, `most` of them. One object serves all threads."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """What was put last, None where it is gone or never was."""
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Remember a value in the place of the key's last."""
        self.put_all({key: value})

    def put_all(self, values: Mapping[Key, Value]) -> None:
        """The same of several."""
        with self._lock:
            for key, value in values.items():
                self._values[key] = value
                self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
