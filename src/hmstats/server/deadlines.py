"""Who must be done by when: one time limit that many connections are under."""

import time
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Deadlines(Generic[T]):
    """All deadlines lie equally far ahead, so the dict is in their order and starting or stopping one is one step."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._until: dict[T, float] = {}

    def start(self, subject: T) -> None:
        """Set the subject's deadline, unless it has one."""
        if self.seconds is not None and subject not in self._until:
            self._until[subject] = time.monotonic() + self.seconds

    def stop(self, subject: T) -> None:
        """Lift the subject's deadline, if it has one."""
        self._until.pop(subject, None)

    def restart(self, subject: T) -> None:
        """Set the subject's deadline anew."""
        self.stop(subject)
        self.start(subject)

    def next(self) -> float | None:
        """The first deadline, as time.monotonic() counts; None when there is none."""
        return next(iter(self._until.values()), None)

    def expired(self, now: float) -> Iterator[T]:
        """Those whose deadline has passed; it is lifted."""
        while self._until:
            subject, until = next(iter(self._until.items()))
            if until > now:
                return
            del self._until[subject]
            yield subject
