"""Has the upstream answer the calls that are not answered here.

A call that may have been carried out is never sent twice. So only a read is sent again, and only if a connection that
had waited in the pool was closed before any byte of its answer. All else that breaks ends the client's connection, as
the client would see it without a gateway; what could not be sent at all is an error that names the upstream.
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
"""So many calls may be under way for one to be sent at once: among more of them threads are no slower."""


class UpstreamRelay:
    """Relays calls to one metastore, which may have several addresses. Thread-safe.

    Some of the `connections` are for calls that are sent at once, the others for as many threads. Half as many more may
    belong to clients that have set something on theirs. `tls` encrypts the connections to addresses
    thrift+tls. `most_held_bytes` may be held of an answer that is not passed on in parts. `principal` is the upstream's
    in Kerberos, behind which nothing is sent at once.
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
        """Connections that are one client's alone, by the number of the client's connection."""
        self._most_bound = max(1, connections // 2)
        self._lock = threading.Lock()

    def takes(self, name: str) -> bool:
        """Whether a call is relayed: all but those that are answered here."""
        return name not in ANSWERED_HERE

    def answer(self, request: Request, session: Session, stream: Stream, _: Here | None = None) -> Relayed:
        """The upstream's answer to a call.

        Raises UpstreamUnavailable if it cannot be reached or takes too long, MetaError if the call is refused;
        UpstreamClosed if it breaks off, ClientGone.
        """
        user = User(session.user, session.groups)
        bound = self._bound.get(session.connection_id)
        if bound is not None:
            return self._asked_bound(bound, request, session, user, stream)
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
                return self._answered(opened, request, stream)
        raise self._upstreams.unavailable()

    def send_at_once(self, request: Request, session: Session) -> SentCall | None:
        """Send a small read over a connection that waits for a call, or return None: a thread is to relay it then.

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
        except Unanswered:  # a thread then sends it over another one
            self._pool.drop(connection)
            return None
        return SentCall(connection, answer, self._release, partial(self._ask_again, address, request, session))

    def log_line(self) -> LogLine | None:
        """A new line to the first address that answers; None if its connections are behind SASL.

        Raises UpstreamUnavailable.
        """
        for address in self._upstreams.usable():
            try:
                return LogLine.over(self._connecting(address, User(None)))
            except (OSError, Unanswered, UpstreamClosed) as error:
                raise UpstreamUnavailable(f"{address} takes no line to its log: {error}") from error
        raise self._upstreams.unavailable()

    def is_bound(self, session: Session) -> bool:
        """Whether a client has a connection of its own, on which it has set something."""
        return session.connection_id in self._bound

    def leave(self, session: Session) -> None:
        """Close the connection that was a client's alone; one that is in use is closed after its call."""
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
        """What is to be done from time to time."""
        return [
            Chore("upstream", self._pool.close_idle, _TENDED_SECONDS, at_once=True),
            Chore("upstream_probe", self.probe, PROBED_SECONDS, at_once=True),
        ]

    def probe(self) -> None:
        """Find out which addresses answer."""
        self._probing.run()

    @property
    def is_hanging(self) -> bool:
        """Whether calls are refused at once, since the upstream takes connections and answers nothing."""
        return self._upstreams.is_hanging

    def close(self) -> None:
        """Close all connections that wait for a call, and the others after it."""
        self._pool.close()

    @property
    def waiting(self) -> int:
        """How many connections wait for a call."""
        return self._pool.waiting

    def _ask_again(
        self, address: Address, request: Request, session: Session, error: Unanswered, stream: Stream
    ) -> Relayed:
        """The answer to a read whose connection was closed before any byte of it. Raises as `answer` does."""
        _note_again(address, request, error)
        return self.answer(request, session, stream)

    def _open(self, address: Address, user: User) -> UpstreamConnection | None:
        """A new connection; None if the address does not take one. Raises UpstreamUnavailable."""
        try:
            opened = self._pool.open(address, user)
        except OSError as error:
            self._upstreams.failed(address, error.strerror or str(error))
        except (Unanswered, UpstreamClosed) as error:  # for this user perhaps, so that others still try the address
            _log.warning("upstream_took_no_user", address=str(address), user=user.name, reason=str(error))
            self._upstreams.note(address, str(error))
        else:
            CONNECTS.labels(str(address), "done").inc()
            self._upstreams.reached(address)
            return opened
        CONNECTS.labels(str(address), "failed").inc()
        return None

    def _answered(self, connection: UpstreamConnection, request: Request, stream: Stream) -> Relayed:
        """The answer over a new connection."""
        try:
            return self._ask_and_release(connection, request, stream)
        except Unanswered as error:
            raise UpstreamClosed(str(error)) from error

    def _ask_and_release(self, connection: UpstreamConnection, request: Request, stream: Stream) -> Relayed:
        """The answer; afterwards the connection waits in the pool, or is closed."""
        try:
            answer = connection.ask(request, stream)
        except BaseException:
            self._pool.drop(connection)
            raise
        self._release(connection)
        return answer

    def _release(self, connection: UpstreamConnection) -> None:
        """Let a connection wait in the pool for the next call, or close it if it must not have one."""
        if connection.in_step:
            self._upstreams.answered(connection.address)
        if connection.is_clean:
            self._pool.give_back(connection)
        else:
            self._pool.drop(connection)

    def _bind(self, request: Request, session: Session, user: User, stream: Stream) -> Relayed:
        """The answer over a new connection, which is the client's alone from now on."""
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
                answer = self._asked_bound(bound, request, session, user, stream)
                if stream.abandoned:
                    self.leave(session)
                return answer
        raise self._upstreams.unavailable()

    def _asked_bound(self, bound: "_Bound", request: Request, session: Session, user: User, stream: Stream) -> Relayed:
        """The answer over a client's own connection. If it breaks, the client's ends: what was set is lost with it."""
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
    """A connection that is one client's alone."""

    def __init__(self, connection: UpstreamConnection) -> None:
        self.connection = connection
        self.in_use = False
        self.left = False
        """Whether the client has gone."""
