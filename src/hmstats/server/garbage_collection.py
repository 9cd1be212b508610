"""Garbage collection of all objects of a worker, at a moment when there are few.

A collection looks at every object that may be in a cycle while it holds the GIL: 0.2 s for a million. So a worker does
not collect its oldest objects by itself (cli/serving/worker.py), but here. Nearly all objects are in no cycle, and are
freed without it.
"""

import gc
import sys
import time

_MANY_BLOCKS = 400_000
"""So many blocks of memory, of two for each object, belong to large calls, which will free them soon."""
_LONGEST_SECONDS = 600.0


class GarbageCollection:
    """Collects garbage, but not while there is much more than after the last time, unless that has lasted for long.

    Blocks of memory are counted, and not objects: gc.get_objects refers to tuples that other threads are making, and
    Python fails to enlarge a tuple that somebody refers to (SystemError).
    """

    def __init__(self, many: int = _MANY_BLOCKS, longest_seconds: float = _LONGEST_SECONDS) -> None:
        self._many = many
        self._longest_seconds = longest_seconds
        self._last = time.monotonic()
        self._left = sys.getallocatedblocks()

    def run(self) -> bool:
        """Collect, unless it is to be put off; whether it was done."""
        now = time.monotonic()
        if now - self._last < self._longest_seconds and sys.getallocatedblocks() - self._left > self._many:
            return False
        gc.collect()
        self._last, self._left = now, sys.getallocatedblocks()
        return True
