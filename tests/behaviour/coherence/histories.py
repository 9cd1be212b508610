"""Histories of registers that one writer changes and many read, and whether what was read is true.

A value is a register's from some moment between the beginning and the end of the call that wrote it until some moment
within the call that wrote the next. A read is true when its value may have been the register's at some moment between
its own beginning and end.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


class Event(NamedTuple):
    """A call that wrote or read a value, and when it began and ended by one clock."""

    value: Hashable
    began: float
    ended: float


@dataclass
class Register:
    """Its writes in their order, the first value first, and its reads in any."""

    writes: list[Event]
    reads: list[Event] = field(default_factory=list)

    @classmethod
    def holding(cls, value: Hashable) -> "Register":
        """A register that held the value before anything was read."""
        return cls([Event(value, 0.0, 0.0)])

    @contextmanager
    def writing(self, value: Hashable) -> Iterator[None]:
        """Writes inside; when that fails the test does."""
        began = time.monotonic()
        yield
        self.writes.append(Event(value, began, time.monotonic()))

    def reading(self, read: Callable[[], Hashable]) -> None:
        """Note what a read answers."""
        began = time.monotonic()
        value = read()
        self.reads.append(Event(value, began, time.monotonic()))

    def untrue(self) -> list[Event]:
        """The reads of what the register did not hold at any moment of the read. Asked when all writes have ended."""
        return [each for each in self.reads if not self._may_hold(each)]

    def _may_hold(self, read: Event) -> bool:
        ends = [write.ended for write in self.writes[1:]] + [float("inf")]
        return any(
            write.value == read.value and write.began <= read.ended and end >= read.began
            for write, end in zip(self.writes, ends, strict=True)
        )
