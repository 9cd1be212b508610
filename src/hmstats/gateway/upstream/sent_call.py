"""A small read under way to the upstream, for a thread that must not wait.

The thread takes what has come of the answer. If the answer is long, late or missing, a relaying thread continues.
"""

from collections.abc import Callable

from hmstats.errors import HmstatsError
from hmstats.gateway.upstream.arriving import ArrivingAnswer, Unanswered
from hmstats.gateway.upstream.connection import UpstreamConnection
from hmstats.server.calls.relaying import Relayed, Stream

Release = Callable[[UpstreamConnection], None]


class SentCall:
    """A call that was sent over a pooled connection. For one thread at a time.

    `release` is called with the connection when the call has ended. `ask_again` sends the call again if the connection
    was closed before the first byte of the answer.
    """

    def __init__(
        self,
        connection: UpstreamConnection,
        answer: ArrivingAnswer,
        release: Release,
        ask_again: Callable[[Unanswered, Stream], Relayed],
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._release = release
        self._ask_again = ask_again
        self._failure: HmstatsError | Unanswered | None = None
        self.when_left: Callable[[], None] | None = None
        """Called once, when the call has ended or is handed over to a thread."""

    @property
    def began_seconds(self) -> float:
        """The time when the call was sent, by time.perf_counter()."""
        return self._answer.began_seconds

    def fileno(self) -> int:
        """The descriptor for a selector to watch."""
        return self._connection.fileno()

    def take(self) -> Relayed | None:
        """The answer, if all of it has come, which ends the call. Raises nothing."""
        try:
            relayed = self._connection.take(self._answer)
        except (HmstatsError, Unanswered) as error:
            self._failure = error
            return None
        if relayed is not None:
            self._leave()
            self._release(self._connection)
        return relayed

    @property
    def needs_thread(self) -> bool:
        """Whether `take` has left the call to a thread."""
        return self._failure is not None or self._answer.is_long

    def hand_over(self) -> None:
        """Leave the call to a thread, which will finish it."""
        self._leave()

    def finish(self, stream: Stream) -> Relayed:
        """Wait for the rest of the answer.

        Raises UpstreamUnavailable, UpstreamClosed, ClientGone, MetaError.
        """
        try:
            if self._failure is not None:
                raise self._failure
            return self._connection.wait_for(self._answer, stream)
        except Unanswered as error:
            unanswered = error
        finally:
            self._release(self._connection)
        return self._ask_again(unanswered, stream)

    def abandon(self) -> None:
        """End the call without an answer."""
        self._leave()
        self._release(self._connection)

    def _leave(self) -> None:
        left, self.when_left = self.when_left, None
        if left is not None:
            left()
