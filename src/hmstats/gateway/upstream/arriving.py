"""An answer that arrives from the upstream: passed on as it comes, while its end is found.

thriftpy2's compiled reader walks over the message and asks for bytes when it needs more; what it gets goes to the
client unchanged. Only the head is looked at, and whether the result is a value or an exception. The reader refuses
messages that are nested deeper than Thrift's own limit.
"""

import socket
import time

from thriftpy2.protocol.cybin import ProtocolError, TCyBinaryProtocol
from thriftpy2.thrift import TType
from thriftpy2.transport import TCyBufferedTransport, TTransportException

from hmstats.client.connection.address import Address
from hmstats.errors import ClientGone, UpstreamClosed, UpstreamSilent
from hmstats.gateway.upstream.sasl_socket import SaslSocket
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.envelope import EXCEPTION, REPLY, Head

LOOK_SECONDS = 1.0
"""The timeout of the socket: how often a thread that waits for the upstream looks whether its client still waits."""

_BUFFER_BYTES = 64 * 1024
_PART_BYTES = 64 * 1024
"""A reply of more bytes is sent on in parts."""
_SUCCESS = 0
"""The number of a result's field that is the value; all others are exceptions."""
_FAULT_TYPE = 2
"""The number of the field of a TApplicationException that is its type."""
_NO_MESSAGE = (
    ProtocolError,
    RecursionError,
    TTransportException,
    UnicodeDecodeError,
    MemoryError,  # a size beyond what the reader can hold
    SystemError,  # a negative size
)


class Unanswered(Exception):
    """The upstream closed the connection before any byte of its answer."""


class ArrivingAnswer:
    """The answer to one call on one connection, whose socket has the timeout LOOK_SECONDS."""

    def __init__(
        self, sock: socket.socket | SaslSocket, address: Address, head: Head, stream: Stream, seconds: float
    ) -> None:
        self.in_step = True
        """Whether the answer has the name and the sequence id of its call, so that the connection can go on."""
        self._socket = sock
        self._address = address
        self._head = head
        self._stream = stream
        self._seconds = seconds
        self._held: list[bytes] = []
        self._held_bytes = 0
        self.received_bytes = 0
        self.fault: int | None = None
        """The type of the TApplicationException that the answer is; None for other answers."""
        self.exception_field: int | None = None
        """The number of the result's field that is an exception; None if there is none."""
        self._checked = False

    def relay(self) -> Relayed:
        """Read the answer to its end. Raises Unanswered, UpstreamSilent, UpstreamClosed, ClientGone."""
        transport = TCyBufferedTransport(self, _BUFFER_BYTES)
        protocol = TCyBinaryProtocol(transport)
        try:
            refused = self._check_head(*protocol.read_message_begin())
            is_fault = refused
            while (kind := transport.read(1)[0]) != TType.STOP:
                field = int.from_bytes(transport.read(2))
                if is_fault and (kind, field) == (TType.I32, _FAULT_TYPE):
                    self.fault = int.from_bytes(transport.read(4))
                else:
                    protocol.skip(kind)
                if field != _SUCCESS:
                    refused, self.exception_field = True, field
        except _NO_MESSAGE as error:
            said = getattr(error, "message", None) or error
            raise UpstreamClosed(
                f"{self._address} answered {self._head.name} with no Thrift message: {said}"
            ) from error
        return Relayed(self._held, refused)

    def read(self, size: int) -> bytes:
        """The next bytes, for the reader; at most `size`, at least one."""
        data = self._receive(size)
        self.received_bytes += len(data)
        self._held.append(data)
        self._held_bytes += len(data)
        if self._held_bytes > _PART_BYTES and self._checked and self._stream.possible:
            self._stream.send(self._held)
            self._held, self._held_bytes = [], 0
        return data

    def _check_head(self, name: str, kind: int, sequence: int) -> bool:
        """Whether the message is an exception. Raises UpstreamClosed if it answers something else."""
        self.in_step = (name, sequence) == (self._head.name, self._head.sequence)
        if kind not in (REPLY, EXCEPTION) or (kind == REPLY and not self.in_step):
            raise UpstreamClosed(f"{self._address} answered {self._head.name} with message {name!r} of type {kind}")
        self._checked = True
        return kind == EXCEPTION

    def _receive(self, size: int) -> bytes:
        until = time.monotonic() + self._seconds
        while True:
            try:
                data = self._socket.recv(size)
            except TimeoutError:
                self._look(until)
                continue
            except OSError as error:
                raise self._broken(error.strerror or str(error)) from error
            if not data:
                raise self._broken("closed by the upstream")
            return data

    def _look(self, until: float) -> None:
        """Raises ClientGone if nobody waits any more, UpstreamSilent if it takes too long."""
        if self._stream.abandoned:
            raise ClientGone(f"nobody waits for the answer to {self._head.name} any more")
        if time.monotonic() >= until:
            raise UpstreamSilent(f"{self._address} did not answer {self._head.name} in {self._seconds:g} seconds")

    def _broken(self, reason: str) -> Exception:
        if not self.received_bytes:
            return Unanswered(f"{self._address} did not answer {self._head.name}: {reason}")
        return UpstreamClosed(f"{self._address} broke off its answer to {self._head.name}: {reason}")
