"""Accepts connections on a listening socket."""

import socket
from collections.abc import Iterator

from hmstats.server.sockets.neighbours import Neighbours
from hmstats.server.sockets.port import address_of

_ACCEPTED_AT_ONCE = 256


class Listener:
    """Accepts connections without blocking."""

    def __init__(self, listening: socket.socket, neighbours: Neighbours | None = None) -> None:
        """`listening` may be another process's too; connections inherit the options that are set here.

        `neighbours` are the processes that have other sockets on the port.
        """
        self.neighbours = neighbours
        self.address = address_of(listening)
        self._socket = listening
        self._socket.settimeout(0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def fileno(self) -> int:
        """The file descriptor that the selector watches for reading."""
        return self._socket.fileno()

    def accept(self) -> Iterator[tuple[socket.socket, str]]:
        """The waiting connections, each with its peer's address and port.

        Raises OSError if the system cannot accept more, most likely since there are no file descriptors.
        """
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, peer = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            accepted.settimeout(0)
            yield accepted, f"{peer[0]}:{peer[1]}"

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()
