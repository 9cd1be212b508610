"""Finds the components of a request that conflict with those of other locks, in time linear in both.

A component contains what is inside: a database its tables, a table its partitions. Two components overlap if they are
equal, or one contains the other.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hmstats.model.transactions.locks import BLOCKED_BY, LockComponent, LockKind

_Place = tuple[str, ...]
"""A database, a table in it, or a partition of that, by its names."""


class _Asked(NamedTuple):
    """The kind of a requested component, and whether it is a whole database."""

    kind: LockKind
    of_database: bool


class LockConflicts:
    """The components of a request, by part, to be compared with those of other locks."""

    def __init__(self, components: Mapping[int, LockComponent]) -> None:
        self._at: dict[_Place, dict[_Asked, int]] = {}
        self._inside: dict[_Place, dict[_Asked, int]] = {}
        for part, component in sorted(components.items()):
            place = _place(component)
            asked = _Asked(component.kind, len(place) == 1)
            self._at.setdefault(place, {}).setdefault(asked, part)
            for length in range(1, len(place)):
                self._inside.setdefault(place[:length], {}).setdefault(asked, part)
        self.blocking_kinds = frozenset[LockKind]().union(*(BLOCKED_BY[each.kind] for each in components.values()))
        """The kinds of components that conflict with one of these, if they overlap."""

    def part_blocked_by(self, held: LockComponent) -> int | None:
        """The first part that conflicts with a component of another lock; None if none does."""
        place = _place(held)
        return min((part for each, part in self._overlapping(place) if _conflicts(each, held, place)), default=None)

    def _overlapping(self, place: _Place) -> Iterable[tuple[_Asked, int]]:
        for length in range(1, len(place) + 1):
            yield from self._at.get(place[:length], {}).items()
        yield from self._inside.get(place, {}).items()


def _place(component: LockComponent) -> _Place:
    names = (component.database, component.table, component.partition)
    return tuple(each for each in names if each is not None)


def _conflicts(asked: _Asked, held: LockComponent, place: _Place) -> bool:
    """Whether overlapping components conflict. One that keeps a database from being dropped lets inner ones pass."""
    if held.kind not in BLOCKED_BY[asked.kind]:
        return False
    is_whole = len(place) == 1
    outer, inner = (asked.kind, held.kind) if asked.of_database else (held.kind, asked.kind)
    passes = outer is LockKind.SHARED_READ and inner is LockKind.EXCLUSIVE
    return not (passes and asked.of_database != is_whole)
