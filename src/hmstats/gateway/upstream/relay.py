"""Relays the calls that are not answered here to the upstream.

A call that may have been carried out is never sent twice. So only a read is sent again, and only if a pooled connection
was closed before the first byte of the answer. Any other break ends the client's connection, as it would without a
gateway. A call that could not be sent at all is answered with an error that names the upstream.
"""

import ssl
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog

from hmstats.client.connection.address import Address
from hmstats.errors import MetaError, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.upstream.arriving import MOST_HELD_BYTES, SMALL_BYTES, Unanswered
from hmstats.gateway.upstream.calls import ANSWERED_HERE, BINDS, SENT_TWICE
from hmstats.gateway.upstream.connecting import Connecting
from hmstats.gateway.upstream.connection import Times, UpstreamConnection, User
from hmstats.gateway.upstream.log_line import LogLine
from hmstats.gateway.upstream.metrics import CONNECTS, SENT_AGAIN
from hmstats.gateway.upstream.pool import Pool
from hmstats.gateway.upstream.probing import PROBED_SECONDS, Probing
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.gateway.upstream.upstreams import Upstreams
from hmstats.server.calls.relaying import Here, Relayed, Stream
from hmstats.server.chores import Chore
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session

_log = structlog.get_logger("hmstats.gateway")

_TENDED_SECONDS = 10.0
_AT_ONCE = 4
"""With more calls under way than this, small reads go to threads, which are no slower then."""


class UpstreamRelay:
    """Relays calls to one metastore, which may have several addresses. Thread-safe.

    Some of the `connections` are for calls without a thread, the others for as many threads. Half as many more may
    belong to clients that have changed settings of theirs. `tls` encrypts the connections to addresses thrift+tls. At
    most `most_held_bytes` of an answer that is not passed on in parts are held. `principal` is the upstream's in
    Kerberos, with which every call needs a thread.
    """

    has_own_tables = False
    prompt = None

    def __init__(
        self,
        addresses: Sequence[Address],
        connections: int,
        times: Times,
        tls: ssl.SSLContext | None = None,
        most_held_bytes: int = MOST_HELD_BYTES,
        *,
        principal: str | None = None,
    ) -> None:
        self._at_once = min(_AT_ONCE, connections // 4) if principal is None else 0
        self.connections = connections
        self.threads = connections - self._at_once
        self._upstreams = Upstreams(addresses)
        self._connecting = Connecting(times, tls, principal, most_held_bytes)
        self._pool = Pool(self._connecting, connections, times.idle_seconds)
        probed = replace(times, answer_seconds=times.hanging_seconds)
        probes = Connecting(probed, tls, principal, most_held_bytes)
        self._probing = Probing(self._upstreams, probes, times.hanging_seconds)
        self._bound: dict[int, _Bound] = {}
        """Connections that belong to one client alone, by the id of the client's connection."""
        self._most_bound = max(1, connections // 2)
        self._lock = threading.Lock()

    def takes(self, name: str) -> bool:
        """Whether a call is relayed: true for all that are not answered here."""
        return name not in ANSWERED_HERE

    def answer(self, request: Request, session: Session, stream: Stream, _: Here | None = None) -> Relayed:
        """The upstream's answer to a call.

        Raises UpstreamUnavailable if it cannot be reached or takes too long, MetaError if the call is refused;
        UpstreamClosed if it breaks off, ClientGone.
        """
        user = User(session.user, session.groups)
        bound = self._bound.get(session.connection_id)
        if bound is not None:
            return self._ask_bound(bound, request, session, user, stream)
        if request.head.name == BINDS:
            return self._bind(request, session, user, stream)
        for address in self._upstreams.usable():
            waiting = self._pool.idle(address, user)
            if waiting is not None:
                try:
                    return self._ask_and_release(waiting, request, stream)
                except Unanswered as error:
                    if request.head.name not in SENT_TWICE:
                        raise UpstreamClosed(str(error)) from error
                    _note_again(address, request, error)
            opened = self._open(address, user)
            if opened is not None:
                return self._ask_once(opened, request, stream)
        raise self._upstreams.unavailable()

    def send_at_once(self, request: Request, session: Session) -> SentCall | None:
        """Send a small read over an idle connection; None if a thread must relay it instead.

        Does not wait.
        """
        head = request.head
        if head.name not in SENT_TWICE or head.oneway or len(request.message) > SMALL_BYTES:
            return None
        address = self._upstreams.preferred
        if address is None or session.connection_id in self._bound or self._pool.in_use >= self._at_once:
            return None
        connection = self._pool.idle(address, User(session.user, session.groups))
        if connection is None:
            return None
        try:
            answer = connection.send_at_once(request)
        except Unanswered:  # a thread then sends it over another connection
            self._pool.drop(connection)
            return None
        return SentCall(connection, answer, self._release, partial(self._ask_again, address, request, session))

    def log_line(self) -> LogLine | None:
        """Open a line to the first address that answers; None if the upstream's connections use SASL.

        Raises UpstreamUnavailable.
        """
        for address in self._upstreams.usable():
            try:
                return LogLine.over(self._connecting(address, User(None)))
            except (OSError, Unanswered, UpstreamClosed) as error:
                raise UpstreamUnavailable(f"{address} takes no line to its log: {error}") from error
        raise self._upstreams.unavailable()

    def is_bound(self, session: Session) -> bool:
        """Whether a client has a connection of its own, whose settings it has changed."""
        return session.connection_id in self._bound

    def leave(self, session: Session) -> None:
        """Close the connection that belongs to a client alone; if it is in use, after its call."""
        with self._lock:
            bound = self._bound.pop(session.connection_id, None)
            if bound is None:
                return
            bound.left = True
            in_use = bound.in_use
        if not in_use:
            bound.connection.close()

    @property
    def chores(self) -> Sequence[Chore]:
        """The functions to be run from time to time."""
        return [
            Chore("upstream", self._pool.close_idle, _TENDED_SECONDS, at_once=True),
            Chore("upstream_probe", self.probe, PROBED_SECONDS, at_once=True),
        ]

    def probe(self) -> None:
        """Find out which addresses answer."""
        self._probing.run()

    @property
    def is_hanging(self) -> bool:
        """Whether calls are refused at once, since the upstream accepts connections but does not answer."""
        return self._upstreams.is_hanging

    def close(self) -> None:
        """Close all idle connections, and the others after their call."""
        self._pool.close()

    @property
    def waiting(self) -> int:
        """The number of idle connections."""
        return self._pool.waiting

    def _ask_again(
        self, address: Address, request: Request, session: Session, error: Unanswered, stream: Stream
    ) -> Relayed:
        """Repeat a read whose connection was closed before the first byte of the answer. Raises as `answer` does."""
        _note_again(address, request, error)
        return self.answer(request, session, stream)

    def _open(self, address: Address, user: User) -> UpstreamConnection | None:
        """A new connection; None if the address accepts none. Raises UpstreamUnavailable."""
        try:
            opened = self._pool.open(address, user)
        except OSError as error:
            self._upstreams.failed(address, error.strerror or str(error))
        except (Unanswered, UpstreamClosed) as error:  # perhaps only for this user: others may still try the address
            _log.warning("upstream_took_no_user", address=str(address), user=user.name, reason=str(error))
            self._upstreams.note(address, str(error))
        else:
            CONNECTS.labels(str(address), "done").inc()
            self._upstreams.reached(address)
            return opened
        CONNECTS.labels(str(address), "failed").inc()
        return None

    def _ask_once(self, connection: UpstreamConnection, request: Request, stream: Stream) -> Relayed:
        """The answer over a new connection, which is not asked for twice."""
        try:
            return self._ask_and_release(connection, request, stream)
        except Unanswered as error:
            raise UpstreamClosed(str(error)) from error

    def _ask_and_release(self, connection: UpstreamConnection, request: Request, stream: Stream) -> Relayed:
        """The answer; afterwards the connection is kept for the next call, or closed."""
        try:
            answer = connection.ask(request, stream)
        except BaseException:
            self._pool.drop(connection)
            raise
        self._release(connection)
        return answer

    def _release(self, connection: UpstreamConnection) -> None:
        """Keep a connection for the next call, or close it if it cannot be used again."""
        if connection.in_step:
            self._upstreams.answered(connection.address)
        if connection.is_clean:
            self._pool.give_back(connection)
        else:
            self._pool.drop(connection)

    def _bind(self, request: Request, session: Session, user: User, stream: Stream) -> Relayed:
        """The answer over a new connection, which from now on belongs to the client alone."""
        with self._lock:
            if len(self._bound) >= self._most_bound:
                raise MetaError(
                    f"{BINDS} is refused: {self._most_bound} clients of this gateway have set something of their "
                    "connection already; try again later"
                )
        for address in self._upstreams.usable():
            opened = self._open(address, user)
            if opened is not None:
                self._pool.let_go()
                bound = self._bound[session.connection_id] = _Bound(opened)
                answer = self._ask_bound(bound, request, session, user, stream)
                if stream.abandoned:
                    self.leave(session)
                return answer
        raise self._upstreams.unavailable()

    def _ask_bound(self, bound: "_Bound", request: Request, session: Session, user: User, stream: Stream) -> Relayed:
        """The answer over a client's own connection. If that breaks, the client's ends too: its settings are lost."""
        if bound.connection.user != user:
            raise MetaError(f"{request.head.name} is refused: the user must not change after {BINDS}")
        with self._lock:
            bound.in_use = True
        try:
            answer = bound.connection.ask(request, stream)
        except (Unanswered, UpstreamUnavailable) as error:
            raise UpstreamClosed(str(error)) from error
        finally:
            self._end_use(bound, session)
        self._upstreams.answered(bound.connection.address)
        return answer

    def _end_use(self, bound: "_Bound", session: Session) -> None:
        with self._lock:
            bound.in_use = False
            ended = bound.left or not bound.connection.in_step
            if ended:
                self._bound.pop(session.connection_id, None)
        if ended:
            bound.connection.close()


def _note_again(address: Address, request: Request, error: Unanswered) -> None:
    SENT_AGAIN.labels(str(address)).inc()
    _log.info("sent_again", method=request.head.name, reason=str(error))


class _Bound:
    """A connection that belongs to one client alone."""

    def __init__(self, connection: UpstreamConnection) -> None:
        self.connection = connection
        self.in_use = False
        self.left = False
        """Whether the client has gone."""
