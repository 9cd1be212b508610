"""Equal questions that wait at the same moment are asked once.

While a question is under way, equal ones that come wait for its end, and then all of them are asked as one. None gets
the answer that was under way when it came: that may be from before a change that its client has seen.
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
        """What all of them get; None if each must ask for itself."""
        self._under_way = threading.Lock()
        self._under_way.acquire()

    def wait(self) -> Answer | None:
        """The answer, once the round has ended; None if each must ask for itself."""
        if not self._under_way.acquire(timeout=PATIENCE_SECONDS):
            return None
        self._under_way.release()
        return self.answer

    def end(self) -> None:
        """Wake all that wait."""
        self._under_way.release()


class Entry(NamedTuple, Generic[Answer]):
    """What a question has come to."""

    round: Round[Answer]
    leads: bool
    """Whether it is the one that asks for all of its round."""
    before: Round[Answer] | None
    """The round under way, which must end before."""


class Rounds(Generic[Answer]):
    """The rounds of all questions, by key. Thread-safe."""

    def __init__(self) -> None:
        self.running: dict[Hashable, Round[Answer]] = {}
        self.waiting: dict[Hashable, Round[Answer]] = {}
        self._lock = threading.Lock()

    def enter(self, key: Hashable) -> Entry[Answer]:
        """The round of a new question."""
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
        """The round of a new question, which the caller must `end`; None if one is under way."""
        with self._lock:
            if key in self.running:
                return None
            own = self.running[key] = Round()
            return own

    def end(self, key: Hashable, own: Round[Answer]) -> None:
        """End a round that was under way, and wake all that wait for it."""
        with self._lock:
            if self.running.get(key) is own:
                del self.running[key]
        own.end()

    @contextmanager
    def leading(self, key: Hashable, entry: Entry[Answer]) -> Iterator[bool]:
        """Ask for all of a round inside, once the one before has ended: whether there is one question alone."""
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
