"""Holds the writes of a session that Spark has reported, until a thread has gathered their statistics."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from hmstats.collector.autogather.following.commands import Creation, Write
from hmstats.collector.autogather.following.commits import Commit
from hmstats.model.catalog.location import Location
from hmstats.model.catalog.objects import TableName

_MOST_UNNAMED = 100
"""The most writes that are remembered for directories which no table has."""


class Inbox:
    """Writes in the order in which they ended. Any thread may call all methods."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._found: list[Write | Creation | Commit] = []
        self._unnamed: deque[Write] = deque(maxlen=_MOST_UNNAMED)
        self._busy = self._closed = False

    def note(self, found: Write | Creation | Commit) -> None:
        """Add a write, the table that a write has created, or a commit."""
        with self._changed:
            if isinstance(found, Write) and found.table is None:
                self._unnamed.append(found)
            else:
                self._found.append(found)
            self._changed.notify_all()

    def take(self) -> Sequence[Write | Creation | Commit]:
        """Wait for entries and take them all; then done() must be called. Returns none if the inbox is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._found or self._closed)
            self._busy = bool(self._found)
            found, self._found = self._found, []
            return found

    def take_later(self, table: TableName, place: Location, seconds: float) -> Sequence[Write]:
        """The writes to a table at a place that are reported within the time; at once if there are any."""
        with self._changed:
            self._changed.wait_for(lambda: self._writes_to(table, place), timeout=seconds)
            later = self._writes_to(table, place)
            self._found = [each for each in self._found if each not in later]
            for each in later:
                if each in self._unnamed:
                    self._unnamed.remove(each)
            return [replace(each, table=table) for each in later]

    def take_unnamed(self, place: Location) -> Sequence[Write]:
        """The writes to a directory that belonged to no table when they ended."""
        with self._changed:
            found = [each for each in self._unnamed if each.place == place]
            for each in found:
                self._unnamed.remove(each)
            return found

    def put_back(self, writes: Sequence[Write]) -> None:
        """Put writes before all others."""
        with self._changed:
            self._found[:0] = writes

    def done(self) -> None:
        """Record that everything that was taken is gathered."""
        with self._changed:
            self._busy = False
            self._changed.notify_all()

    def wait(self, seconds: float | None) -> bool:
        """Wait until everything is gathered. Returns False if the time is over before."""
        until = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            left = None if until is None else max(until - time.monotonic(), 0.0)
            return self._changed.wait_for(lambda: not self._busy and not self._found, timeout=left)

    def close(self) -> None:
        """Make take() return nothing once the inbox is empty."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _writes_to(self, table: TableName, place: Location) -> list[Write]:
        named = [each for each in self._found if isinstance(each, Write) and each.table == table]
        unnamed = [each for each in self._unnamed if each.place == place]
        return sorted(named + unnamed, key=lambda each: each.ended_ns)
