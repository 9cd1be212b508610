"""Joins equal reads of one user that wait at the same time: the upstream is asked once for all of them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hmstats.errors import MetaError, UpstreamUnavailable
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.metrics import JOINED
from hmstats.gateway.upstream.rounds import Round, Rounds
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.server.calls.call_kinds import READS
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.wire.messages.envelope import REPLY, encode_head


class _Body(NamedTuple):
    """A reply without its head."""

    body: bytes
    refused: bool


class JoinedReads:
    """Sends reads to the upstream called `upstream`; equal ones share an answer. Thread-safe."""

    def __init__(self, upstream: str) -> None:
        self.rounds = Rounds[_Body]()
        self._counted = JOINED.labels(upstream)

    def answer(self, user: User, request: Request, stream: Stream, ask: Callable[[Stream], Relayed]) -> Relayed:
        """The answer to a call, from `ask` or shared with an equal call. Raises as `ask` does."""
        head = request.head
        if head.name not in READS or head.oneway:
            return ask(stream)
        key = _key(user, request)
        entry = self.rounds.enter(key)
        if entry.leads:
            with self.rounds.leading(key, entry) as is_alone:
                return ask(stream) if is_alone else _ask_for_round(entry.round, request, stream, ask)
        found = entry.round.wait()
        if found is None:
            return ask(stream)
        self._counted.inc()
        return Relayed((encode_head(head.name, REPLY, head.sequence), found.body), found.refused)

    def send(self, user: User, request: Request, send: Callable[[], SentCall | None]) -> SentCall | None:
        """Send a call by `send` and let equal calls wait for its end; None if an equal one is under way. Does not wait.

        If the call needs a thread, those that wait for it are released, since they might occupy all threads.
        """
        key = _key(user, request)
        own = self.rounds.enter_first(key)
        if own is None:
            return None
        sent = None
        try:
            sent = send()
        finally:
            if sent is None:
                self.rounds.end(key, own)
            else:
                sent.when_left = partial(self.rounds.end, key, own)
        return sent


def _key(user: User, request: Request) -> tuple[User, str, bytes]:
    head = request.head
    return user, head.name, request.message[head.body_at :]


def _ask_for_round(own: Round[_Body], request: Request, stream: Stream, ask: Callable[[Stream], Relayed]) -> Relayed:
    """The answer to a call, which all calls of its round share unless it is too long to be held."""
    try:
        relayed = ask(WholeAnswer())
    except UpstreamUnavailable:
        raise
    except MetaError:
        return ask(stream)
    whole, begin = b"".join(relayed.rest), encode_head(request.head.name, REPLY, request.head.sequence)
    if whole.startswith(begin):
        own.answer = _Body(whole[len(begin) :], relayed.refused)
    return relayed
