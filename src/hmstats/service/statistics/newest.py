"""What is remembered of the tables that were written last, so that whoever writes to one again need not read it."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

_MOST_KEPT = 500

Key = TypeVar("Key")
Value = TypeVar("Value")


class Newest(Generic[Key, Value]):
    """The newest value of each key, of those keys that were put last. One object serves all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """What was put last, None where it is gone or never was."""
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Remember a value in the place of the key's last."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > _MOST_KEPT:
                self._values.popitem(last=False)
