"""Deadlines of many connections under one time limit."""

import time
from collections.abc import Iterator
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
