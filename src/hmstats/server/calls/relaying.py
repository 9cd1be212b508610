"""The interface to a gateway, which has another metastore answer calls (hmstats.gateway)."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hmstats.server.cache.cached_answers import CachedAnswer
from hmstats.server.cache.version_source import VersionSource
from hmstats.server.chores import Chore
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.envelope import Pieces


class Stream(Protocol):
    """The stream of a reply to its client, while the reply still arrives."""

    @property
    def possible(self) -> bool:
        """Whether the client's protocol takes a reply in parts."""

    @property
    def begun(self) -> bool:
        """Whether a part was sent."""

    @property
    def abandoned(self) -> bool:
        """Whether nobody waits for the reply any more."""

    def send(self, pieces: Pieces) -> None:
        """Send a part, and return when the client's socket has taken it. Raises ClientGone."""


class Relayed(NamedTuple):
    """The outcome of a relayed call."""

    rest: Pieces
    """The reply, or the end of it that was not streamed."""
    refused: bool = False
    """Whether the reply is an exception."""


class Here(Protocol):
    """Answers the call on this server, whatever else the relay does for it."""

    def __call__(self, changed: Request | None = None) -> Relayed:
        """The answer to the call, or to one that the relay has made of it."""


class Sent(Protocol):
    """A call on its way to another metastore and back. One thread at a time has it, a relaying one at last."""

    @property
    def began_seconds(self) -> float:
        """The time at which the call was sent, by time.perf_counter()."""

    def fileno(self) -> int:
        """The descriptor for a selector to watch."""

    def take(self) -> Relayed | None:
        """The answer, if all of it has come: the call has ended then. Never waits, raises nothing."""

    @property
    def needs_thread(self) -> bool:
        """Whether `take` leaves the call to a thread."""

    def hand_over(self) -> None:
        """Leave the call to a thread, which will finish it."""

    def finish(self, stream: Stream) -> Relayed:
        """Wait for the answer. Raises as Relay.answer does."""

    def abandon(self) -> None:
        """End the call without an answer."""


class PromptAnswers(VersionSource, Protocol):
    """Answers of another metastore that are kept, and what tells whether they still hold. Thread-safe; never waits."""

    def find(self, name: str, message: bytes, body_at: int, session: Session) -> CachedAnswer | None:
        """The kept answer to a call of this name, whose arguments begin at a byte, with the version that proves it."""

    def count(self) -> None:
        """Count a call that was answered so."""


class Relay(Protocol):
    """Has another metastore answer calls. Thread-safe."""

    @property
    def threads(self) -> int:
        """How many calls may be relayed by threads at once."""

    @property
    def has_own_tables(self) -> bool:
        """Whether the tables of this server's database are its own, beside those of other metastores."""

    @property
    def prompt(self) -> PromptAnswers | None:
        """The answers that need no thread; None if there are none."""

    def takes(self, name: str) -> bool:
        """Whether a call of this name is relayed."""

    def answer(self, request: Request, session: Session, stream: Stream, here: Here) -> Relayed:
        """The other metastore's answer to a call, or that of this server.

        Raises UpstreamUnavailable, MetaError; UpstreamClosed and ClientGone, after which the connection ends.
        """

    def send_at_once(self, request: Request, session: Session) -> Sent | None:
        """The call as it was sent, without waiting; None if it was not, since `answer` must be asked."""

    @property
    def chores(self) -> Sequence[Chore]:
        """Tasks to run from time to time."""

    def leave(self, session: Session) -> None:
        """Forget a client whose connection has ended."""
