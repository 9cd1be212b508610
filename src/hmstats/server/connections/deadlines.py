"""Deadlines of many connections under one time limit."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Deadlines(Generic[T]):
    """Deadlines by subject.

    All have the same duration, so insertion order is their order, and each change takes O(1).
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._until: dict[T, float] = {}

    def __len__(self) -> int:
        return len(self._until)

    def start(self, subject: T) -> None:
        """Set the subject's deadline, unless it has one."""
        if self.seconds is not None and subject not in self._until:
            self._until[subject] = time.monotonic() + self.seconds

    def stop(self, subject: T) -> None:
        """Remove the subject's deadline, if it has one."""
        self._until.pop(subject, None)

    def restart(self, subject: T) -> None:
        """Set the subject's deadline anew."""
        self.stop(subject)
        self.start(subject)

    def next(self) -> float | None:
        """The earliest deadline, in seconds of time.monotonic(); None if there is none."""
        return next(iter(self._until.values()), None)

    def first(self) -> T | None:
        """The subject with the earliest deadline; None if there is none."""
        return next(iter(self._until), None)

    def expired(self, now: float) -> Iterator[T]:
        """The subjects whose deadline has passed; each is removed as it is returned."""
        while self._until:
            subject, until = next(iter(self._until.items()))
            if until > now:
                return
            del self._until[subject]
            yield subject


class DeadlineTable(Generic[T]):
    """Kinds of deadlines, each with what ends a subject after it; at least one kind has a time limit."""

    def __init__(self, ends: Sequence[tuple[Deadlines[T], Callable[[T], None]]]) -> None:
        self._ends = tuple(ends)
        self._kinds = tuple(deadlines for deadlines, _ in ends)
        self._shortest_seconds = min(each.seconds for each in self._kinds if each.seconds is not None)

    def next(self, now: float) -> float:
        """The earliest time at which a deadline can pass, one that is set later too, in seconds of time.monotonic()."""
        firsts = (first for each in self._kinds if (first := each.next()) is not None)
        return min([now + self._shortest_seconds, *firsts])

    def expired(self, now: float) -> Iterator[tuple[T, Callable[[T], None]]]:
        """The subjects whose deadline has passed, and what ends each; the deadline is removed as it is returned."""
        for deadlines, end in self._ends:
            for subject in deadlines.expired(now):
                yield subject, end

    def stop(self, subject: T) -> None:
        """Remove the subject's deadlines of all kinds."""
        for each in self._kinds:
            each.stop(subject)
