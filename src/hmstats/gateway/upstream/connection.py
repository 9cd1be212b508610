"""One connection to the upstream, which belongs to one user: a metastore takes a connection's user only once."""

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
"""The first byte of a message in strict form; older clients begin with the name of the method."""
_SET_UGI = "set_ugi"
_MISSING = (
    hive_metastore.NoSuchObjectException,
    hive_metastore.UnknownTableException,
    hive_metastore.UnknownDBException,
)


@dataclass(frozen=True, slots=True)
class User:
    """The user and the groups that a client has named by set_ugi or has proven; None if none was named."""

    name: str | None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """Time limits of the connection, in seconds."""

    connect_seconds: float = 5.0
    answer_seconds: float = 660.0
    """For the first byte of an answer, and for each further part."""
    idle_seconds: float = 60.0
    """How long a connection may be idle in the pool."""
    hanging_seconds: float = 20.0
    """After how long without any answer an address gets no more calls."""


class UpstreamConnection:
    """An open connection, for one call at a time. Not thread-safe."""

    def __init__(
        self,
        address: Address,
        user: User,
        times: Times,
        tls: ssl.SSLContext | None = None,
        most_held_bytes: int = MOST_HELD_BYTES,
        proof: Mechanism | None = None,
    ) -> None:
        """Connect, start TLS if there is a context, and prove the user, or only send the user's name if there is one.

        At most `most_held_bytes` of an answer that is not passed on in parts are held.

        Raises OSError, Unanswered, UpstreamUnavailable, UpstreamClosed; with a proof CallRefused and SettingsError.
        """
        self.address = address
        self.user = user
        self.idle_since = 0.0
        self._is_open = True
        self.in_step = True
        """Whether the last answer belonged to its call, so that another call can be made."""
        self.is_clean = True
        """Whether another client may use the connection.

        Hive leaves bytes of a request that it cannot read, and reads them as the next request. A failed call may leave
        a transaction open in the store of the connection's thread, which would then contain the next call's changes.
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
        """The value of one of the gateway's own calls. Raises CallRefused, and as `ask` does."""
        return value_of(method, self.ask(request_of(method, *arguments), WholeAnswer()))

    def ask(self, request: Request, stream: Stream) -> Relayed:
        """The answer to a call. Afterwards `in_step` and `is_clean` tell how the connection may be used.

        Raises Unanswered, UpstreamUnavailable, UpstreamClosed, ClientGone, MetaError; the connection must be closed
        then.
        """
        self.in_step = self.is_clean = False
        self._send(_to_strict_form(request), request.head)
        if request.head.oneway:
            return Relayed(())  # the upstream may still answer
        return self.wait_for(self._answer_to(request.head), stream)

    def wait_for(self, answer: ArrivingAnswer, stream: Stream) -> Relayed:
        """Wait for the rest of an answer. Raises as `ask` does."""
        self._set_timeout(LOOK_SECONDS)
        try:
            relayed = answer.relay(stream)
        finally:
            self._count(answer)
        return self._note_answer(answer, relayed)

    def send_at_once(self, request: Request) -> ArrivingAnswer:
        """Send a small call without waiting, over a socket without SASL. Returns the answer to come.

        Raises Unanswered if the call was not sent; the connection must be closed then.
        """
        self.in_step = self.is_clean = False
        message = b"".join(_to_strict_form(request))
        plain = self.plain_socket()
        assert plain is not None
        self._set_timeout(0.0)
        answer = self._answer_to(request.head)  # the call's time begins before it is sent
        try:
            sent = plain.send(message)
        except OSError as error:
            raise self._not_taken_error(request.head, error) from error
        if sent != len(message):
            raise Unanswered(f"{self.address} did not take {request.head.name} at once")
        return answer

    def take(self, answer: ArrivingAnswer) -> Relayed | None:
        """The answer to a call of `send_at_once`, if all of it has come. Raises Unanswered, UpstreamClosed."""
        try:
            relayed = answer.take()
        except BaseException:
            self._count(answer)
            raise
        if relayed is None:
            return None
        self._count(answer)
        return self._note_answer(answer, relayed)

    @property
    def idle_seconds(self) -> float:
        """How long the connection may be idle."""
        return self._times.idle_seconds

    @property
    def is_quiet(self) -> bool:
        """Whether no bytes have come between two calls; the end of the connection counts as bytes."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0) and not (isinstance(self._socket, SaslSocket) and self._socket.has_more)

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._socket.fileno()

    def plain_socket(self) -> socket.socket | None:
        """The socket, if the bytes on it are the messages; None with SASL."""
        return None if isinstance(self._socket, SaslSocket) else self._socket

    def rest(self) -> None:
        """Record that the connection starts to wait for the next call."""
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
            raise self._not_taken_error(head, error) from error

    def _set_timeout(self, seconds: float) -> None:
        """Set the timeout of the socket if it differs, since each change is a system call."""
        if self._socket.gettimeout() != seconds:
            self._socket.settimeout(seconds)

    def _answer_to(self, head: Head) -> ArrivingAnswer:
        return ArrivingAnswer(self._socket, self.address, head, self._times.answer_seconds, self._most_held_bytes)

    def _note_answer(self, answer: ArrivingAnswer, relayed: Relayed) -> Relayed:
        """Update the state of the connection after a whole answer, and return the answer."""
        self.in_step = answer.in_step
        self.is_clean = answer.in_step and (not relayed.refused or _leaves_nothing(answer))
        return relayed

    def _count(self, answer: ArrivingAnswer) -> None:
        self._answered_bytes.inc(answer.received_bytes)
        self._seconds.observe(time.perf_counter() - answer.began_seconds)

    def _not_taken_error(self, head: Head, error: OSError) -> Unanswered:
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
    """Whether a failed call leaves nothing on the connection: the call is unknown, or its object does not exist."""
    if answer.fault is not None:
        return answer.fault == Refusal.UNKNOWN_METHOD
    if answer.name not in READS or answer.exception_field is None:
        return False
    spec = methods()[answer.name].result.thrift_spec.get(answer.exception_field)
    return spec is not None and spec[2] in _MISSING


def _to_strict_form(request: Request) -> Sequence[bytes | memoryview]:
    """A request in strict form, which every metastore reads."""
    if request.message[0] == _STRICT:
        return (request.message,)
    head = request.head
    return encode_head(head.name, head.kind, head.sequence), memoryview(request.message)[head.body_at :]
