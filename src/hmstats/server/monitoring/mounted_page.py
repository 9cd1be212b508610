"""Hands requests to the port of health and metrics over to the page that is mounted there, if they are for it.

A connection whose first request is for neither health nor metrics is handed over whole to the page's process.
"""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

OWN_PATHS = frozenset({"/health/live", "/health/ready", "/metrics"})
_ENOUGH_BYTES = 64
"""A path that has not ended within so many bytes of a request is none of these."""
_TLS_HANDSHAKE = b"\x16"
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class MountedPage:
    """The page beside health and metrics. `hand_over` gives it a connection; `over_tls`: it is reached by https."""

    hand_over: Callable[[socket.socket], bool]
    over_tls: bool = False

    def is_asked(self, request: socket.socket, seconds: float) -> bool:
        """Whether a client asks for the page; its first bytes are awaited for so long and stay unread.

        Raises OSError if the connection breaks.
        """
        until = time.monotonic() + seconds
        request.settimeout(seconds)
        while begun := request.recv(_ENOUGH_BYTES, socket.MSG_PEEK):
            if self.over_tls or begun.startswith(_TLS_HANDSHAKE):
                return self.over_tls and begun.startswith(_TLS_HANDSHAKE)
            path = _path(begun)
            if path is not None:
                return path not in OWN_PATHS
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_SECONDS)
        return False


def _path(begun: bytes) -> str | None:
    """The path of a request of which this is the beginning; None if more must come."""
    _, _, rest = begun.partition(b" ")
    address, space, _ = rest.partition(b" ")
    if not space and len(begun) < _ENOUGH_BYTES and b"\n" not in begun:
        return None
    return address.partition(b"?")[0].decode("latin-1")
