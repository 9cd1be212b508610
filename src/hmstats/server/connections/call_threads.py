"""The threads that run calls: those that answer them here, and those that wait for another metastore's answer."""

from collections.abc import Callable

from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.connections.connection import Call
from hmstats.server.connections.workers import Workers
from hmstats.server.limits import Limits


class CallThreads:
    """Two pools of threads with a queue each, so that no call waits for those that another metastore answers.

    The second pool exists only if the dispatcher relays calls.
    """

    def __init__(
        self, dispatcher: Dispatcher, limits: Limits, work: Callable[[Call], None], relay: Callable[[Call], None]
    ) -> None:
        waiting, waiting_bytes = limits.max_waiting_calls, limits.max_waiting_bytes
        self._dispatcher = dispatcher
        self._workers: Workers[Call] = Workers(limits.threads, waiting, work, waiting_bytes)
        self._relaying: Workers[Call] | None = None
        if dispatcher.relay is not None:
            self._relaying = Workers(dispatcher.relay.threads, waiting, relay, waiting_bytes)

    def start(self) -> None:
        """Start the threads."""
        self._workers.start()
        if self._relaying is not None:
            self._relaying.start()

    def stop(self) -> None:
        """Let the threads end after the queued calls, without waiting for them."""
        self._workers.stop()
        if self._relaying is not None:
            self._relaying.stop()

    def relays(self, call: Call) -> bool:
        """Whether another metastore answers the call."""
        return self._relaying is not None and self._dispatcher.relays(call.request)

    def submit(self, call: Call) -> bool:
        """Queue a call for an answer here, or for another metastore's; False if the queue is full."""
        threads = self._relaying if self._relaying is not None and self.relays(call) else self._workers
        return threads.submit(call, len(call.request.message))
