"""Rounds of equal questions: those that wait at the same time are asked once.

Equal questions that come while one is under way wait for its end, and are then asked as one. None of them uses the
answer of the question that was already under way: that may predate a change which the client has seen.
"""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

PATIENCE_SECONDS = 10.0
"""How long a question waits for others, of which one may hang."""
Answer = TypeVar("Answer")


class Round(Generic[Answer]):
    """Equal questions that are asked as one."""

    def __init__(self) -> None:
        self.members = 1
        self.answer: Answer | None = None
        """The answer for all of them; None if each must ask for itself."""
        self._under_way = threading.Lock()
        self._under_way.acquire()

    def wait(self) -> Answer | None:
        """The answer, once the round has ended; None if each must ask for itself."""
        if not self._under_way.acquire(timeout=PATIENCE_SECONDS):
            return None
        self._under_way.release()
        return self.answer

    def end(self) -> None:
        """Wake all that wait for the round."""
        self._under_way.release()


class Entry(NamedTuple, Generic[Answer]):
    """The round that a question has joined."""

    round: Round[Answer]
    leads: bool
    """Whether this question is the one that asks for the whole round."""
    before: Round[Answer] | None
    """The round under way, which must end first."""


class Rounds(Generic[Answer]):
    """The rounds of all questions, by key. Thread-safe."""

    def __init__(self) -> None:
        self.running: dict[Hashable, Round[Answer]] = {}
        self.waiting: dict[Hashable, Round[Answer]] = {}
        self._lock = threading.Lock()

    def enter(self, key: Hashable) -> Entry[Answer]:
        """Join a round with a new question."""
        with self._lock:
            before = self.running.get(key)
            if before is None:
                own = self.running[key] = Round()
                return Entry(own, True, None)
            waiting = self.waiting.get(key)
            if waiting is not None:
                waiting.members += 1
                return Entry(waiting, False, before)
            own = self.waiting[key] = Round()
            return Entry(own, True, before)

    def enter_first(self, key: Hashable) -> Round[Answer] | None:
        """Start a round with a new question, which the caller must `end`; None if one is under way."""
        with self._lock:
            if key in self.running:
                return None
            own = self.running[key] = Round()
            return own

    def end(self, key: Hashable, own: Round[Answer]) -> None:
        """End a round, and wake all that wait for it."""
        with self._lock:
            if self.running.get(key) is own:
                del self.running[key]
        own.end()

    @contextmanager
    def leading(self, key: Hashable, entry: Entry[Answer]) -> Iterator[bool]:
        """Wait for the round before, then let the caller ask inside. Yields whether its question is the only one."""
        own = entry.round
        if entry.before is not None:
            entry.before.wait()
        with self._lock:
            if self.waiting.get(key) is own:
                del self.waiting[key]
                self.running[key] = own
            is_alone = own.members == 1
        try:
            yield is_alone
        finally:
            self.end(key, own)
