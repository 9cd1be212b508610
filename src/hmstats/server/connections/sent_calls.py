"""Calls that the selector's thread sends to another metastore, and whose answers it sends to clients.

For a small call, the change to a relaying thread and back takes longer than everything else. A long or late answer, for
which the selector's thread would have to wait, is left to a relaying thread.
"""

import selectors
from collections.abc import Callable
from functools import partial

from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.calls.relaying import Sent
from hmstats.server.connections.connection import Call, Connection
from hmstats.server.connections.deadlines import Deadlines

_PATIENCE_SECONDS = 1.0
"""How long the selector's thread waits at least for an answer until a relaying thread does."""


class SentCalls:
    """The calls under way that one selector's thread has sent.

    `ended` is called with each call that was answered, `leave` with each that a relaying thread must finish.
    `run_guarded` runs a step on a connection so that an unexpected error ends that connection only.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        dispatcher: Dispatcher,
        ended: Callable[[Call], None],
        leave: Callable[[Call], None],
        run_guarded: Callable[..., object],
    ) -> None:
        self._selector = selector
        self._dispatcher = dispatcher
        self._ended = ended
        self._leave = leave
        self._run_guarded = run_guarded
        self._deadlines = Deadlines[Call](_PATIENCE_SECONDS)
        """When each call under way is late."""

    def send(self, call: Call) -> bool:
        """Send a call, unless that would take waiting or its reply takes long to encode. Returns whether it was sent.

        A call that was sent is answered here or passed to `leave`.
        """
        if not call.protocol.encodes_at_once:
            return False
        call.sent = self._dispatcher.send_at_once(call.request, call.connection.session)
        if call.sent is None:
            return False
        self._deadlines.start(call)
        self._watch(call, call.sent)
        return True

    def leave_late(self, now: float) -> None:
        """Leave calls that are late to threads. Call this periodically."""
        for call in self._deadlines.expired(now):
            self._run_guarded(call.connection, self._leave_late, call)

    def close(self) -> None:
        """End all calls without an answer."""
        while (call := self._deadlines.first()) is not None:
            self._deadlines.stop(call)
            self._unwatch(call).abandon()

    def _watch(self, call: Call, sent: Sent) -> None:
        take = partial(self._run_guarded, call.connection, self._take, call)
        self._selector.register(sent, selectors.EVENT_READ, take)

    def _unwatch(self, call: Call) -> Sent:
        assert call.sent is not None
        self._selector.unregister(call.sent)
        return call.sent

    def _leave_late(self, _: Connection, call: Call) -> None:
        self._pass_on(call, self._unwatch(call))

    def _take(self, _: Connection, call: Call) -> None:
        """Take what has come of an answer, and send it if it is whole."""
        sent = self._unwatch(call)  # first, since another thread may use its socket when the call has ended
        try:
            relayed = sent.take()
        except BaseException:
            self._deadlines.stop(call)
            sent.abandon()
            raise
        if relayed is None and not sent.needs_thread:
            self._watch(call, sent)
            return
        self._deadlines.stop(call)
        if relayed is None:
            self._pass_on(call, sent)
            return
        call.sent = None
        self._dispatcher.record_relayed(call.request, call.connection.session, sent, relayed)
        if call.reply(relayed.rest):
            self._ended(call)

    def _pass_on(self, call: Call, sent: Sent) -> None:
        """Have a thread finish a call, unless nobody waits for its answer any more."""
        if call.claimed:
            call.sent = None
            sent.abandon()
            return
        sent.hand_over()
        self._leave(call)
