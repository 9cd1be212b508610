"""What happens on the connections: requests are read, handed whole to the workers, and replies written.

All of it runs in the selector's thread, but `_work`. Workers send replies themselves; what a socket does not take at
once is sent from here. So a silent, slow or half-way client costs a buffer and its time limit, never a thread.
"""

import contextlib
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from itertools import count

import structlog

from hmstats.errors import ProtocolError
from hmstats.server.calls import Call
from hmstats.server.connection import READ, WRITE, Connection
from hmstats.server.deadlines import Deadlines
from hmstats.server.dispatch import Repeated
from hmstats.server.limits import Limits
from hmstats.server.messages import Pieces, Refusal, encode_refusal
from hmstats.server.metrics import CONNECTIONS
from hmstats.server.prompt import PromptReplies, VersionSource
from hmstats.server.protocols import WireProtocol
from hmstats.server.session import Session
from hmstats.server.workers import Workers

_LINGER_SECONDS = 5.0
"""How long a client has to read its last reply before its connection is closed under it."""
_FRESH_SECONDS = 1.0
"""How long a client that has just come may take for its request when the server stops taking up others."""
_TURNED_AWAY_AT_ONCE = 128
"""Connections beyond the limit that are told so; more than these are closed without a word."""

_MOMENT_SECONDS = 0.001

_log = structlog.get_logger("hmstats.server")

Recognise = Callable[[bytearray], WireProtocol | None]
"""The protocol that a connection's first bytes are of; None when they are too few to say. Raises ProtocolError."""


class Exchange:
    """The connections of a selector, each of which it registers with the Connection as data."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        wake: Callable[[], None],
        recognise: Recognise,
        limits: Limits,
        note: Callable[[int], None],
        versions: VersionSource | None = None,
    ) -> None:
        """`note` is told how many connections there are whenever that changes."""
        self._note = note
        self._limits = limits
        self._selector = selector
        self._wake = wake
        self._recognise = recognise
        self._connections: set[Connection] = set()
        self._turned_away: set[Connection] = set()
        self._numbers = count(1)
        self._workers: Workers[Call] = Workers(limits.threads, limits.max_waiting_calls, self._work)
        self._ended_calls: deque[Call] = deque()
        self._prompt = PromptReplies(selector, wake, versions, self._end, self._leave)
        self.answers_itself = False
        """Whether the last request is answered in this thread: the next event is near then, and no worker at work."""
        self._draining = False
        self._receiving = Deadlines[Connection](limits.receive_seconds)
        self._sending = Deadlines[Connection](limits.send_seconds)
        self._calling = Deadlines[Connection](limits.call_seconds)
        self._idle = Deadlines[Connection](limits.idle_seconds)
        self._lingering = Deadlines[Connection](_LINGER_SECONDS)
        self._leaving = Deadlines[Connection](_FRESH_SECONDS)
        self._deadlines = (self._receiving, self._sending, self._calling, self._idle, self._lingering, self._leaving)
        self._shortest_seconds = min(each.seconds for each in self._deadlines if each.seconds is not None)

    def next_deadline(self, now: float) -> float:
        """Before when `expire` has nothing to do, as time.monotonic() counts, whatever is started from now on."""
        firsts = (first for each in self._deadlines if (first := each.next()) is not None)
        return min([now + self._shortest_seconds, *firsts])

    @property
    def busy(self) -> int:
        """Connections with a call that runs or a reply that is still being sent."""
        return sum(1 for connection in self._connections if not connection.lingering)

    def start(self) -> None:
        """Start the worker threads."""
        self._note(0)
        self._workers.start()

    def drain(self) -> None:
        """Take up no more requests: connections without a call are closed now, the others after their reply.

        Only a client that has just come, who could not know, is answered once.
        """
        self._draining = True
        self.settle()
        for connection in list(self._connections):
            if connection.fresh:
                self._leaving.start(connection)
            self.advance(connection)

    def close(self) -> None:
        """Close every connection, and let the workers end after the calls that they run."""
        for connection in list(self._connections):
            self._close(connection)
        self._workers.stop()
        self._prompt.close()
        while self._connections:  # replies that workers are just sending, which waits for no client
            time.sleep(_MOMENT_SECONDS)
            self.settle()

    def add(self, accepted: socket.socket, peer: str) -> None:
        """Hold a new connection, or turn it away when there are too many."""
        full = len(self._connections) - len(self._turned_away) >= self._limits.max_connections
        if full and len(self._turned_away) >= _TURNED_AWAY_AT_ONCE:
            accepted.close()
            return
        connection = Connection(accepted, Session(next(self._numbers), peer))
        self._connections.add(connection)
        CONNECTIONS.inc()
        self._note(len(self._connections))
        if full:
            self._turn_away(connection)
        else:
            self._idle.start(connection)
        self._watch(connection)

    def react(self, connection: Connection, events: int) -> bool:
        """Read or write what a socket is ready for. Whether `advance` must follow once `settle` was asked."""
        if connection.closed or connection.doomed:
            return False
        try:
            if events & READ and (data := connection.receive()) is not None:
                if connection.free and not connection.inbox and self._repeats(connection, data):
                    return connection.call is None
                connection.put(data)
            if events & WRITE and connection.outbox:
                self._sent(connection, connection.send((connection.outbox,)))
        except (OSError, MemoryError) as error:
            self._lose(connection, error)
        return True

    def settle(self) -> list[Connection]:
        """Take note of calls that were answered; their connections are to be advanced."""
        settled = []
        while self._ended_calls:
            call = self._ended_calls.popleft()
            self._settle(call)
            settled.append(call.connection)
        return settled

    @property
    def waits_with_others(self) -> bool:
        """Whether kept answers are about to be checked, and other clients might ask in this moment."""
        return self._prompt.about_to_ask and len(self._connections) > 1

    def ask(self) -> None:
        """Have kept answers checked that wait for it. To be called at the end of every turn."""
        self._prompt.ask()

    def advance(self, connection: Connection) -> None:
        """Take up requests that are whole, as far as possible, and watch for what is to come."""
        while connection.free and self._take_up(connection):
            pass
        if connection.lingering and connection.ended:
            self._close(connection)
        self._watch(connection)

    def expire(self, now: float) -> None:
        """End what has taken too long. Looked at now and then, however little may."""
        self._prompt.tell()
        for connection in self._calling.expired(now):
            self._end_call(connection)
        for connection in self._receiving.expired(now):
            sentence = f"a request must be whole after {self._limits.receive_seconds:g} seconds, found a part of one"
            self._reject(connection, ProtocolError(sentence))
        for connection in self._sending.expired(now):
            self._lose(connection, f"no byte of the reply taken in {self._limits.send_seconds:g} seconds")
        for connection in self._idle.expired(now):
            self._lose(connection, f"no request in {self._limits.idle_seconds:g} seconds")
        for each in (self._lingering, self._leaving):
            for connection in each.expired(now):
                self._close(connection)

    def _settle(self, call: Call) -> None:
        connection = call.connection
        connection.call = None
        self._calling.stop(connection)
        if call.error is not None:
            self._lose(connection, call.error)
        elif connection.doomed:
            self._close(connection)
        elif call.unsent or call.last:
            connection.last = call.last
            self._sent(connection, call.unsent)

    def _turn_away(self, connection: Connection) -> None:
        sentence = f"the server holds its limit of {self._limits.max_connections} connections; try again later"
        _log.warning("connection_refused", peer=connection.session.peer, reason=sentence)
        self._turned_away.add(connection)
        self._send(connection, (encode_refusal(None, Refusal.INTERNAL_ERROR, sentence),), last=True)

    def _repeats(self, connection: Connection, data: bytes) -> bool:
        """Whether the bytes are a whole request that was answered before, as most are; it is taken up then."""
        protocol = connection.protocol
        if protocol is None:
            return False
        repeated = protocol.repeated(data, connection.session)
        if repeated is not None:
            self._begin_call(connection, Call(connection, protocol, repeated.request), repeated)
        return repeated is not None

    def _take_up(self, connection: Connection) -> bool:
        """Hand the next request to a worker; whether there was one."""
        if self._draining and not connection.fresh:
            self._close(connection)
            return False
        try:
            request = self._next_request(connection)
        except ProtocolError as error:
            self._reject(connection, error)
            return False
        if request is not None:
            self._begin_call(connection, request)
        elif connection.ended:
            self._lose(connection, "closed by the client")
        elif connection.request_begun:
            self._idle.stop(connection)
            self._receiving.start(connection)
        else:
            self._idle.start(connection)
        return request is not None

    def _next_request(self, connection: Connection) -> Call | None:
        protocol = connection.protocol = connection.protocol or self._recognise(connection.inbox)
        if protocol is None or not connection.request_begun:
            return None
        request = protocol.take(connection.inbox)
        return None if request is None else Call(connection, protocol, request)

    def _begin_call(self, connection: Connection, call: Call, repeated: Repeated | None = None) -> None:
        """Answers a call, or has it answered; as it was before, where that is known already."""
        self._idle.stop(connection)
        self._receiving.stop(connection)
        self._leaving.stop(connection)
        connection.fresh = False
        connection.call = call
        self._calling.start(connection)
        self.answers_itself = self._prompt.take(call, repeated)
        if not self.answers_itself:
            self._hand_over(call)
        elif call.answered:
            self._settle(call)

    def _end(self, call: Call) -> None:
        """Takes note of a call that was answered in this thread after it waited. Most leave nothing else to do."""
        connection = call.connection
        if call.unsent or call.error or call.last or connection.awaits_selector or self._draining:
            self._ended_calls.append(call)
            return
        connection.call = None
        self._calling.stop(connection)
        self._idle.start(connection)

    def _leave(self, call: Call) -> None:
        """Has a worker answer a call that waited for a check, unless it was given up meanwhile."""
        connection = call.connection
        if connection.call is call:
            self.answers_itself = False
            self._hand_over(call)
            self.advance(connection)  # it may have been refused, and the next request wait

    def _hand_over(self, call: Call) -> None:
        """Has a worker answer."""
        if self._workers.submit(call):
            return
        sentence = f"the server is busy: {self._limits.max_waiting_calls} calls wait already; try again later"
        self._answer_instead(call.connection, call, sentence, last=False)

    def _end_call(self, connection: Connection) -> None:
        """Answers a call that takes too long, unless a worker is just answering it."""
        call = connection.call
        if call is not None and call.claim():
            sentence = f"the call was given up after {self._limits.call_seconds:g} seconds"
            self._answer_instead(connection, call, sentence, last=True)
            self._watch(connection)

    def _answer_instead(self, connection: Connection, call: Call, sentence: str, *, last: bool) -> None:
        connection.call = None
        self._calling.stop(connection)
        reply = call.protocol.wrap(call.protocol.refuse(call.request, connection.session, sentence))
        self._send(connection, reply, last=last or call.protocol.ends)

    def _work(self, call: Call) -> None:
        """In a worker's thread: run a call and send its reply."""
        if not call.run():
            return
        # Noted first and looked at second, while the selector's thread reads first and looks for notes second: so one
        # of the two sees that a request waits.
        self._ended_calls.append(call)
        if call.unsent or call.error or call.last or call.connection.awaits_selector or self._draining:
            self._wake()

    def _reject(self, connection: Connection, error: ProtocolError) -> None:
        """Answers bytes that become no request, and closes."""
        session = connection.session
        _log.warning("request_rejected", connection=session.connection_id, peer=session.peer, reason=str(error))
        reply = connection.protocol.reject(error) if connection.protocol else ()
        self._send(connection, reply, last=True)
        self._watch(connection)

    def _send(self, connection: Connection, data: Pieces, *, last: bool) -> None:
        connection.last = last
        if last:
            connection.inbox.clear()
        try:
            self._sent(connection, connection.send(data))
        except OSError as error:
            self._lose(connection, error)

    def _sent(self, connection: Connection, rest: memoryview) -> None:
        """Takes note of what is still to be sent."""
        connection.outbox = rest
        if rest:
            self._sending.restart(connection)
            return
        self._sending.stop(connection)
        if connection.last:
            self._linger(connection)

    def _linger(self, connection: Connection) -> None:
        """Lets the client read its last reply before the end: closing over unread bytes would reset the connection."""
        connection.lingering = True
        self._receiving.stop(connection)
        self._idle.stop(connection)
        self._lingering.start(connection)
        with contextlib.suppress(OSError):
            connection.socket.shutdown(socket.SHUT_WR)

    def _lose(self, connection: Connection, reason: object) -> None:
        session = connection.session
        _log.debug("connection_ended", connection=session.connection_id, peer=session.peer, reason=str(reason))
        self._close(connection)

    def _close(self, connection: Connection) -> None:
        if connection.closed:
            return
        self._watch(connection, 0)
        for deadlines in self._deadlines:
            deadlines.stop(connection)
        if connection.call is not None and not connection.call.claim():
            connection.doomed = True  # a worker is writing to the socket; it is closed when the call is settled
            return
        connection.closed = True
        connection.socket.close()
        self._connections.discard(connection)
        self._turned_away.discard(connection)
        CONNECTIONS.dec()
        self._note(len(self._connections))

    def _watch(self, connection: Connection, wanted: int | None = None) -> None:
        """Has the selector watch for what the connection wants."""
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
