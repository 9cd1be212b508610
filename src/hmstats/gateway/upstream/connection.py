"""One connection to the upstream, of one user for its life: a metastore takes the user of a connection once."""

import select
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hmstats.client.connection.address import Address
from hmstats.client.connection.sasl_transport import Mechanism
from hmstats.errors import UpstreamUnavailable, UserRefused
from hmstats.gateway.upstream.arriving import (
    LOOK_SECONDS,
    MOST_HELD_BYTES,
    SMALL_BYTES,
    ArrivingAnswer,
    Unanswered,
)
from hmstats.gateway.upstream.calling import WholeAnswer, request_of, value_of
from hmstats.gateway.upstream.metrics import ANSWERED_BYTES, CONNECTIONS, SECONDS
from hmstats.gateway.upstream.sasl_socket import SaslSocket
from hmstats.server.calls.call_kinds import READS
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.wire.idl import hive_metastore, methods
from hmstats.wire.messages.envelope import Head, Refusal, encode_head

_STRICT = 0x80
"""The first byte of a message in strict form; older clients send the method's name first."""
_SET_UGI = "set_ugi"
_MISSING = (
    hive_metastore.NoSuchObjectException,
    hive_metastore.UnknownTableException,
    hive_metastore.UnknownDBException,
)


@dataclass(frozen=True, slots=True)
class User:
    """The user and the groups that a client has named by set_ugi or has proven; None if it has named nobody."""

    name: str | None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """How long the upstream is waited for, in seconds."""

    connect_seconds: float = 5.0
    answer_seconds: float = 660.0
    """Until the first byte of an answer, and between two parts of it."""
    idle_seconds: float = 60.0
    """How long a connection waits in the pool for a call."""
    hanging_seconds: float = 20.0
    """How long an address may answer nothing until no call is sent there."""


class UpstreamConnection:
    """An open connection that has one call at a time. Not thread-safe."""

    def __init__(
        self,
        address: Address,
        user: User,
        times: Times,
        tls: ssl.SSLContext | None = None,
        most_held_bytes: int = MOST_HELD_BYTES,
        proof: Mechanism | None = None,
    ) -> None:
        """Connect, encrypt if there is a context, and prove the user, or say its name if there is one.

        `most_held_bytes` may be held of an answer that is not passed on in parts.

        Raises OSError, Unanswered, UpstreamUnavailable, UpstreamClosed; with a proof CallRefused and SettingsError.
        """
        self.address = address
        self.user = user
        self.idle_since = 0.0
        self._is_open = True
        self.in_step = True
        """Whether the last answer was the one to its call, so that another call can be made."""
        self.is_clean = True
        """Whether another client may have the connection.

        Of a request that it cannot read, a Hive leaves bytes to be read as the next one. A call that failed may leave a
        transaction open in the store of the connection's thread, in which it then makes the next call's changes.
        """
        self._times = times
        self._most_held_bytes = most_held_bytes
        self._answered_bytes = ANSWERED_BYTES.labels(str(address))
        self._seconds = SECONDS.labels(str(address))
        opened = socket.create_connection((address.host, address.port), times.connect_seconds)
        self._socket: socket.socket | SaslSocket = opened
        CONNECTIONS.labels(str(address)).inc()
        try:
            if tls is not None:
                self._socket = opened = tls.wrap_socket(opened, server_hostname=address.host)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if proof is not None:
                self._socket = self._prove_user(opened, proof, over_tls=tls is not None)
            elif user.name is not None:
                self._name_user()
        except BaseException:
            self.close()
            raise

    def call(self, method: str, *arguments: Any) -> Any:
        """The value of a call of the gateway's own. Raises CallRefused, and as `ask`."""
        return value_of(method, self.ask(request_of(method, *arguments), WholeAnswer()))

    def ask(self, request: Request, stream: Stream) -> Relayed:
        """The answer to a call. `in_step` and `is_clean` tell of the connection afterwards.

        Raises Unanswered, UpstreamUnavailable, UpstreamClosed, ClientGone, MetaError; the connection must be closed
        then.
        """
        self.in_step = self.is_clean = False
        self._send(_strict(request), request.head)
        if request.head.oneway:
            return Relayed(())  # the upstream may answer nevertheless
        return self.wait_for(self._answer_to(request.head), stream)

    def wait_for(self, answer: ArrivingAnswer, stream: Stream) -> Relayed:
        """The rest of an answer, which is waited for. Raises as `ask` does."""
        self._set_timeout(LOOK_SECONDS)
        try:
            relayed = answer.relay(stream)
        finally:
            self._count(answer)
        return self._noted(answer, relayed)

    def send_at_once(self, request: Request) -> ArrivingAnswer:
        """The answer to come to a small call, over a socket that is not SASL's. Does not wait.

        Raises Unanswered if the call was not sent; the connection must be closed then.
        """
        self.in_step = self.is_clean = False
        message = b"".join(_strict(request))
        plain = self.plain_socket()
        assert plain is not None
        self._set_timeout(0.0)
        answer = self._answer_to(request.head)  # its time begins before the call is on its way
        try:
            sent = plain.send(message)
        except OSError as error:
            raise self._untaken(request.head, error) from error
        if sent != len(message):
            raise Unanswered(f"{self.address} did not take {request.head.name} at once")
        return answer

    def take(self, answer: ArrivingAnswer) -> Relayed | None:
        """The answer to a call that was sent at once, if all of it has come. Raises Unanswered, UpstreamClosed."""
        try:
            relayed = answer.take()
        except BaseException:
            self._count(answer)
            raise
        if relayed is None:
            return None
        self._count(answer)
        return self._noted(answer, relayed)

    @property
    def idle_seconds(self) -> float:
        """How long the connection may wait for a call."""
        return self._times.idle_seconds

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come between two calls; the end of the connection would."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0) and not (isinstance(self._socket, SaslSocket) and self._socket.has_more)

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._socket.fileno()

    def plain_socket(self) -> socket.socket | None:
        """The socket, if the bytes on it are the messages; None behind SASL."""
        return None if isinstance(self._socket, SaslSocket) else self._socket

    def rest(self) -> None:
        """Note that the connection begins to wait for the next call."""
        self.idle_since = time.monotonic()

    def close(self) -> None:
        """Close the socket."""
        if self._is_open:
            self._is_open = False
            self._socket.close()
            CONNECTIONS.labels(str(self.address)).dec()

    def _send(self, message: Sequence[bytes | memoryview], head: Head) -> None:
        is_small = sum(map(len, message)) <= SMALL_BYTES  # a socket takes it at once
        try:
            self._set_timeout(LOOK_SECONDS if is_small else self._times.answer_seconds)
            for piece in message:
                self._socket.sendall(piece)
        except OSError as error:
            raise self._untaken(head, error) from error

    def _set_timeout(self, seconds: float) -> None:
        """Set the timeout of the socket; each change is a call to the system."""
        if self._socket.gettimeout() != seconds:
            self._socket.settimeout(seconds)

    def _answer_to(self, head: Head) -> ArrivingAnswer:
        return ArrivingAnswer(self._socket, self.address, head, self._times.answer_seconds, self._most_held_bytes)

    def _noted(self, answer: ArrivingAnswer, relayed: Relayed) -> Relayed:
        """A whole answer, after it is noted what may become of the connection."""
        self.in_step = answer.in_step
        self.is_clean = answer.in_step and (not relayed.refused or _leaves_nothing(answer))
        return relayed

    def _count(self, answer: ArrivingAnswer) -> None:
        self._answered_bytes.inc(answer.received_bytes)
        self._seconds.observe(time.perf_counter() - answer.began_seconds)

    def _untaken(self, head: Head, error: OSError) -> Unanswered:
        return Unanswered(f"{self.address} did not take {head.name}: {error.strerror or error}")

    def _prove_user(self, opened: socket.socket, proof: Mechanism, *, over_tls: bool) -> SaslSocket:
        try:
            return SaslSocket(opened, proof, over_tls=over_tls)
        except EOFError as error:
            raise UpstreamUnavailable(f"{self.address} ends the proof of the user: it may not want one") from error

    def _name_user(self) -> None:
        answer = self.ask(request_of(_SET_UGI, self.user.name, list(self.user.groups)), WholeAnswer())
        if answer.refused:
            raise UserRefused(f"{self.address} refuses the user {self.user.name}")


def _leaves_nothing(answer: ArrivingAnswer) -> bool:
    """Whether a call that failed leaves nothing on the connection: it is unknown, or asks for what does not exist."""
    if answer.fault is not None:
        return answer.fault == Refusal.UNKNOWN_METHOD
    if answer.name not in READS or answer.exception_field is None:
        return False
    spec = methods()[answer.name].result.thrift_spec.get(answer.exception_field)
    return spec is not None and spec[2] in _MISSING


def _strict(request: Request) -> Sequence[bytes | memoryview]:
    """A request in the form that every metastore reads."""
    if request.message[0] == _STRICT:
        return (request.message,)
    head = request.head
    return encode_head(head.name, head.kind, head.sequence), memoryview(request.message)[head.body_at :]
