"""The selector's thread: handles events of sockets, workers and deadlines until it must stop."""

import os
import selectors
import time

import structlog

from hmstats.server.authentication.authentication import Authentication
from hmstats.server.cache.version_source import VersionSource
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.connections.connection import Connection
from hmstats.server.connections.deadlines import Deadlines
from hmstats.server.connections.exchange import Exchange, NewSession
from hmstats.server.connections.handshakes import Tls
from hmstats.server.limits import Limits
from hmstats.server.sockets.busy_poll import Ready, busy_poll
from hmstats.server.sockets.listener import Listener
from hmstats.server.sockets.wakeup import Wakeup

_ACCEPT_PAUSE_SECONDS = 0.5
"""How long no connection is accepted after the system refused one."""

_log = structlog.get_logger("hmstats.server")


class Loop:
    """Serves the connections of one listener."""

    def __init__(
        self,
        listener: Listener,
        dispatcher: Dispatcher,
        limits: Limits,
        versions: VersionSource | None,
        sessions: NewSession,
        tls: Tls | None = None,
        authentication: Authentication | None = None,
    ) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._wakeup = Wakeup()
        self._neighbours = listener.neighbours
        report_count = self._neighbours.publish if self._neighbours is not None else lambda _: None
        wake = self._wakeup.wake
        self._exchange = Exchange(
            self._selector,
            wake,
            dispatcher,
            limits,
            report_count,
            versions,
            sessions,
            tls=tls,
            authentication=authentication,
        )
        self._busy_poll_seconds = limits.busy_poll_seconds
        self._accept_pause = Deadlines[Listener](_ACCEPT_PAUSE_SECONDS)
        self._drain_until: float | None = None
        self._check_deadlines_at = 0.0
        """The time of the next check of deadlines: a check in every turn would take longer than an answer."""

    def drain(self, drain_seconds: float) -> None:
        """Begin to stop: accept no connections and start no calls; running calls have `drain_seconds`.

        Safe to call from other threads and from signal handlers.
        """
        self._drain_until = time.monotonic() + drain_seconds
        self._wakeup.wake()

    def run(self) -> None:
        """Serve until drained."""
        try:
            self._selector.register(self._listener, selectors.EVENT_READ)
            self._selector.register(self._wakeup, selectors.EVENT_READ, self._wakeup.clear)
            if self._neighbours is not None:
                self._selector.register(self._neighbours, selectors.EVENT_READ, self._add_handed_over)
            self._exchange.start()
            while self._drain_until is None:
                self._run_once()
            self._stop_listening()
            self._exchange.drain()
            while self._exchange.busy and time.monotonic() < self._drain_until:
                self._run_once()
        finally:
            self._close()

    def _run_once(self) -> None:
        """Wait for events and handle them."""
        touched: list[Connection] = []
        has_accepted = False
        for key, events in self._ready():
            if isinstance(key.data, Connection):
                if self._exchange.run_guarded(key.data, self._exchange.react, events):
                    touched.append(key.data)
            elif key.fileobj is self._listener:
                has_accepted = True
            else:
                key.data()
        touched += self._exchange.settle()
        for connection in touched:
            self._exchange.run_guarded(connection, self._exchange.advance)
        if self._exchange.unread:
            self._exchange.advance_unread()
        if has_accepted:
            self._accept()  # after closed connections are no longer counted
        if self._exchange.waits_with_others:
            self._read_more()
        self._exchange.check_versions()
        now = time.monotonic()
        if now >= self._check_deadlines_at:
            self._expire(now)
            pause = self._accept_pause.next() or now + _ACCEPT_PAUSE_SECONDS
            self._check_deadlines_at = min(self._exchange.next_deadline(now), pause)

    def _read_more(self) -> None:
        """Yield the processor to waiting clients, so that one version check serves many requests."""
        os.sched_yield()
        for key, events in self._selector.select(0):
            if isinstance(key.data, Connection) and self._exchange.run_guarded(key.data, self._exchange.react, events):
                self._exchange.run_guarded(key.data, self._exchange.advance)

    def _ready(self) -> Ready:
        """The next events; polls for a moment before sleeping if they are expected soon."""
        if self._exchange.unread:
            return self._selector.select(0)
        near = busy_poll(self._selector, self._busy_poll_seconds) if self._exchange.answers_itself else []
        return near or self._selector.select(max(0.0, self._check_deadlines_at - time.monotonic()))

    def _expire(self, now: float) -> None:
        self._exchange.expire(now)
        for listener in self._accept_pause.expired(now):
            self._selector.register(listener, selectors.EVENT_READ)

    def _accept(self) -> None:
        self._add_handed_over()  # count them before the neighbours decide which worker takes the next ones
        try:
            for accepted, peer in self._listener.accept():
                if self._neighbours is None or not self._neighbours.hand_over(accepted, peer):
                    self._exchange.add(accepted, peer)
        except OSError as error:
            # The connection goes on waiting, so the selector would find it again and again.
            _log.error("accept_failed", reason=str(error))
            self._selector.unregister(self._listener)
            self._accept_pause.start(self._listener)

    def _add_handed_over(self) -> None:
        if self._neighbours is not None:
            for accepted, peer in self._neighbours.handed_over():
                self._exchange.add(accepted, peer)

    def _stop_listening(self) -> None:
        """Accept the connections that are queued, since closing the socket would reset them, then stop listening."""
        if self._neighbours is not None:
            self._add_handed_over()
            self._selector.unregister(self._neighbours)
            self._neighbours.leave()
        if self._accept_pause.next() is None:
            self._accept()
        if self._accept_pause.next() is None:
            self._selector.unregister(self._listener)
        self._accept_pause = Deadlines(None)
        self._listener.close()

    def _close(self) -> None:
        if cut := self._exchange.busy:
            _log.warning("calls_cut_off", connections=cut)
        self._exchange.close()
        self._selector.close()
        self._wakeup.close()
        self._listener.close()
        if self._neighbours is not None:
            self._neighbours.close()
