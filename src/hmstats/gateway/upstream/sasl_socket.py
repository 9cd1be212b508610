"""A connection to an upstream that authenticates its clients: like a socket, but data is sent in SASL frames."""

import socket

from hmstats.client.connection.sasl_transport import MOST_PIECE_BYTES, Dialogue, Mechanism
from hmstats.wire.sasl_messages import FRAME_HEAD_BYTES, Status, frame_bytes, framed

_AT_ONCE = 64 * 1024


class SaslSocket:
    """Reads and writes data over a connected socket. A timeout in the middle of a frame loses nothing."""

    def __init__(self, connected: socket.socket, mechanism: Mechanism, *, over_tls: bool) -> None:
        """Prove the user. Raises as Mechanism.prove."""
        self._socket = connected
        self._frames = bytearray()
        """Received bytes that are not a whole frame yet."""
        self._data = memoryview(b"")
        dialogue = Dialogue(connected)
        dialogue.send(Status.START, mechanism.name)
        self._seal = mechanism.prove(dialogue, over_tls=over_tls)

    def sendall(self, data: bytes | memoryview) -> None:
        """Send data, in frames."""
        whole = memoryview(data)
        piece_bytes = min(self._seal.piece_bytes, MOST_PIECE_BYTES) if self._seal else MOST_PIECE_BYTES
        for start in range(0, len(whole), piece_bytes):
            piece = bytes(whole[start : start + piece_bytes])
            self._socket.sendall(framed(self._seal.wrap(piece) if self._seal else piece))

    def recv(self, size: int) -> bytes:
        """From 1 to `size` bytes; none at the end of the connection. Raises TimeoutError, OSError."""
        while not self._data:
            frame = self._frame()
            if frame is None:
                got = self._socket.recv(_AT_ONCE)
                if not got:
                    return b""
                self._frames += got
            else:
                self._data = memoryview(self._seal.unwrap(frame) if self._seal else frame)
        data, self._data = bytes(self._data[:size]), self._data[size:]
        return data

    @property
    def has_more(self) -> bool:
        """Whether bytes were received and not read yet."""
        return bool(self._data or self._frames)

    def settimeout(self, seconds: float | None) -> None:
        """Set the timeout of the socket."""
        self._socket.settimeout(seconds)

    def gettimeout(self) -> float | None:
        """The timeout of the socket."""
        return self._socket.gettimeout()

    def fileno(self) -> int:
        """The file descriptor of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _frame(self) -> bytes | None:
        """The next whole frame that was received; None if there is none."""
        if len(self._frames) < FRAME_HEAD_BYTES:
            return None
        end = FRAME_HEAD_BYTES + frame_bytes(bytes(self._frames[:FRAME_HEAD_BYTES]))
        if len(self._frames) < end:
            return None
        frame = bytes(self._frames[FRAME_HEAD_BYTES:end])
        del self._frames[:end]
        return frame
