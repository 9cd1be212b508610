"""From a whole request to its reply: decode the arguments, run the call, encode its result or its error.

This is the RPC edge: nothing that a call raises goes further than this file.
"""

import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import structlog
from structlog.contextvars import bind_contextvars, get_contextvars
from thriftpy2.thrift import TType

from hmstats import tracing
from hmstats.errors import (
    ClientGone,
    HmstatsError,
    InvalidInput,
    MetaError,
    ProtocolError,
    UnknownExpression,
    UpstreamClosed,
)
from hmstats.server.access.guard import AccessGuard
from hmstats.server.access.needs import Need
from hmstats.server.cache.cached_answers import AnswerCache, CachedAnswer
from hmstats.server.calls.audit import AuditLog
from hmstats.server.calls.relaying import Relay, Relayed, Sent, Stream
from hmstats.server.messages.encodings import Begun
from hmstats.server.messages.request import CacheKey, Request
from hmstats.server.messages.struct_codec import Encoded, decode_arguments, encode_struct
from hmstats.server.monitoring.metrics import CACHED, RPC_SECONDS
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.store.history.caller import Caller, caller
from hmstats.wire.faults import to_thrift
from hmstats.wire.idl import Method
from hmstats.wire.messages.envelope import (
    Head,
    Pieces,
    Refusal,
    encode_refusal,
    encode_reply,
    glance,
    glanced_head,
    head_in_return,
    head_of,
    reply_pieces,
)

__all__ = ["Dispatcher", "Encoded", "Session"]

OK = "ok"
RELAYED, RELAYED_REFUSAL = "relayed", "relayed_exception"
"""Outcomes of calls that another metastore has answered: with a value, or with an exception."""
_LONGEST_REASON = 500
"""The most characters of a reason in a log line, since it may quote the client's request."""
_UNKNOWN = "unknown"
"""The metrics' label for unknown methods: a client could send any number of names."""

_OPTIONAL = frozenset({"environment_context"})
"""Arguments that are structs and may be null."""

_log = structlog.get_logger("hmstats.server")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The encoded reply to a call, and the outcome of the call for metrics and audit."""

    reply: bytes
    outcome: str
    reason: str | None = None
    """Why the call was refused: an error's class and its sentence."""


class CachedReply(NamedTuple):
    """A cached reply to a request, valid only if its tables still have the same versions."""

    request: Request
    cached: CachedAnswer
    pieces: Pieces
    """The reply in binary form."""
    began_seconds: float
    new: bool = False
    """Whether the reply was assembled just now, and is not in the cache yet."""


class Dispatcher:
    """Answers encoded requests.

    `calls[name]` is called with the session and the arguments by their IDL names. It returns the value of the result's
    success field, or an Encoded result, and raises HmstatsError. A method without an entry is unknown to clients.
    Without `answers` nothing is cached. `quick[name]` makes the encoded result of a whole request whose arguments begin
    at a byte, or returns None to have the call made; `direct[name]` does so too, given the session and the
    request. `ready[name]` makes the result from memory alone, fast, and names the versions that it was made from.
    `recognise` makes the request of bytes that are a whole one, or returns None if they may be a part of one. With a
    `guard`, nothing is answered that its rules do not allow, whichever way the answer comes. `audit` records calls.
    With a `relay`, another metastore answers the calls that it takes.
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        calls: Mapping[str, Callable[..., Any]],
        answers: AnswerCache | None = None,
        quick: Mapping[str, Callable[[bytes, int], bytes | None]] | None = None,
        direct: Mapping[str, Callable[[Session, Request], bytes | None]] | None = None,
        ready: Mapping[str, Callable[[bytes, int], CachedAnswer | None]] | None = None,
        recognise: Callable[[Head, bytearray], Request | None] = lambda _head, _data: None,
        *,
        guard: AccessGuard | None = None,
        audit: AuditLog | None = None,
        relay: Relay | None = None,
    ) -> None:
        self.relay = relay
        self._methods = methods
        self._calls = calls
        self._answers = answers or AnswerCache(lambda _: {}, 0)
        self._quick = quick or {}
        self._direct = direct or {}
        self._ready = ready or {}
        self._recognise = recognise
        self._guard = guard
        self._audit = audit
        self._calls_log = _log.bind()
        self._audits_reads = audit is not None and audit.reads
        self._prompt = relay.prompt if relay is not None else None
        self.notes_cached = self._audits_reads or self._prompt is not None
        """Whether `note_cached` must be called with each cached reply that is sent."""

    def answer(self, request: Request, session: Session) -> Pieces | None:
        """The reply to a request, in binary form; None when the client waits for none. Raises nothing."""
        return copy_context().run(self._answer, request, session)

    def relays(self, request: Request) -> bool:
        """Whether another metastore answers a request."""
        return self.relay is not None and self.relay.takes(request.head.name)

    def answer_relayed(
        self, request: Request, session: Session, stream: Stream, sent: Sent | None = None
    ) -> Pieces | None:
        """Another metastore's reply to a request, or its end if it was streamed; None when the client waits for none.

        `sent` is the call if it was sent already. Raises UpstreamClosed and ClientGone, after which the connection
        ends.
        """
        return copy_context().run(self._answer_relayed, request, session, stream, sent)

    def send_at_once(self, request: Request, session: Session) -> Sent | None:
        """A request as it was sent to another metastore without waiting; None if it was not, for a thread to do.

        If traces are made, a thread makes the call's span.
        """
        if self.relay is None or tracing.is_on() or not self.relay.takes(request.head.name):
            return None
        return self.relay.send_at_once(request, session)

    def record_relayed(self, request: Request, session: Session, sent: Sent, relayed: Relayed) -> None:
        """Record a call that was sent at once, and answered."""
        copy_context().run(self._record_relayed, request, session, sent, relayed)

    def run(self, request: Request, session: Session) -> Relayed:
        """The answer to a call by `calls`, whichever calls another metastore would answer. Raises nothing."""
        caller.set(Caller(subject.author(session), request.head.name))
        answer = self._run(request, session, secrets.token_hex(8))
        return Relayed((answer.reply,), refused=answer.outcome not in (OK, CACHED))

    def recognise(self, data: bytearray) -> Request | Begun | None:
        """The request that the bytes are, if its answer is cached or `recognise` accepts it: no scan for its end."""
        head = head_of(data)
        if head is None:
            return None
        if self._answers.has(head, data):
            return Request(bytes(data), head)
        return Begun.BEGUN if self._answers.has_longer(head, data) else self._recognise(head, data)

    def find_repeated(self, message: bytes, session: Session) -> CachedReply | None:
        """The cached reply to bytes that are a whole strict request; None if they are not, or if no reply is cached."""
        if session.is_canary:
            return None
        began = time.perf_counter()
        glanced = glance(message)
        if glanced is None:
            return None
        name, body_at = glanced
        if self.relay is not None:
            kept = self._prompt.find(name, message, body_at, session) if self._prompt else None
            return _repeated(message, name, body_at, kept, began) if kept else None
        key = self._answers.key(name, message, body_at, of_spark=session.is_spark)
        cached = self._answers.find(key) if key else None
        if cached is None or (self._guard is not None and not self._guard.meets(session, cached.needs)):
            return None
        reply = _repeated(message, name, body_at, cached, began)
        reply.request.cache_key = key
        return reply

    def find_cached(self, request: Request, session: Session) -> CachedReply | None:
        """The cached reply to a request; None if there is none, or if the call is oneway."""
        began = time.perf_counter()
        head = request.head
        if head.oneway or session.is_canary or request.carrier:
            return None  # a call that is a part of a trace is run by a worker, which makes its span
        if self.relay is not None:
            kept = self._prompt.find(head.name, request.message, head.body_at, session) if self._prompt else None
            return CachedReply(request, kept, reply_pieces(head, kept.result), began) if kept else None
        key = self._key(request, session)
        cached = self._answers.find(key) if key else None
        if cached is not None:
            usable = self._guard is None or self._guard.meets(session, cached.needs)
            return CachedReply(request, cached, reply_pieces(head, cached.result), began) if usable else None
        ready = self._ready_answer(request, session)
        return CachedReply(request, ready, reply_pieces(head, ready.result), began, new=True) if ready else None

    def _ready_answer(self, request: Request, session: Session) -> CachedAnswer | None:
        """The answer that `ready` makes, with its needs; None if there is none, or if they are not met."""
        ready = self._ready.get(request.head.name)
        if ready is None:
            return None
        if self._guard is None:
            return ready(request.message, request.head.body_at)
        needs = self._guard.quick_needs(request, session)
        answer = ready(request.message, request.head.body_at) if needs else None
        return answer._replace(needs=needs) if answer else None

    def put_in_cache(self, reply: CachedReply) -> None:
        """Cache a new reply. Call this after its versions were checked."""
        if reply.request.cache_key:
            self._answers.put(reply.request.cache_key, reply.cached)

    def note_cached(self, reply: CachedReply, session: Session) -> None:
        """Note a call that was answered by a cached reply."""
        if self._prompt is not None:
            self._prompt.count()
        if self._audit is not None and self._audits_reads:
            self._judge(reply.request, session, reply.cached)
            self._audit.record(reply.request, session, CACHED)

    def audit_unproven(self, session: Session, call: str | None = None) -> None:
        """Record a call that does not run for want of a proven user."""
        if self._audit is not None:
            self._audit.record_unproven(session, call)

    def _judge(self, request: Request, session: Session, cached: CachedAnswer) -> None:
        """Set the request's verdict about a cached answer, for the audit record."""
        if self._guard is not None and self._audits_reads:
            request.verdict = self._guard.verdict(session, cached.needs or ())

    def refuse(self, request: Request, session: Session, sentence: str) -> Pieces | None:
        """A MetaException in reply to a request that is not run or took too long; None if oneway."""
        head = request.head
        answer = self._failure(head, MetaError(sentence))
        _log.warning("refused", method=head.name, outcome=answer.outcome, reason=sentence, **_client(session))
        return self._unless_oneway(head, answer)

    def _key(self, request: Request, session: Session) -> CacheKey | None:
        """The key of the request's answer in the cache, which the request holds from now on."""
        if request.cache_key is None:
            head = request.head
            request.cache_key = self._answers.key(
                head.name, request.message, head.body_at, of_spark=session.is_spark, of_canary=session.is_canary
            )
        return request.cache_key

    def _answer(self, request: Request, session: Session) -> Pieces | None:
        with _span(request) as span:
            return self._answer_call(request, session, span)

    def _answer_call(self, request: Request, session: Session, span: Any) -> Pieces | None:
        started = time.perf_counter()
        head = request.head
        request_id = secrets.token_hex(8)
        bind_contextvars(request_id=request_id, method=head.name, **_client(session), **_trace())
        caller.set(Caller(subject.author(session), head.name))
        if session.is_canary:
            session.look_for_canary()  # a share may have ended
        answer = self._run(request, session, request_id)
        self._record_call(request, session, started, answer.outcome, answer.reason)
        if span is not None:
            span.set_attribute("hmstats.outcome", answer.outcome)
        return self._unless_oneway(head, answer)

    def _record_call(
        self, request: Request, session: Session, started: float, outcome: str, reason: str | None = None
    ) -> None:
        """Record a call that has ended in the audit log, the metrics and the log."""
        name = request.head.name
        if self._audit is not None:
            self._audit.record(request, session, outcome)
        seconds = time.perf_counter() - started
        RPC_SECONDS.labels(name if name in self._methods else _UNKNOWN, outcome).observe(seconds)
        # Writing a line takes longer than a cached answer, and a tenth of what a relayed call takes here.
        level = logging.DEBUG if outcome in (CACHED, RELAYED) else logging.INFO
        if not self._calls_log.is_enabled_for(level):
            return
        fields = {"milliseconds": round(seconds * 1000, 3), "outcome": outcome}
        if reason is not None:
            fields["reason"] = reason[:_LONGEST_REASON]
        self._calls_log.log(level, "call", **(get_contextvars() | fields))

    def _record_relayed(self, request: Request, session: Session, sent: Sent, relayed: Relayed) -> None:
        bind_contextvars(request_id=secrets.token_hex(8), method=request.head.name, **_client(session))
        self._record_call(request, session, sent.began_seconds, RELAYED_REFUSAL if relayed.refused else RELAYED)

    def _answer_relayed(self, request: Request, session: Session, stream: Stream, sent: Sent | None) -> Pieces | None:
        with _span(request):
            return self._relay_call(request, session, stream, sent)

    def _relay_call(self, request: Request, session: Session, stream: Stream, sent: Sent | None) -> Pieces | None:
        assert self.relay is not None
        started = sent.began_seconds if sent else time.perf_counter()
        head = request.head
        request_id = secrets.token_hex(8)
        bind_contextvars(request_id=request_id, method=head.name, **_client(session), **_trace())
        error: HmstatsError
        answered_here: _Answer | None = None

        def here(changed: Request | None = None) -> Relayed:
            nonlocal answered_here
            caller.set(Caller(subject.author(session), head.name))
            answered_here = self._run(changed or request, session, request_id)
            return Relayed((answered_here.reply,), refused=answered_here.outcome not in (OK, CACHED))

        try:
            relayed = sent.finish(stream) if sent else self.relay.answer(request, session, stream, here)
        except HmstatsError as raised:
            error = raised
        except Exception:  # noqa: BLE001 - the edge: a bug in one call must not end the thread that runs it
            _log.exception("call_broke", **get_contextvars())
            error = _unexpected_error(request_id)
        else:
            outcome = answered_here.outcome if answered_here else RELAYED_REFUSAL if relayed.refused else RELAYED
            self._record_call(request, session, started, outcome, answered_here.reason if answered_here else None)
            return None if head.oneway else relayed.rest
        if stream.begun or isinstance(error, UpstreamClosed | ClientGone):
            self._record_call(request, session, started, type(error).__name__, str(error))
            raise error if isinstance(error, ClientGone) else UpstreamClosed(str(error)) from error
        answer = self._failure(head, error)
        self._record_call(request, session, started, answer.outcome, answer.reason)
        return self._unless_oneway(head, answer)

    def _run(self, request: Request, session: Session, request_id: str) -> _Answer:
        try:
            return self._call(request, session)
        except Exception:  # noqa: BLE001 - the edge: a bug in one call must not end the thread that runs it
            _log.exception("call_broke", **get_contextvars())
            return self._failure(request.head, _unexpected_error(request_id))

    def _call(self, request: Request, session: Session) -> _Answer:
        head = request.head
        method, call = self._methods.get(head.name), self._calls.get(head.name)
        if method is None or call is None:
            return _refusal(head, Refusal.UNKNOWN_METHOD, f"Invalid method name: '{head.name}'")
        key = self._key(request, session)
        cached = self._answers.find_valid(key, self._usable_by(request, session)) if key else None
        if cached is not None:
            return _Answer(encode_reply(head, cached), CACHED)
        try:
            result = self._quick_result(request, session)
            if result is not None:
                return _Answer(encode_reply(head, result), OK)
            direct = self._direct.get(head.name)
            result = direct(session, request) if direct else None
            if result is not None:
                return _Answer(encode_reply(head, result), OK)
            result = self._run_call(method, call, request, session)
            if result is None:
                return _refusal(head, Refusal.MISSING_RESULT, f"{head.name} failed: unknown result")
            return _Answer(encode_reply(head, result), OK)
        except ProtocolError as error:
            return _refusal(head, Refusal.PROTOCOL_ERROR, str(error))
        except HmstatsError as error:
            return self._failure(head, error)

    def _usable_by(self, request: Request, session: Session) -> Callable[[CachedAnswer], bool] | None:
        guard = self._guard
        if guard is None:
            return None

        def is_usable(cached: CachedAnswer) -> bool:
            if not guard.meets(session, cached.needs):
                return False
            self._judge(request, session, cached)
            return True

        return is_usable

    def _run_call(self, method: Method, call: Callable[..., Any], request: Request, session: Session) -> bytes | None:
        """The encoded result of the call itself; None if it has no value. Raises HmstatsError."""
        arguments = decode_arguments(method, request.message, request.head.body_at)
        _require_structs(method, arguments)
        if self._guard is None:
            return self._make_and_cache(request.cache_key, None, lambda: _result(method, call(session, **arguments)))
        permit = self._guard.permit(request, session, arguments)
        with self._answers.caching(request.cache_key if permit.whole else None) as put:
            result = _result(method, permit.run(call, session, arguments))
        if result is not None and permit.whole:
            put(result, permit.needs)
        return result

    def _make_and_cache(
        self, key: CacheKey | None, needs: Sequence[Need] | None, make: Callable[[], bytes | None]
    ) -> bytes | None:
        """What `make` returns, which is then cached with its needs."""
        with self._answers.caching(key) as put:
            result = make()
        if result is not None:
            put(result, needs)
        return result

    def _quick_result(self, request: Request, session: Session) -> bytes | None:
        """The result that `quick` makes, which is then cached; None if the call must be made."""
        quick = None if session.is_canary else self._quick.get(request.head.name)
        if quick is None:
            return None
        needs = self._guard.quick_needs(request, session) if self._guard else None
        if self._guard is not None and needs is None:
            return None
        return self._make_and_cache(request.cache_key, needs, lambda: quick(request.message, request.head.body_at))

    def _failure(self, head: Head, error: HmstatsError) -> _Answer:
        """The exception of the API that stands for the error, or else a TApplicationException."""
        if isinstance(error, UnknownExpression):  # Hive's clients then fall back to filtering partitions themselves
            return _refusal(head, Refusal.UNKNOWN_METHOD, f"Invalid method name: '{head.name}': {error}")
        method = self._methods.get(head.name)
        exception = to_thrift(error, method.throws) if method else None
        if method is None or exception is None:
            return _refusal(head, Refusal.INTERNAL_ERROR, f"Internal error processing {head.name}: {error}")
        result = method.result(**{method.throws[type(exception)]: exception})
        reason = f"{type(error).__name__}: {error}"
        return _Answer(encode_reply(head, encode_struct(result)), type(exception).__name__, reason)

    def _unless_oneway(self, head: Head, answer: _Answer) -> Pieces | None:
        method = self._methods.get(head.name)
        return None if head.oneway or (method is not None and method.oneway) else (answer.reply,)


def _repeated(message: bytes, name: str, body_at: int, cached: CachedAnswer, began: float) -> CachedReply:
    request = Request(message, glanced_head(message, name, body_at))
    return CachedReply(request, cached, (head_in_return(message, body_at), cached.result), began)


def _require_structs(method: Method, arguments: Mapping[str, Any]) -> None:
    """Raise InvalidInput if a struct argument is null, or a required struct inside of one."""
    for spec in method.arguments.thrift_spec.values():
        kind, name = spec[0], spec[1]
        if kind != TType.STRUCT or name in _OPTIONAL:
            continue
        if arguments[name] is None:
            raise InvalidInput(f"{method.name} must have the argument {name}, found none")
        for inner in _required_structs(spec[2]):
            if getattr(arguments[name], inner) is None:
                raise InvalidInput(f"{method.name} must have a struct {inner} in its {name}, found none")


@cache
def _required_structs(struct: Any) -> tuple[str, ...]:
    return tuple(spec[1] for spec in struct.thrift_spec.values() if spec[0] == TType.STRUCT and spec[-1])


def _result(method: Method, value: Any) -> bytes | None:
    """The encoded result struct; None if the method returns a value and there is none."""
    if isinstance(value, Encoded):
        return value.result
    if not method.returns_value:
        return encode_struct(method.result())
    return None if value is None else encode_struct(method.result(success=value))


def _refusal(head: Head, kind: Refusal, sentence: str) -> _Answer:
    return _Answer(encode_refusal(head, kind, sentence), kind.name, sentence)


def _unexpected_error(request_id: str) -> MetaError:
    return MetaError(f"unexpected error; the server's log has it as request {request_id}")


def _span(request: Request) -> AbstractContextManager[Any]:
    """The span of a call; it yields None while no traces are made."""
    name = request.head.name
    return tracing.span(name, "server", request.carrier, rpc__system="hive_metastore", rpc__method=name)


def _trace() -> dict[str, str]:
    """The trace of a call, for its log line."""
    found = tracing.trace_id()
    return {} if found is None else {"trace": found}


def _client(session: Session) -> dict[str, Any]:
    return {"connection": session.connection_id, "peer": session.peer}
