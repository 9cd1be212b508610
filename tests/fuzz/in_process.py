"""Mutated requests given straight to the readers, the dispatcher and the writers, as a connection would give them."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger
from tests.fuzz import replies
from tests.fuzz.messages import FORMS, corpus
from tests.fuzz.mutations import mutated

from hmstats.errors import NoSuchObject, ProtocolError
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.limits import Limits
from hmstats.server.protocols.protocols import WireProtocol, recognise
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import methods

LIMITS = Limits(max_message_bytes=100_000)
_IN_PIECES = 8
"""One of so many requests comes in pieces too."""


@dataclass
class Found:
    """What became of the requests; `broken` holds what nobody foresaw."""

    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[Mapping[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcomes.most_common())


class Fuzzer:
    """Requests by number: the same seed and number give the same bytes."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._plain = corpus(seed)
        self._forms = list(FORMS.values())
        self._sent: dict[tuple[int, int], bytes] = {}

    def request(self, number: int, form: int | None = None) -> bytes:
        """What is sent as the request of a number, in any form or in the one of a number."""
        drawn = random.Random(f"{self._seed} {number}")
        data, other = self._draw(drawn, form), self._draw(drawn, form)
        return mutated(data, drawn, other)

    def _draw(self, drawn: random.Random, form: int | None) -> bytes:
        any_form = drawn.randrange(len(self._forms))
        place = drawn.randrange(len(self._plain)), any_form if form is None else form % len(self._forms)
        if place not in self._sent:
            self._sent[place] = self._forms[place[1]](self._plain[place[0]])
        return self._sent[place]

    def run(self, numbers: range) -> Found:
        """Answer the requests of these numbers. Raises AssertionError naming the request that shows a fault."""
        dispatcher = Dispatcher(methods(), {name: _Call(name) for name in methods()})
        found = Found()
        with _watching(found):
            for number in numbers:
                data = self.request(number)
                try:
                    outcome, answer = converse([data], dispatcher)
                    replies.count(answer)
                    if number % _IN_PIECES == 0:
                        _check_pieces(outcome, answer, converse(_pieces(data, number), dispatcher))
                except Exception as error:
                    raise AssertionError(f"seed {self._seed}, request {number}: {data!r}") from error
                assert not found.broken, f"seed {self._seed}, request {number}: {data!r}: {found.broken}"
                found.outcomes[outcome] += 1
        return found


def run(seed: int, numbers: range) -> Found:
    """Answer the requests of a seed and these numbers, see Fuzzer."""
    return Fuzzer(seed).run(numbers)


class _Call:
    """A call that finds nothing, or answers with a text when a text is wanted."""

    def __init__(self, name: str) -> None:
        success = methods()[name].result.thrift_spec.get(0)
        self._is_text = success is not None and success[0] == 11

    def __call__(self, session: Session, **arguments: Any) -> Any:
        """Answer."""
        if self._is_text:
            return repr(arguments)
        raise NoSuchObject(f"found nothing for {arguments}")


def converse(pieces: list[bytes], dispatcher: Dispatcher) -> tuple[str, bytes]:
    """What becomes of bytes that come in pieces, and all that is sent for them."""
    session, inbox, sent = Session(1, "fuzz"), bytearray(), bytearray()
    protocol: WireProtocol | None = None
    outcome = "incomplete"
    for piece in pieces:
        inbox += piece
        try:
            protocol = protocol or recognise(inbox, dispatcher.recognise, LIMITS)
            while protocol is not None and (inbox or protocol.begun):
                request = protocol.take_request(inbox)
                if request is None:
                    break
                protocol.identify(session)
                sent += b"".join(protocol.wrap(protocol.encode(dispatcher.answer(request, session))))
                outcome = "answered"
                if protocol.ends:
                    return outcome, bytes(sent)
        except ProtocolError as error:
            sent += b"".join(protocol.reject(error)) if protocol else b""
            return f"rejected {'after an answer' if outcome == 'answered' else 'at once'}", bytes(sent)
    return outcome, bytes(sent)


def _check_pieces(outcome: str, answer: bytes, in_pieces: tuple[str, bytes]) -> None:
    """How the bytes came makes no difference, but for whether a client is told why it is rejected."""
    assert outcome == in_pieces[0], f"{outcome}, in pieces {in_pieces[0]}"
    assert answer == in_pieces[1] or outcome.startswith("rejected"), "another answer in pieces"


def _pieces(data: bytes, number: int) -> list[bytes]:
    cut = number % (len(data) + 1)
    return [data[:cut], data[cut : cut + 1], data[cut + 1 :]]


@contextmanager
def _watching(found: Found) -> Iterator[None]:
    """Collects what is logged as an error, and nothing else."""

    def catch(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        found.broken.append(event)
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(
        processors=[structlog.processors.format_exc_info, catch],
        wrapper_class=structlog.make_filtering_bound_logger("error"),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)
