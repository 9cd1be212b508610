"""The exchange with clients: reads requests, hands whole ones to the workers, and writes replies.

Everything but `_work` runs in the selector's thread. Workers send replies themselves; bytes that a socket does not take
at once are sent from here. So a slow or silent client costs a buffer until its timeout, never a thread.
"""

import contextlib
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import structlog

from hmstats.errors import HmstatsError, MessageTooSlow, NotAuthenticated, ProtocolError
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.cache.version_source import VersionSource
from hmstats.server.calls.dispatch import CachedReply, Dispatcher
from hmstats.server.connections.call_threads import CallThreads
from hmstats.server.connections.connection import READ, WRITE, Call, Connection
from hmstats.server.connections.deadlines import Deadlines, DeadlineTable
from hmstats.server.connections.handshakes import TLS_ONLY, Handshakes, Tls
from hmstats.server.connections.partial_requests import PartialRequests
from hmstats.server.connections.prompt_replies import PromptReplies
from hmstats.server.connections.proofs import Proofs
from hmstats.server.connections.sent_calls import SentCalls
from hmstats.server.connections.streamed_reply import relay
from hmstats.server.connections.unsent import UnsentReplies
from hmstats.server.layers.sasl_socket import SaslSocket
from hmstats.server.limits import Limits
from hmstats.server.monitoring.metrics import CONNECTIONS, FAILED_CONNECTIONS, UNTAKEN_REPLIES
from hmstats.server.protocols.protocols import WireProtocol, recognise
from hmstats.server.protocols.sasl_protocol import SaslProtocol
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.envelope import Pieces, Refusal, encode_refusal

_LINGER_SECONDS = 5.0
"""How long a client has to read its last reply before its connection is closed."""
_FRESH_SECONDS = 1.0
"""How long a new client has to send its request if the server is draining."""
_TURNED_AWAY_AT_ONCE = 128
"""Connections beyond the limit that get an error at once; any more are closed without a reply."""

_CLOSE_POLL_SECONDS = 0.001
_REQUESTS_AT_ONCE = 32
"""Requests of a connection that are started in one turn."""

_log = structlog.get_logger("hmstats.server")

T = TypeVar("T")

NewSession = Callable[[int, str], Session]
"""Makes the session of a connection from its number and its peer's address."""


class Exchange:
    """The connections of a selector, each of which it registers with the Connection as data."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        wake: Callable[[], None],
        dispatcher: Dispatcher,
        limits: Limits,
        report_count: Callable[[int], None],
        versions: VersionSource | None,
        sessions: NewSession,
        *,
        tls: Tls | None = None,
        authentication: Authentication | None = None,
    ) -> None:
        """`report_count` is called with the number of connections whenever that changes."""
        self._report_count = report_count
        self._limits = limits
        self._selector = selector
        self._wake = wake
        self._dispatcher = dispatcher
        self._sessions = sessions
        self._connections: set[Connection] = set()
        self._turned_away: set[Connection] = set()
        self._numbers = count(1)
        self._threads = CallThreads(dispatcher, limits, self._work, self._relay)
        self._ended_calls: deque[Call] = deque()
        self._prompt = PromptReplies(
            selector, wake, dispatcher, versions, self._end, self._hand_to_worker, self.run_guarded
        )
        self._sent = SentCalls(selector, dispatcher, self._end, self._hand_to_worker, self.run_guarded)
        self.answers_itself = False
        """Whether this thread answers the last request: the next event is then near, and no worker is busy."""
        self._draining = False
        self._receiving = Deadlines[Connection](limits.receive_seconds)
        self._partial = PartialRequests(limits.max_partial_bytes)
        self._unsent = UnsentReplies(limits)
        self.unread: deque[Connection] = deque()
        """Connections with more requests than their turn allowed, which continue in the next turn."""
        self._calling = Deadlines[Connection](limits.call_seconds)
        self._relayed = Deadlines[Connection](limits.relay_seconds)
        self._handshakes = Handshakes(tls, authentication, limits, wake)
        self._proofs = Proofs(authentication, limits, wake)
        self._idle = Deadlines[Connection](limits.idle_seconds)
        self._lingering = Deadlines[Connection](_LINGER_SECONDS)
        self._leaving = Deadlines[Connection](_FRESH_SECONDS)
        self._deadlines = DeadlineTable[Connection](
            (
                (self._calling, self._end_call),
                (self._relayed, self._end_call),
                (self._receiving, self._end_receiving),
                (self._unsent.deadlines, self._end_sending),
                (self._handshakes.deadlines, self._end_handshake),
                (self._idle, self._end_idle),
                (self._lingering, self._close),
                (self._leaving, self._close),
            )
        )

    def next_deadline(self, now: float) -> float:
        """The earliest time at which `expire` can have something to do, in seconds of time.monotonic()."""
        return self._deadlines.next(now)

    @property
    def busy(self) -> int:
        """How many connections have a running call or an unsent reply."""
        return sum(1 for connection in self._connections if not connection.lingering)

    def start(self) -> None:
        """Start the worker threads."""
        self._report_count(0)
        self._threads.start()
        self._handshakes.start()
        self._proofs.start()

    def drain(self) -> None:
        """Start no more requests: connections without a call are closed now, the others after their reply.

        Only a client that has just connected is still answered once.
        """
        self._draining = True
        self.settle()
        for connection in list(self._connections):
            if connection.fresh:
                self._leaving.start(connection)
            self.advance(connection)

    def close(self) -> None:
        """Close every connection, and let the workers end after their running calls."""
        for connection in list(self._connections):
            self._close(connection)
        self._threads.stop()
        self._handshakes.stop()
        self._proofs.stop()
        self._prompt.close()
        self._sent.close()
        while self._connections:  # replies that workers are sending now, without waiting for a client
            time.sleep(_CLOSE_POLL_SECONDS)
            self.settle()

    def add(self, accepted: socket.socket, peer: str) -> None:
        """Add a new connection, or refuse it if there are too many."""
        full = len(self._connections) - len(self._turned_away) >= self._limits.max_connections
        if full and len(self._turned_away) >= _TURNED_AWAY_AT_ONCE:
            accepted.close()
            return
        connection = Connection(accepted, self._sessions(next(self._numbers), peer))
        self._connections.add(connection)
        CONNECTIONS.inc()
        self._report_count(len(self._connections))
        if full:
            self._turn_away(connection)
        else:
            self._idle.start(connection)
            self._proofs.expect(connection)
            self._handshakes.expect(connection)
            self._end_oldest_handshakes()
        self._watch(connection)

    def react(self, connection: Connection, events: int) -> bool:
        """Read from or write to a ready socket; whether `advance` must be called after `settle`."""
        if connection.closed or connection.doomed:
            return False
        try:
            if events & READ:
                data = connection.receive()
                if data is None:
                    self._handshakes.open(connection)
                elif connection.free and not connection.inbox and self._start_repeated(connection, data):
                    return connection.call is None
                else:
                    connection.append(data)
            if events & WRITE and connection.outbox:
                self._store_unsent(connection, connection.send((connection.outbox,)))
        except (OSError, MemoryError) as error:
            self._log_and_close(connection, error)
        return True

    def settle(self) -> list[Connection]:
        """Process finished calls; returns their connections, on which `advance` must be called."""
        settled = []
        while self._ended_calls:
            call = self._ended_calls.popleft()
            self.run_guarded(call.connection, self._settle, call)
            settled.append(call.connection)
        for connection, error in self._handshakes.finished():
            self.run_guarded(connection, self._settle_handshake, error)
            settled.append(connection)
        for connection, refusal in self._proofs.finished():
            self.run_guarded(connection, self._settle_proof, refusal)
            settled.append(connection)
        return settled

    def run_guarded(self, connection: Connection, step: Callable[..., T], *arguments: Any) -> T | None:
        """Run a step on a connection and return its result; an unexpected error ends only that connection."""
        try:
            return step(connection, *arguments)
        except Exception:  # noqa: BLE001 - the guard of the selector's thread
            session = connection.session
            _log.exception("connection_failed", connection=session.connection_id, peer=session.peer)
            FAILED_CONNECTIONS.inc()
            self._close(connection)
            return None

    @property
    def waits_with_others(self) -> bool:
        """Whether a version check is about to be sent that requests of other clients could share."""
        return self._prompt.has_unchecked and len(self._connections) > 1

    def check_versions(self) -> None:
        """Send the version check of the cached answers that wait for one. Call this at the end of every turn."""
        self._prompt.check_versions()

    def advance_unread(self) -> None:
        """Advance the connection that has been unread for longest."""
        connection = self.unread.popleft()
        connection.unread = False
        self.run_guarded(connection, self.advance)

    def advance(self, connection: Connection) -> None:
        """Start whole requests, as many as one turn allows, and watch for more."""
        started = 0
        while connection.free and started < _REQUESTS_AT_ONCE and self._start_next(connection):
            started += 1
        if started == _REQUESTS_AT_ONCE and connection.free:
            self._postpone(connection)
        if connection.lingering and connection.ended:
            self._close(connection)
        self._watch(connection)

    def _postpone(self, connection: Connection) -> None:
        """Schedule a connection for the next turn."""
        if not connection.unread:
            connection.unread = True
            self.unread.append(connection)

    def expire(self, now: float) -> None:
        """End connections and calls after their deadlines."""
        self._prompt.report_seconds()
        self._prompt.tend_line(now)
        self._sent.leave_late(now)
        for connection, end in self._deadlines.expired(now):
            self.run_guarded(connection, end)

    def _end_receiving(self, connection: Connection) -> None:
        sentence = f"a request must arrive within {self._limits.receive_seconds:g} seconds, found a part of one"
        self._reject(connection, MessageTooSlow(sentence))

    def _end_sending(self, connection: Connection) -> None:
        self._close_slow(connection, "slow", self._unsent.too_slow)

    def _end_handshake(self, connection: Connection) -> None:
        missing = "authenticated user" if connection.must_prove and not connection.must_be_secure else "handshake"
        self._log_and_close(connection, f"no {missing} in {self._limits.handshake_seconds:g} seconds")

    def _end_idle(self, connection: Connection) -> None:
        self._log_and_close(connection, f"no request in {self._limits.idle_seconds:g} seconds")

    def _settle(self, connection: Connection, call: Call) -> None:
        self._forget_call(connection)
        if call.error is not None:
            self._log_and_close(connection, call.error)
        elif connection.doomed:
            self._close(connection)
        elif call.unsent or call.last:
            connection.last = call.last
            self._store_unsent(connection, call.unsent)

    def _turn_away(self, connection: Connection) -> None:
        sentence = f"the server has reached its limit of {self._limits.max_connections} connections; try again later"
        _log.warning("connection_refused", peer=connection.session.peer, reason=sentence)
        self._turned_away.add(connection)
        self._send(connection, (encode_refusal(None, Refusal.INTERNAL_ERROR, sentence),), last=True)

    def _start_repeated(self, connection: Connection, data: bytes) -> bool:
        """Start a request that is answered from the cache by its bytes alone. Returns whether the bytes are one."""
        protocol = connection.protocol
        if protocol is None or connection.must_prove:
            return False
        message = protocol.message(data)
        repeated = self._dispatcher.find_repeated(message, connection.session) if message else None
        if repeated is not None:
            self._begin_call(connection, Call(connection, protocol, repeated.request), repeated)
        return repeated is not None

    def _start_next(self, connection: Connection) -> bool:
        """Start the next request. Returns False if none is complete."""
        if self._draining and not connection.fresh:
            self._close(connection)
            return False
        try:
            if connection.protocol is None and self._handshakes.take_bytes(connection):
                self._wait_for_handshake(connection)
                return False
            request = self._next_request(connection)
            if connection.is_in_step or self._refuse_unproven(connection, request):
                return False
        except ProtocolError as error:
            self._reject(connection, self._proofs.explain(error, connection))
            return False
        if request is not None:
            self._begin_call(connection, request)
        elif connection.request_begun:
            self._wait_for_rest(connection)
        elif connection.ended:
            self._log_and_close(connection, "closed by the client")
        else:
            self._idle.start(connection)
        return request is not None

    def _wait_for_rest(self, connection: Connection) -> None:
        """Wait for the rest of a request; if it has arrived already, continue in the next turn."""
        if connection.protocol is not None and connection.protocol.unread:
            self._postpone(connection)
        elif connection.ended:
            self._log_and_close(connection, "closed by the client")
            return
        self._idle.stop(connection)
        self._receiving.start(connection)
        self._partial.update(connection)
        for each in self._partial.excess():
            self.run_guarded(each, self._reject, self._partial.refusal())

    def _next_request(self, connection: Connection) -> Call | None:
        protocol = connection.protocol = connection.protocol or self._recognise(connection)
        if protocol is None or not connection.request_begun:
            return None
        request = protocol.take_request(connection.inbox)
        if protocol.awaits_proof and not connection.must_be_secure and self._proofs.prove(connection, protocol):
            self._handshakes.remove(connection)
            request = protocol.take_request(connection.inbox)
        if request is None:
            return None
        protocol.identify(connection.session)
        return Call(connection, protocol, request)

    def _recognise(self, connection: Connection) -> WireProtocol | None:
        authenticates = self._proofs.authentication is not None
        recognise_request, proven = self._dispatcher.recognise, not connection.must_prove
        return recognise(connection.inbox, recognise_request, self._limits, authenticates=authenticates, proven=proven)

    def _refuse_unproven(self, connection: Connection, call: Call | None) -> bool:
        """Whether a request comes over a connection that is not encrypted or proven as it must be; answers it then.

        Raises ProtocolError if the request is not whole, but should have been encrypted.
        """
        sentence = self._proofs.missing_proof if connection.must_prove and call is not None else None
        if connection.must_be_secure and connection.protocol is not None:
            sentence = TLS_ONLY
        if sentence is None:
            return False
        if call is None:
            raise ProtocolError(sentence)
        if connection.must_prove:
            self._dispatcher.audit_unproven(connection.session, call.request.head.name)
        self._answer_instead(connection, call, sentence, last=True)
        self._watch(connection)
        return True

    def _wait_for_handshake(self, connection: Connection) -> None:
        self._idle.stop(connection)
        self._end_oldest_handshakes()
        if connection.ended and not connection.is_in_step:
            self._log_and_close(connection, "closed by the client in the handshake")

    def _end_oldest_handshakes(self) -> None:
        for oldest in self._handshakes.excess():
            self._log_and_close(oldest, "handshakes under way have reached their limit")

    def _settle_handshake(self, connection: Connection, error: OSError | HmstatsError | None) -> None:
        if isinstance(error, ProtocolError) and not connection.doomed:
            self._reject(connection, error)
            return
        if error is not None:
            session = connection.session
            _log.info("handshake_failed", connection=session.connection_id, peer=session.peer, reason=str(error))
        if error is not None or connection.doomed:
            connection.doomed = False
            self._close(connection)
        elif isinstance(connection.socket, SaslSocket):
            self._speak_behind_sasl(connection, connection.socket)
        elif connection.is_secure and connection.must_prove:
            self._settle_certificate(connection)

    def _speak_behind_sasl(self, connection: Connection, layer: SaslSocket) -> None:
        if connection.protocol is None and not connection.lingering:
            connection.protocol = SaslProtocol(layer, self._dispatcher.recognise, self._limits)

    def _settle_certificate(self, connection: Connection) -> None:
        """Authenticate the user of the client's certificate, as soon as the handshake is complete."""
        try:
            if self._proofs.by_certificate(connection):
                self._handshakes.remove(connection)
        except NotAuthenticated as error:  # a request may prove the user yet, and is told so else
            session = connection.session
            _log.info("certificate_not_taken", connection=session.connection_id, peer=session.peer, reason=str(error))

    def _settle_proof(self, connection: Connection, refusal: NotAuthenticated | None) -> None:
        if connection.doomed:
            connection.doomed = False
            self._close(connection)
        elif refusal is not None:
            self._reject(connection, refusal)
        else:
            self._handshakes.remove(connection)

    def _begin_call(self, connection: Connection, call: Call, repeated: CachedReply | None = None) -> None:
        """Answer a call from the cache, with `repeated` if it is given, or hand it to a thread."""
        self._idle.stop(connection)
        self._receiving.stop(connection)
        self._partial.remove(connection)
        self._leaving.stop(connection)
        connection.fresh = False
        connection.call = call
        deadlines = self._relayed if self._threads.relays(call) else self._calling
        deadlines.start(connection)
        self.answers_itself = self._prompt.accept(call, repeated) or self._sent.send(call)
        if not self.answers_itself:
            self._hand_over(call)
        elif call.answered:
            self._settle(connection, call)

    def _end(self, call: Call) -> None:
        """Finish a call that was answered in this thread after a version check."""
        connection = call.connection
        if call.unsent or call.error or call.last or connection.awaits_selector or self._draining:
            self._ended_calls.append(call)
            return
        self._forget_call(connection)
        self._idle.start(connection)

    def _hand_to_worker(self, call: Call) -> None:
        """Hand a call that this thread cannot answer to a worker, unless the call has ended meanwhile."""
        connection = call.connection
        if connection.call is call:
            self.answers_itself = False
            self._hand_over(call)
            self.advance(connection)  # the call may have been refused, and the next request may wait

    def _hand_over(self, call: Call) -> None:
        """Queue a call for a thread; refuse it if the queue is full."""
        if self._threads.submit(call):
            return
        if call.sent is not None:
            call.sent.abandon()
        most = f"{self._limits.max_waiting_calls} calls, or {self._limits.max_waiting_bytes:,} bytes of them"
        sentence = f"the server is busy: {most}, wait already; try again later"
        self._answer_instead(call.connection, call, sentence, last=False)

    def _end_call(self, connection: Connection) -> None:
        """Answer a call after its timeout, unless a worker is answering it right now."""
        call = connection.call
        if call is not None and call.claim():
            seconds = self._limits.relay_seconds if self._threads.relays(call) else self._limits.call_seconds
            sentence = f"the call timed out after {seconds:g} seconds"
            self._answer_instead(connection, call, sentence, last=True)
            self._watch(connection)

    def _answer_instead(self, connection: Connection, call: Call, sentence: str, *, last: bool) -> None:
        self._forget_call(connection)
        reply = call.protocol.encode(self._dispatcher.refuse(call.request, connection.session, sentence))
        self._send(connection, call.protocol.wrap(reply), last=last or call.protocol.ends)

    def _forget_call(self, connection: Connection) -> None:
        connection.call = None
        self._calling.stop(connection)
        self._relayed.stop(connection)

    def _work(self, call: Call) -> None:
        """In a worker's thread: run a call and send its reply."""
        if call.run(self._dispatcher):
            self._report_ended(call)

    def _relay(self, call: Call) -> None:
        """In a relaying thread: have another metastore answer a call."""
        if relay(call, self._dispatcher, self._limits):
            self._report_ended(call)

    def _report_ended(self, call: Call) -> None:
        # Noted first and looked at second, while the selector's thread reads first and looks for notes second: so one
        # of the two sees that a request waits.
        self._ended_calls.append(call)
        if call.unsent or call.error or call.last or call.connection.awaits_selector or self._draining:
            self._wake()

    def _reject(self, connection: Connection, error: ProtocolError) -> None:
        """Answer bytes that are no valid request, and close the connection."""
        session = connection.session
        _log.warning("request_rejected", connection=session.connection_id, peer=session.peer, reason=str(error))
        if isinstance(error, NotAuthenticated):
            self._dispatcher.audit_unproven(session)
        protocol = connection.protocol
        reply = protocol.reject(error) if protocol else (self._handshakes.refusal(connection, error),)
        self._partial.remove(connection)
        connection.protocol = None  # with what it holds of the request
        self._send(connection, reply, last=True)
        self._watch(connection)

    def _send(self, connection: Connection, data: Pieces, *, last: bool) -> None:
        connection.last = last
        if last:
            connection.inbox.clear()
        try:
            self._store_unsent(connection, connection.send(data))
        except OSError as error:
            self._log_and_close(connection, error)

    def _store_unsent(self, connection: Connection, rest: memoryview) -> None:
        """Store the unsent rest of a reply."""
        had_outbox = bool(connection.outbox)
        connection.outbox = rest
        if rest or had_outbox:
            self._unsent.update(connection)
        if rest:
            self._end_slowest()
            return
        if connection.last:
            self._linger(connection)

    def _linger(self, connection: Connection) -> None:
        """Let the client read its last reply before the end: closing over unread bytes would reset the connection."""
        connection.lingering = True
        self._receiving.stop(connection)
        self._idle.stop(connection)
        self._lingering.start(connection)
        with contextlib.suppress(OSError):
            connection.socket.shutdown(socket.SHUT_WR)

    def _end_slowest(self) -> None:
        """End connections, slowest first, until the unsent replies are within their limit."""
        for slowest in self._unsent.excess():
            self._close_slow(slowest, "unsent bytes", self._unsent.too_much)

    def _close_slow(self, connection: Connection, kind: str, reason: str) -> None:
        """End a connection whose client does not read its reply."""
        session, unsent = connection.session, len(connection.outbox)
        _log.warning(
            "reply_not_taken", connection=session.connection_id, peer=session.peer, bytes=unsent, reason=reason
        )
        UNTAKEN_REPLIES.labels(kind).inc()
        self._close(connection)

    def _log_and_close(self, connection: Connection, reason: object) -> None:
        session = connection.session
        _log.debug("connection_ended", connection=session.connection_id, peer=session.peer, reason=str(reason))
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        if connection.closed:
            return
        self._watch(connection, 0)
        self._unsent.remove(connection)
        self._partial.remove(connection)
        self._deadlines.stop(connection)
        self._handshakes.remove(connection)
        if connection.is_in_step or (connection.call is not None and not connection.call.claim()):
            connection.doomed = True  # a thread works on the socket; it is closed when the call or step is settled
            return
        connection.closed = True
        connection.socket.close()
        if self._dispatcher.relay is not None:
            self._dispatcher.relay.leave(connection.session)
        self._connections.discard(connection)
        self._turned_away.discard(connection)
        CONNECTIONS.dec()
        self._report_count(len(self._connections))

    def _watch(self, connection: Connection, wanted: int | None = None) -> None:
        """Register the events that the connection waits for with the selector."""
        events = connection.wanted_events if wanted is None else wanted
        if connection.closed or connection.doomed or events == connection.events:
            return
        if not events:
            self._selector.unregister(connection.socket)
        elif not connection.events:
            self._selector.register(connection.socket, events, connection)
        else:
            self._selector.modify(connection.socket, events, connection)
        connection.events = events
