"""A non-blocking socket whose bytes are encrypted by TLS, used in the place of a plain one.

OpenSSL works on two buffers in memory instead of the socket, since workers write while the selector's thread reads. One
lock guards every step of it: two threads in one TLS object crash the interpreter.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Sequence

from hmstats.server.authentication.certificate_users import Certificate

FIRST_BYTE = 0x16
"""The first byte of a TLS connection (RFC 8446, section 5.1: a record of type handshake)."""
REFUSAL = bytes((0x15, 3, 1, 0, 2, 2, 40))
"""A fatal alert `handshake_failure`, for clients of a server without TLS (RFC 8446, section 6)."""

_PIECE_BYTES = 64 * 1024
"""Bytes that are encrypted in one go; the lock is free between two."""


class TlsSocket:
    """The server's side of TLS on an accepted socket, which stays non-blocking.

    `recv` and `sendmsg` behave as those of a socket. Bytes that `sendmsg` has not counted must be given to it again.
    """

    def __init__(self, plain: socket.socket, context: ssl.SSLContext) -> None:
        self._plain = plain
        self._received = ssl.MemoryBIO()
        self._to_send = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_side=True)
        self._lock = threading.Lock()
        self._unsent = memoryview(b"")
        """Encrypted bytes that the socket has not taken."""
        self._ahead = 0
        """Bytes that were encrypted, but not counted yet since not all of them were sent."""

    def fileno(self) -> int:
        """The file descriptor of the socket."""
        return self._plain.fileno()

    def shake_hands(self, data: bytes) -> bool:
        """Pass received bytes to the handshake and send its answer; whether the handshake is complete.

        Raises OSError when the handshake fails; the client has been sent an alert.
        """
        with self._lock:
            self._received.write(data)
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return False
            finally:
                self._flush()
            return True

    def decrypted(self) -> bytes:
        """The bytes that have arrived behind the handshake. Raises OSError."""
        with self._lock, contextlib.suppress(ssl.SSLZeroReturnError):
            return self._read()
        return b""

    def recv(self, size: int) -> bytes:
        """The bytes that have arrived; empty at the end. Raises BlockingIOError if there are none yet, OSError."""
        data = self._plain.recv(size)
        if not data:
            return b""
        with self._lock:
            self._received.write(data)
            try:
                decrypted = self._read()
            except ssl.SSLZeroReturnError:
                return b""
            finally:
                self._flush()
        if not decrypted:
            raise BlockingIOError
        return decrypted

    def sendmsg(self, pieces: Sequence[bytes | memoryview]) -> int:
        """Send as much as the socket takes at once; returns how many bytes were sent in whole. Raises OSError."""
        joined = memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        sent = 0
        while True:
            with self._lock:
                if not self._flush():
                    return sent
                sent, self._ahead = sent + self._ahead, 0
                if sent == len(joined):
                    return sent
                self._ahead = self._tls.write(joined[sent : sent + _PIECE_BYTES])

    def shutdown(self, how: int) -> None:
        """Tell the client that no more is sent, as far as the socket takes it at once."""
        with self._lock, contextlib.suppress(ssl.SSLError):
            try:
                self._tls.unwrap()
            finally:
                self._flush()
        self._plain.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        self._plain.close()

    @property
    def client_certificate(self) -> Certificate | None:
        """The client's certificate, which an authority of the server's has signed; None if it showed none."""
        with self._lock:
            return self._tls.getpeercert() or None

    @property
    def version(self) -> str | None:
        """The version of TLS, as `TLSv1.3`."""
        return self._tls.version()

    def _read(self) -> bytes:
        """All decrypted bytes, so that none wait in memory while the socket is silent."""
        decrypted = bytearray()
        while True:
            try:
                piece = self._tls.read(_PIECE_BYTES)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                if not decrypted:
                    raise
                break
            if not piece:
                break
            decrypted += piece
        return bytes(decrypted)

    def _flush(self) -> bool:
        """Sends encrypted bytes; whether the socket has taken all."""
        while True:
            if not self._unsent:
                self._unsent = memoryview(self._to_send.read())
            if not self._unsent:
                return True
            try:
                self._unsent = self._unsent[self._plain.send(self._unsent) :]
            except BlockingIOError:
                return False
