"""A cache of what changed of a table between two of its versions."""

import threading
from collections.abc import Callable
from typing import NamedTuple

from hmstats.store.changes.touched_partitions import SLOTS, Changes

_MOST_NAMES = 200_000
"""The most names of partitions in the cache, about 20 MB."""


class Touched(NamedTuple):
    """The partitions that a change touched, and if it is `own` the table's parameters or statistics too."""

    partitions: frozenset[str]
    own: bool = False


class RecentChanges:
    """Changes of tables by version; thread-safe.

    `since` reads the changes after a version (touched_partitions.py). A change never changes, so it is read once.
    """

    def __init__(self, since: Callable[[int, int], Changes | None]) -> None:
        self._since = since
        self._changes: dict[tuple[int, int], Touched | None] = {}
        self._names = 0
        self._lock = threading.Lock()

    def between(self, table_id: int, old: int, new: int) -> frozenset[str] | None:
        """The only partitions that changed after version `old` up to `new`; None if anything else may have."""
        found = self.touched(table_id, old, new)
        return None if found is None or found.own else found.partitions

    def touched(self, table_id: int, old: int, new: int) -> Touched | None:
        """What changed after version `old` up to `new`; None if anything may have."""
        if not 0 < new - old <= SLOTS:
            return None if new != old else Touched(frozenset())
        changed = self._cached(table_id, old, new)
        if changed is None:
            # Read without the lock: a slow database must not hold up threads that ask about other tables.
            changes = self._since(table_id, old)
            if changes is None or changes.version < new:
                return None
            self._remember(table_id, old, changes)
            changed = [_touched(changes, version) for version in range(old + 1, new + 1)]
        known = [each for each in changed if each is not None]
        if len(known) < len(changed):
            return None
        return Touched(frozenset().union(*(each.partitions for each in known)), any(each.own for each in known))

    def clear(self) -> None:
        """Clear the cache."""
        with self._lock:
            self._changes.clear()
            self._names = 0

    def _cached(self, table_id: int, old: int, new: int) -> list[Touched | None] | None:
        """The changes after `old` up to `new`; None when one of them is not cached."""
        versions = [(table_id, version) for version in range(old + 1, new + 1)]
        with self._lock:
            if not all(each in self._changes for each in versions):
                return None
            return [self._changes[each] for each in versions]

    def _remember(self, table_id: int, old: int, changes: Changes) -> None:
        with self._lock:
            if self._names + sum(map(len, changes.named.values())) > _MOST_NAMES:
                self._changes.clear()
                self._names = 0
            for version in range(old + 1, changes.version + 1):
                found = _touched(changes, version)
                if (table_id, version) not in self._changes:
                    self._names += 1 + (0 if found is None else len(found.partitions))
                self._changes[table_id, version] = found


def _touched(changes: Changes, version: int) -> Touched | None:
    """What the change touched that made a version; None if anything may have been."""
    own = changes.own.get(version)
    names = changes.named.get(version, own)
    return None if names is None else Touched(names, own is not None)
