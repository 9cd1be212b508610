"""Messages in the frames of SASL, behind a proof of the user by one of its mechanisms."""

import math
import socket
import time
from typing import Protocol

from hmstats.errors import CallRefused
from hmstats.wire.sasl_messages import FRAME_HEAD_BYTES, MESSAGE_HEAD_BYTES, Message, Status, frame_bytes, framed, head

MOST_PIECE_BYTES = 1024 * 1024
_PART_BYTES = 64 * 1024


class Seal(Protocol):
    """Protects frames, one after the other in each direction."""

    piece_bytes: int
    """The most bytes of a piece of a message, so that its protected form is not too long for the server."""

    def wrap(self, data: bytes) -> bytes:
        """The protected form of a piece."""

    def unwrap(self, data: bytes) -> bytes:
        """The data in a protected form. Raises ConnectionError if it was changed."""


class Mechanism(Protocol):
    """Proves the user to a metastore."""

    name: bytes

    def prove(self, dialogue: "Dialogue", *, over_tls: bool) -> Seal | None:
        """Prove the user, and make what protects frames: nothing over TLS, which protects them already.

        Raises CallRefused if the metastore refuses it, SettingsError, OSError, EOFError.
        """


class Dialogue:
    """The negotiation over a connected socket."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def send(self, status: Status, payload: bytes) -> None:
        """Send a message."""
        self._socket.sendall(Message(status, payload).encoded)

    def answer(self, payload: bytes, expected: Status | None = None) -> bytes:
        """Send a step and return what the server answers. Raises CallRefused unless it is of the expected status."""
        self.send(Status.OK, payload)
        status, length = head(receive(self._socket, MESSAGE_HEAD_BYTES))
        message = receive(self._socket, length)
        if status not in (Status.OK, Status.COMPLETE):
            raise CallRefused("SASL", "refused", message.decode(errors="replace"))
        if expected is not None and status != expected:
            raise CallRefused("SASL", "no end of the negotiation", str(status))
        return message


class SaslTransport:
    """A transport of Thrift over a connected socket: `flush` sends what was written, and `read` reads replies."""

    def __init__(self, connected: socket.socket, mechanism: Mechanism, *, over_tls: bool) -> None:
        """Prove the user. Raises as Mechanism.prove."""
        self._socket = connected
        self._out = bytearray()
        self._in = memoryview(b"")
        dialogue = Dialogue(connected)
        dialogue.send(Status.START, mechanism.name)
        self._seal = mechanism.prove(dialogue, over_tls=over_tls)

    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._socket.fileno() >= 0

    def write(self, data: bytes) -> None:
        """Add to the message."""
        self._out += data

    def flush(self) -> None:
        """Send the message, in frames."""
        whole, self._out = memoryview(bytes(self._out)), bytearray()
        piece_bytes = min(self._seal.piece_bytes, MOST_PIECE_BYTES) if self._seal else MOST_PIECE_BYTES
        for start in range(0, len(whole), piece_bytes):
            piece = bytes(whole[start : start + piece_bytes])
            self._socket.sendall(framed(self._seal.wrap(piece) if self._seal else piece))

    def read(self, size: int) -> bytes:
        """From 1 to `size` bytes of replies. Raises EOFError at the end of the connection."""
        while not self._in:
            frame = receive(self._socket, frame_bytes(receive(self._socket, FRAME_HEAD_BYTES)))
            self._in = memoryview(self._seal.unwrap(frame) if self._seal else frame)
        data, self._in = bytes(self._in[:size]), self._in[size:]
        return data

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def receive(connected: socket.socket, size: int) -> bytes:
    """Receive exactly so many bytes. Raises EOFError at the end of the connection.

    Raises TimeoutError if 64 KiB, or the rest, take longer than the socket's timeout, however often a byte comes.
    """
    data = bytearray()
    limit_seconds = connected.gettimeout() or math.inf
    until, part_bytes = time.monotonic() + limit_seconds, _PART_BYTES
    while len(data) < size:
        piece = connected.recv(size - len(data))
        if not piece:
            raise EOFError("the metastore has closed the connection; does it speak SASL?")
        data += piece
        now = time.monotonic()
        if now > until:
            raise TimeoutError
        if len(data) >= part_bytes:
            until, part_bytes = now + limit_seconds, len(data) + _PART_BYTES
    return bytes(data)
