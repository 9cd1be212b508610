"""The listening socket."""

import socket
from collections.abc import Iterator

from hmstats.errors import SettingsError

_BACKLOG = 4096
"""Connections that the kernel holds until they are accepted; it lowers this to its own limit."""
_ACCEPTED_AT_ONCE = 256


class Listener:
    """Accepts connections without ever waiting for one."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Listen on a host and port; port 0 takes a free one. Raises SettingsError when that cannot be."""
        host, port = address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server(address, family=family, backlog=_BACKLOG)
        except OSError as error:
            raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
        self._socket.settimeout(0)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port that are listened on."""
        host, port = self._socket.getsockname()[:2]
        return str(host), int(port)

    def fileno(self) -> int:
        """What the selector watches for reading."""
        return self._socket.fileno()

    def accept(self) -> Iterator[tuple[socket.socket, str]]:
        """Connections that wait, each with its peer's address and port.

        Raises OSError when the system gives no more, most likely for want of file descriptors.
        """
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, peer = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            accepted.settimeout(0)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            yield accepted, f"{peer[0]}:{peer[1]}"

    def close(self) -> None:
        """Listen no more."""
        self._socket.close()
