"""What changed of a table between two of its numbers, as far as a process has to know it more than once."""

import threading
from collections.abc import Callable

from hmstats.store.changes import SLOTS, Changes

_MOST_NAMES = 200_000
"""Names of partitions that are kept, about 20 MB."""


class RecentChanges:
    """The changes of tables that were asked for; used by many threads at once.

    `since` reads those after a number (store/changes.py). What a change was never changes, so it is read once.
    """

    def __init__(self, since: Callable[[int, int], Changes | None]) -> None:
        self._since = since
        self._known: dict[tuple[int, int], frozenset[str] | None] = {}
        self._names = 0
        self._lock = threading.Lock()

    def between(self, table_id: int, old: int, new: int) -> frozenset[str] | None:
        """The partitions by name that alone changed after the old number up to the new; None: perhaps anything."""
        if not 0 < new - old <= SLOTS:
            return None if new != old else frozenset()
        numbers = [(table_id, number) for number in range(old + 1, new + 1)]
        with self._lock:
            if not all(each in self._known for each in numbers):
                told = self._since(table_id, old)
                if told is None or told.version < new:
                    return None
                self._remember(table_id, old, told)
            changed = [self._known[each] for each in numbers]
        return None if None in changed else frozenset().union(*(each for each in changed if each is not None))

    def _remember(self, table_id: int, old: int, told: Changes) -> None:
        if self._names + sum(map(len, told.named.values())) > _MOST_NAMES:
            self._known.clear()
            self._names = 0
        for number in range(old + 1, told.version + 1):
            names = told.named.get(number)
            self._names += 1 + len(names or ())
            self._known[table_id, number] = names
