"""Garbage collection of all objects of a worker, at a moment when there are few.

A collection looks at every object that may be in a cycle while it holds the GIL: 0.2 s for a million. So a worker does
not collect its oldest objects by itself (cli/serving/worker.py), but here. Nearly all objects are in no cycle, and are
freed without it.
"""

import gc
import time

_MANY_OBJECTS = 200_000
"""So many objects belong to large calls, which will free them soon."""
_LONGEST_SECONDS = 600.0


class GarbageCollection:
    """Collects garbage, but not while there are many objects, unless that has lasted for long."""

    def __init__(self, many: int = _MANY_OBJECTS, longest_seconds: float = _LONGEST_SECONDS) -> None:
        self._many = many
        self._longest_seconds = longest_seconds
        self._last = time.monotonic()

    def run(self) -> bool:
        """Collect, unless it is to be put off; whether it was done."""
        now = time.monotonic()
        if now - self._last < self._longest_seconds and len(gc.get_objects(generation=2)) > self._many:
            return False
        gc.collect()
        self._last = now
        return True
