"""Cached answers, sent by the selector's thread itself: waking a worker would take longer than answering.

An answer is valid only while its tables have the versions that it was made from. If these are known, it is sent at
once. Else the database, or a gateway's upstream, is asked over a non-blocking connection (a line), with one query for
all requests since the last. So a read that begins after a write was answered sees the write, and the more clients there
are the less a check costs. Requests whose answers are stale, or cannot be checked, go to the workers.
"""

import logging
import math
import selectors
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import structlog

from hmstats.errors import MetaError, StoreUnavailable
from hmstats.server.cache.cached_answers import Versions
from hmstats.server.cache.version_source import Line, VersionSource
from hmstats.server.calls.dispatch import CachedReply, Dispatcher
from hmstats.server.connections.connection import Call, Connection
from hmstats.server.monitoring.metrics import CACHED, CachedSeconds

_PAUSE_SECONDS = 1.0
"""The pause between two attempts to open a line."""
_LONGEST_REQUEST_BYTES = 256 * 1024
"""The longest request that is looked up in the selector's thread: it is copied and hashed."""
_PATIENCE_SECONDS = 5.0
"""How long a check may take until the line is closed, and workers answer what waits for it."""
_LONGEST_ENCODED_BYTES = 4 * 1024
"""The longest reply in binary form that is converted in the selector's thread."""

_log = structlog.get_logger("hmstats.server")


T = TypeVar("T")
_Waiting = tuple[Call, CachedReply]


class PromptReplies:
    """Sends cached replies in one selector's thread, where everything but `_open` runs.

    `ended` is called with each call that was answered after a check, `leave` with each that a worker must answer.
    `run_guarded` runs a step on a connection so that an unexpected error ends that connection only.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        wake: Callable[[], None],
        dispatcher: Dispatcher,
        versions: VersionSource | None,
        ended: Callable[[Call], None],
        leave: Callable[[Call], None],
        run_guarded: Callable[..., object],
    ) -> None:
        self._selector = selector
        self._wake = wake
        self._dispatcher = dispatcher
        self._versions = versions
        self._ended = ended
        self._leave = leave
        self._run_guarded = run_guarded
        self._unchecked: list[_Waiting] = []
        self._checking: list[_Waiting] = []
        self._line: Line | None = None
        self._opened_lines: list[Line | None] = []
        self._opening = False
        self._writing = False
        """Whether the selector watches the line's socket for writing."""
        self._open_after = 0.0
        self._asked_at = 0.0
        self._closed = False
        self._seconds = CachedSeconds()
        self._log = _log.bind()
        """Bound once, since binding takes as long as a log call that writes nothing."""

    def accept(self, call: Call, repeated: CachedReply | None = None) -> bool:
        """Accept a call if a cached reply may answer it. Returns whether it was accepted.

        An accepted call is answered here or passed to `leave`. `repeated` is its reply, if it was looked up
        already.
        """
        if self._versions is None:
            return False
        reply = repeated or self._look_up(call)
        if reply is None:
            return False
        versions = self._versions.cached_versions(reply.cached.versions)
        if versions is not None:
            return self._answer_if_valid(call, reply, versions)
        if self._line is None:
            self._begin_opening()
            return False
        self._unchecked.append((call, reply))
        return True

    def _look_up(self, call: Call) -> CachedReply | None:
        """The cached reply to a call; None if there is none, or if a worker should answer since it takes long."""
        if len(call.request.message) > _LONGEST_REQUEST_BYTES:
            return None
        reply = self._dispatcher.find_cached(call.request, call.connection.session)
        if reply is None or call.protocol.encodes_at_once or len(reply.cached.result) <= _LONGEST_ENCODED_BYTES:
            return reply
        return None

    @property
    def has_unchecked(self) -> bool:
        """Whether `check_versions` would send a query."""
        return bool(self._unchecked) and self._line is not None and not self._line.is_running

    def check_versions(self) -> None:
        """Send one query for all replies that wait for a check. Call this after every turn of the selector."""
        if self._opened_lines:
            self._use_opened_line()
        if not self.has_unchecked:
            return
        assert self._line is not None
        self._checking, self._unchecked = self._unchecked, []
        line, table_ids = self._line, {table_id for _, reply in self._checking for table_id in reply.cached.versions}
        self._asked_at = time.monotonic()
        self._run_on_line(lambda: line.send_query(table_ids))

    def report_seconds(self) -> None:
        """Report the seconds of all answers to the metrics. Call this periodically: they are reported in batches."""
        self._seconds.report()

    def tend_line(self, now: float) -> None:
        """Close a line whose check takes too long: workers answer then. Close an idle one. Call this periodically."""
        if self._line is None:
            return
        seconds = now - self._asked_at
        if self._line.is_running:
            if seconds > _PATIENCE_SECONDS:
                self._close_line(StoreUnavailable(f"a version check must take {_PATIENCE_SECONDS:g} seconds at most"))
        elif self._line.idle_seconds is not None and seconds > self._line.idle_seconds:
            self._drop_line()

    def close(self) -> None:
        """Close the connection."""
        self._closed = True
        self.report_seconds()
        for line in (self._line, *self._opened_lines):
            if line is not None:
                line.close()
        self._line = None

    def _receive(self) -> None:
        """Send the replies that the line's result confirms, and leave the others to workers."""
        assert self._line is not None
        versions = self._run_on_line(self._line.receive)
        if versions is None:
            return
        checked, self._checking = self._checking, []
        for call, reply in checked:
            self._run_guarded(call.connection, self._settle, call, reply, versions)

    def _run_on_line(self, step: Callable[[], T]) -> T | None:
        """Run a step on the line and return its result; None if the line broke: workers then answer."""
        try:
            result = step()
            self._watch_line()
        except MetaError as error:
            self._close_line(error)
            return None
        except Exception as error:  # noqa: BLE001 - the guard of the selector's thread
            _log.exception("version_line_failed")
            self._close_line(error)
            return None
        return result

    def _watch_line(self) -> None:
        """Watch the line's socket for writing as long as a part of a query is unsent."""
        assert self._line is not None
        if self._line.has_unsent is not self._writing:
            self._writing = self._line.has_unsent
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._writing else 0)
            self._selector.modify(self._line, events, self._receive)

    def _settle(self, _: Connection, call: Call, reply: CachedReply, versions: Versions) -> None:
        if not self._answer_if_valid(call, reply, versions):
            self._leave(call)
        elif call.answered:
            self._ended(call)

    def _answer_if_valid(self, call: Call, reply: CachedReply, versions: Versions) -> bool:
        """Whether a reply is valid at these versions; if so, sends it, unless the call has ended."""
        if not reply.cached.is_valid_at(versions):
            return False
        if reply.new:
            self._dispatcher.put_in_cache(reply)
        if self._dispatcher.notes_cached:
            self._dispatcher.note_cached(reply, call.connection.session)
        call.reply(reply.pieces)
        seconds = time.perf_counter() - reply.began_seconds
        name = call.request.head.name
        self._seconds.add(name, seconds)
        if self._log.is_enabled_for(logging.DEBUG):
            self._log.debug("call", method=name, outcome=CACHED, milliseconds=round(seconds * 1000, 3))
        return True

    def _close_line(self, error: Exception) -> None:
        _log.warning("version_line_lost", reason=str(error))
        self._drop_line()
        unanswered, self._checking, self._unchecked = [*self._checking, *self._unchecked], [], []
        for call, _ in unanswered:
            self._leave(call)

    def _drop_line(self) -> None:
        assert self._line is not None
        self._selector.unregister(self._line)
        self._line.close()
        self._line = None
        self._writing = False

    def _begin_opening(self) -> None:
        if not self._opening and time.monotonic() >= self._open_after:
            self._opening = True
            threading.Thread(target=self._open, name="hmstats-version-line", daemon=True).start()

    def _open(self) -> None:
        """Open a line, in a thread of its own since it blocks."""
        assert self._versions is not None
        line = None
        try:
            line = self._versions.version_line()
            if line is None:
                self._open_after = math.inf
        except MetaError as error:
            _log.warning("version_line_not_opened", reason=str(error))
        self._opened_lines.append(line)
        if self._closed and line is not None:
            line.close()
        self._wake()

    def _use_opened_line(self) -> None:
        self._line = self._opened_lines.pop()
        self._opening = False
        self._asked_at = time.monotonic()
        self._open_after = max(self._open_after, time.monotonic() + _PAUSE_SECONDS)
        if self._line is not None:
            self._selector.register(self._line, selectors.EVENT_READ, self._receive)
