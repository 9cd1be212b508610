"""Answers that are kept, given by the selector's thread itself: to wake a worker takes longer than to answer.

An answer counts only while its tables have the numbers that it was made at. Where these are known, it is sent at once.
Else the database is asked on a line that nobody sleeps on: one question for all requests that came since the last. So a
read that begins after a write was answered sees the write, and the more clients there are the less a check costs. What
turns out not to be true any more, or cannot be checked, is left to the workers.
"""

import math
import selectors
import threading
import time
from collections.abc import Callable, Collection
from typing import Protocol

import structlog

from hmstats.errors import StoreUnavailable
from hmstats.server.answers import Versions
from hmstats.server.calls import Call
from hmstats.server.dispatch import KeptReply, Repeated
from hmstats.server.metrics import KEPT, KeptSeconds

_PAUSE_SECONDS = 1.0
"""Between two tries to open a line."""

_log = structlog.get_logger("hmstats.server")


class Line(Protocol):
    """See store/version_line.py."""

    asking: bool

    def fileno(self) -> int:
        """What to watch."""

    def ask(self, table_ids: Collection[int]) -> None:
        """Send a question."""

    def hear(self) -> Versions | None:
        """Take the answer, if it is there."""

    def close(self) -> None:
        """Hang up."""


class VersionSource(Protocol):
    """What tells the numbers of tables; see Store."""

    def known_versions(self, table_ids: Collection[int]) -> Versions | None:
        """The numbers, where they are known without a question."""

    def version_line(self) -> Line | None:
        """A new line; None where there is none. Waits for the database. Raises StoreUnavailable."""


_Waiting = tuple[Call, KeptReply | Repeated]


class PromptReplies:
    """Replies of one selector's thread, in which all of it runs, but `_open`.

    `ended` is told each call that was answered after it waited, `leave` each that a worker is to answer.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        wake: Callable[[], None],
        versions: VersionSource | None,
        ended: Callable[[Call], None],
        leave: Callable[[Call], None],
    ) -> None:
        self._selector = selector
        self._wake = wake
        self._versions = versions
        self._ended = ended
        self._leave = leave
        self._waiting: list[_Waiting] = []
        self._asked: list[_Waiting] = []
        self._line: Line | None = None
        self._opened: list[Line | None] = []
        self._opening = False
        self._open_after = 0.0
        self._closed = False
        self._seconds = KeptSeconds()
        self._log = _log.bind()
        """Bound once: to do so anew takes as long as to say nothing."""

    def take(self, call: Call, repeated: Repeated | None = None) -> bool:
        """Whether the call is, or will be, answered here, or left to a worker from here.

        `repeated` is its reply, if that was found already.
        """
        if self._versions is None:
            return False
        reply = repeated or call.protocol.kept(call.request, call.connection.session)
        if reply is None:
            return False
        now = self._versions.known_versions(reply.kept.versions)
        if now is not None:
            return self._answered(call, reply, now)
        if self._line is None:
            self._begin_opening()
            return False
        self._waiting.append((call, reply))
        return True

    @property
    def about_to_ask(self) -> bool:
        """Whether `ask` would ask."""
        return bool(self._waiting) and self._line is not None and not self._line.asking

    def ask(self) -> None:
        """Have what waits checked. To be called after every turn of the selector."""
        if self._opened:
            self._take_line()
        if not self.about_to_ask:
            return
        assert self._line is not None
        self._asked, self._waiting = self._waiting, []
        try:
            self._line.ask({table_id for _, reply in self._asked for table_id in reply.kept.versions})
        except StoreUnavailable as error:
            self._lose(error)

    def tell(self) -> None:
        """Tell the metrics of all answers. To be called now and then, since some of them wait for more."""
        self._seconds.tell()

    def close(self) -> None:
        """Hang up."""
        self._closed = True
        self.tell()
        for line in (self._line, *self._opened):
            if line is not None:
                line.close()
        self._line = None

    def _hear(self) -> None:
        """Answers what the line's answer proves."""
        assert self._line is not None
        try:
            now = self._line.hear()
        except StoreUnavailable as error:
            self._lose(error)
            return
        if now is None:
            return
        asked, self._asked = self._asked, []
        for call, reply in asked:
            if not self._answered(call, reply, now):
                self._leave(call)
            elif call.answered:
                self._ended(call)

    def _answered(self, call: Call, reply: KeptReply | Repeated, now: Versions) -> bool:
        """Whether a reply is true at these numbers; it is sent then, unless the call was given up."""
        if not reply.kept.is_same(now):
            return False
        if isinstance(reply, Repeated):
            if call.claim():
                call.send(reply.pieces)
        else:
            call.give(call.protocol.confirmed(reply))
        seconds = time.perf_counter() - reply.began_seconds
        self._seconds.note(reply.name, seconds)
        self._log.debug("call", method=reply.name, outcome=KEPT, milliseconds=round(seconds * 1000, 3))
        return True

    def _lose(self, error: StoreUnavailable) -> None:
        _log.warning("version_line_lost", reason=str(error))
        assert self._line is not None
        self._selector.unregister(self._line)
        self._line.close()
        self._line = None
        left, self._asked, self._waiting = [*self._asked, *self._waiting], [], []
        for call, _ in left:
            self._leave(call)

    def _begin_opening(self) -> None:
        if not self._opening and time.monotonic() >= self._open_after:
            self._opening = True
            threading.Thread(target=self._open, name="hmstats-version-line", daemon=True).start()

    def _open(self) -> None:
        """In a thread of its own: a database may take its time."""
        assert self._versions is not None
        line = None
        try:
            line = self._versions.version_line()
            if line is None:
                self._open_after = math.inf
        except StoreUnavailable as error:
            _log.warning("version_line_not_opened", reason=str(error))
        self._opened.append(line)
        if self._closed and line is not None:
            line.close()
        self._wake()

    def _take_line(self) -> None:
        self._line = self._opened.pop()
        self._opening = False
        self._open_after = max(self._open_after, time.monotonic() + _PAUSE_SECONDS)
        if self._line is not None:
            self._selector.register(self._line, selectors.EVENT_READ, self._hear)
