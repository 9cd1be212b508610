"""Equal reads of one user that wait at the same moment are asked once.

While a read is under way, equal ones that come wait for its end, and then all of them are asked as one. None gets the
answer that was under way when it came: that may be from before a change that its client has seen.
"""

import threading
from collections.abc import Callable

from hmstats.errors import MetaError, UpstreamUnavailable
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.metrics import JOINED
from hmstats.server.calls.call_kinds import READS
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.wire.messages.envelope import REPLY, encode_head

PATIENCE_SECONDS = 10.0
"""How long a read waits for others, of which one may hang."""
_Key = tuple[User, str, bytes]


class _Round:
    """Equal reads that are asked as one."""

    def __init__(self) -> None:
        self.members = 1
        self.result: bytes | None = None
        """What all of them get behind the head; None if each must ask for itself."""
        self.refused = False
        self.ended = threading.Event()


class JoinedReads:
    """The reads of one upstream, by its name. Thread-safe."""

    def __init__(self, upstream: str) -> None:
        self._running: dict[_Key, _Round] = {}
        self._waiting: dict[_Key, _Round] = {}
        self._counted = JOINED.labels(upstream)
        self._lock = threading.Lock()

    def answer(self, user: User, request: Request, stream: Stream, ask: Callable[[Stream], Relayed]) -> Relayed:
        """The answer to a call, by `ask` or by that of an equal one. Raises as `ask` does."""
        head = request.head
        if head.name not in READS or head.oneway:
            return ask(stream)
        key = user, head.name, request.message[head.body_at :]
        own, leads, before = self._enter(key)
        if leads:
            if before is not None:
                before.ended.wait(PATIENCE_SECONDS)
            return self._lead(key, own, request, stream, ask)
        if not own.ended.wait(PATIENCE_SECONDS) or own.result is None:
            return ask(stream)
        self._counted.inc()
        return Relayed((encode_head(head.name, REPLY, head.sequence), own.result), own.refused)

    def _enter(self, key: _Key) -> tuple[_Round, bool, _Round | None]:
        """The round of a new read, whether it is the one that asks, and the round that must end before."""
        with self._lock:
            before = self._running.get(key)
            if before is None:
                own = self._running[key] = _Round()
                return own, True, None
            waiting = self._waiting.get(key)
            if waiting is not None:
                waiting.members += 1
                return waiting, False, before
            own = self._waiting[key] = _Round()
            return own, True, before

    def _lead(
        self, key: _Key, own: _Round, request: Request, stream: Stream, ask: Callable[[Stream], Relayed]
    ) -> Relayed:
        """Ask for all reads of a round."""
        with self._lock:
            if self._waiting.get(key) is own:
                del self._waiting[key]
                self._running[key] = own
            is_alone = own.members == 1
        try:
            if is_alone:
                return ask(stream)
            try:
                relayed = ask(WholeAnswer())
            except UpstreamUnavailable:
                raise
            except MetaError:  # it is too long to be held for all of them
                return ask(stream)
            whole, begin = b"".join(relayed.rest), encode_head(request.head.name, REPLY, request.head.sequence)
            if whole.startswith(begin):
                own.result, own.refused = whole[len(begin) :], relayed.refused
            return relayed
        finally:
            with self._lock:
                if self._running.get(key) is own:
                    del self._running[key]
            own.ended.set()
