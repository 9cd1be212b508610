"""Receives an answer from the upstream: passes it on as it comes, and finds its end.

The answer is scanned as requests are, so that sizes and counts in it are not trusted before their bytes have come. Only
the head is decoded, and whether the result is a value or an exception. Values are passed on in parts to clients whose
protocol accepts parts. For other clients they are held until they are whole, as exceptions always are.

`relay` waits in a thread of its own for the whole answer. `take`, for the selector's thread, takes what has come and
leaves a long answer to a thread, which continues from there.
"""

import socket
import ssl
import time
from collections.abc import Generator

from hmstats.client.connection.address import Address
from hmstats.errors import ClientGone, MetaError, ProtocolError, UpstreamClosed, UpstreamSilent
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.sasl_socket import SaslSocket
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.wire.messages.envelope import EXCEPTION, REPLY, Head, read_answer_head
from hmstats.wire.messages.scanner import passing

LOOK_SECONDS = 1.0
"""The timeout of the socket: how often a thread that waits for the upstream checks that its client still waits."""
MOST_HELD_BYTES = 256 * 1024 * 1024
"""The default of upstream_answer_bytes."""

SMALL_BYTES = 16 * 1024
"""The most bytes of a message that the selector's thread sends or takes."""
NOT_YET = (BlockingIOError, ssl.SSLWantReadError)
"""The errors of a non-blocking socket that has nothing to read."""

_PART_BYTES = 64 * 1024
"""A longer reply is passed on in parts; each part, or the rest of the reply, must come within the time limit."""
_STOP, _I32 = 0, 8
_SUCCESS = 0
"""The field id of a result's value; all other fields are exceptions."""
_FAULT_TYPE = 2
"""The field id of a TApplicationException's type."""


class Unanswered(Exception):
    """The upstream closed the connection before the first byte of its answer."""


class ArrivingAnswer:
    """The answer to one call on one connection.

    `seconds` limits the wait for the first byte, and for each part after that. At most `most_held_bytes` of an answer
    that is not passed on in parts are held.
    """

    def __init__(
        self,
        sock: socket.socket | SaslSocket,
        address: Address,
        head: Head,
        seconds: float,
        most_held_bytes: int = MOST_HELD_BYTES,
    ) -> None:
        self.in_step = True
        """Whether the answer has its call's name and sequence id, without which the connection cannot be used again."""
        self._socket = sock
        self._address = address
        self._head = head
        self.name = head.name
        self._stream: Stream = WholeAnswer()
        self._seconds = seconds
        self.began_seconds = time.perf_counter()
        """When the call was sent."""
        self._until = time.monotonic() + seconds
        self._most_held_bytes = most_held_bytes
        self._window = bytearray()
        """Received bytes that are still being scanned."""
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._part_bytes = 0
        """The number of bytes received since the time limit was set."""
        self.received_bytes = 0
        self.fault: int | None = None
        """The type of the TApplicationException that was answered; None for other answers."""
        self.exception_field: int | None = None
        """The field id of the result's exception; None if there is none."""
        self._is_value = False
        self._is_passed_on = False
        self._reading = self._read()

    def relay(self, stream: Stream) -> Relayed:
        """Wait for the answer, and pass parts of it on if possible. The socket has the timeout LOOK_SECONDS.

        Raises Unanswered, UpstreamSilent, UpstreamClosed, ClientGone, MetaError.
        """
        self._stream = stream
        while (refused := self._look_for_end()) is None:
            self._receive(self._next())
        return Relayed(self._held, refused)

    def take(self) -> Relayed | None:
        """The answer if all of it has come on a non-blocking socket; None if not, or if it is long.

        Raises Unanswered, UpstreamClosed.
        """
        while (refused := self._look_for_end()) is None:
            if self.is_long:
                return None
            try:
                data = self._socket.recv(SMALL_BYTES)
            except NOT_YET:
                return None
            except OSError as error:
                raise self._broken(error.strerror or str(error)) from error
            if not data:
                raise self._closed()
            self._receive(data)
        return Relayed(self._held, refused)

    @property
    def is_long(self) -> bool:
        """Whether so many bytes have come that `take` leaves the rest to `relay`."""
        return self.received_bytes > SMALL_BYTES

    def _look_for_end(self) -> bool | None:
        """Whether the answer is an exception; None until the answer is whole. Raises UpstreamClosed."""
        try:
            next(self._reading)
        except StopIteration as end:
            refused: bool = end.value
            return refused
        except ProtocolError as error:
            raise self._no_answer(f"no Thrift message: {error}") from error
        return None

    def _read(self) -> Generator[None, None, bool]:
        """Find the end of the answer, and whether it is an exception. Yields when more bytes are needed.

        Raises ProtocolError, UpstreamClosed.
        """
        while (head := read_answer_head(self._window)) is None:
            yield
        refused = is_fault = self._check_head(head)
        at = head.body_at
        while (kind := (yield from self._bytes(at, 1))[0]) != _STOP:
            field = int.from_bytes((yield from self._bytes(at + 1, 2)))
            if is_fault and (kind, field) == (_I32, _FAULT_TYPE):
                self.fault = int.from_bytes((yield from self._bytes(at + 3, 4)))
            if field != _SUCCESS:
                refused, self.exception_field = True, field
                if self._is_passed_on:
                    raise ProtocolError("an exception behind a value")
            self._is_value = not refused
            at = yield from self._pass(kind, at + 3)
        if len(self._window) > at + 1:
            raise ProtocolError(f"{len(self._window) - at - 1} bytes behind its end")
        return refused

    def _check_head(self, head: Head) -> bool:
        """Whether the message is an exception. Raises UpstreamClosed if the message answers another call."""
        self.in_step = (head.name, head.sequence) == (self._head.name, self._head.sequence)
        if head.kind not in (REPLY, EXCEPTION) or (head.kind == REPLY and not self.in_step):
            raise self._no_answer(f"message {head.name!r} of type {head.kind}")
        return head.kind == EXCEPTION

    def _bytes(self, at: int, count: int) -> Generator[None, None, bytearray]:
        while len(self._window) < at + count:
            yield
        return self._window[at : at + count]

    def _pass(self, kind: int, at: int) -> Generator[None, None, int]:
        """The position after a value, in the window as it is once the value has come."""
        steps = passing(self._window, kind, at)
        while (end := next(steps)) is None:
            yield
        while (come := len(self._window)) < end:
            del self._window[:]
            end -= come
            yield
        return end

    def _receive(self, data: bytes) -> None:
        """Add received bytes, at least one, and pass on what came if possible. Raises ClientGone, MetaError."""
        if not self.received_bytes or self._part_bytes >= _PART_BYTES:
            self._until, self._part_bytes = time.monotonic() + self._seconds, 0
        self.received_bytes += len(data)
        self._part_bytes += len(data)
        self._window += data
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes <= _PART_BYTES:
            return
        if self._is_value and self._stream.possible:
            self._stream.send(self._held)
            self._is_passed_on = True
            self._held, self._held_bytes = [], 0
        elif self._held_bytes > self._most_held_bytes:
            raise MetaError(
                f"{self._head.name} is refused: an answer that is not passed on in parts may have "
                f"{self._most_held_bytes} bytes (upstream_answer_bytes), found more"
            )

    def _next(self) -> bytes:
        while True:
            try:
                data = self._socket.recv(_PART_BYTES)
            except TimeoutError:
                self._look()
                continue
            except OSError as error:
                raise self._broken(error.strerror or str(error)) from error
            if not data:
                raise self._closed()
            self._look()
            return data

    def _look(self) -> None:
        """Raises ClientGone if the client has stopped waiting, UpstreamSilent if the answer takes too long."""
        if self._stream.abandoned:
            raise ClientGone(f"nobody waits for the answer to {self._head.name} any more")
        if time.monotonic() < self._until:
            return
        if self._is_passed_on:
            raise self._broken(f"too little came in {self._seconds:g} seconds")
        raise UpstreamSilent(f"{self._address} did not answer {self._head.name} in {self._seconds:g} seconds")

    def _no_answer(self, found: str) -> UpstreamClosed:
        return UpstreamClosed(f"{self._address} answered {self._head.name} with {found}")

    def _closed(self) -> Exception:
        return self._broken("closed by the upstream")

    def _broken(self, reason: str) -> Exception:
        if not self.received_bytes:
            return Unanswered(f"{self._address} did not answer {self._head.name}: {reason}")
        return UpstreamClosed(f"{self._address} broke off its answer to {self._head.name}: {reason}")
