"""An HTTP server whose clients are bounded in number and in time, so that slow ones hold up no probe."""

import contextlib
import socket
import sys
import threading
import time
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import structlog

from hmstats.server.monitoring.mounted_page import MountedPage
from hmstats.server.sockets.port import address_of

CLIENT_SECONDS = 10.0
"""How long a client may take for its request and for the answer."""
MOST_CLIENTS = 64
"""Clients at the same time; one more ends the one that has been there longest."""
_MOST_UNREAD_BYTES = 1_000_000
_UNREAD_SECONDS = 1.0
"""Limits of reading the rest of a refused request, in bytes and seconds, so that the client sees the reason."""

_log = structlog.get_logger("hmstats.health")


class BoundedServer(ThreadingMixIn, WSGIServer):
    """Answers each client in a thread of its own, one request a connection."""

    request_queue_size = MOST_CLIENTS
    """Clients that wait to be accepted: one more tries again after a second, and a probe with it."""
    page: MountedPage | None = None
    """Takes the clients over that ask for something else than health and metrics; None without one."""

    def __init__(self, *given: Any) -> None:
        self._clients: dict[socket.socket, float] = {}
        """When the time of each ends, the oldest client first."""
        self._lock = threading.Lock()
        super().__init__(*given)

    def server_bind(self) -> None:
        """Bind, without asking for the host's name, which can take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = address_of(self.socket)
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a new client; the oldest goes if there are too many."""
        with self._lock:
            if len(self._clients) >= MOST_CLIENTS:
                self._end(next(iter(self._clients)))
            self._clients[request] = time.monotonic() + CLIENT_SECONDS
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer a client, or hand it over to the page."""
        if self.page is None or not self.page.is_asked(request, CLIENT_SECONDS) or not self.page.hand_over(request):
            super().finish_request(request, client_address)
            return
        with self._lock:
            self._clients.pop(request, None)

    def service_actions(self) -> None:
        """End clients whose time is over; called twice a second."""
        now = time.monotonic()
        with self._lock:
            for each in [request for request, until in self._clients.items() if until < now]:
                self._end(each)

    def shutdown_request(self, request: Any) -> None:
        """Close the connection of a client that was served; of one that was handed over, this process's copy of it.

        A connection that is closed over unread bytes is reset, and the answer that is under way is lost.
        """
        with self._lock:
            is_ours = request in self._clients
        if not is_ours:
            self.close_request(request)
            return
        with contextlib.suppress(OSError):
            request.shutdown(socket.SHUT_WR)
            _read_rest(request)
        with self._lock:
            self._clients.pop(request, None)
        self.close_request(request)

    def server_close(self) -> None:
        """Stop listening, end all clients, and wait for their threads."""
        with self._lock:
            for each in list(self._clients):
                self._end(each)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Log why a client was not served."""
        _log.debug("client_not_served", peer=str(client_address), reason=str(sys.exc_info()[1]))

    def _end(self, request: socket.socket) -> None:
        """Wake the thread of a client by the end of its connection. The caller holds the lock."""
        del self._clients[request]
        with contextlib.suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)


class BoundedServer6(BoundedServer):
    """A server over IPv6."""

    address_family = socket.AF_INET6


class QuietHandler(WSGIRequestHandler):
    """Logs nothing, since probes come every few seconds."""

    timeout = CLIENT_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def _read_rest(request: socket.socket) -> None:
    """Read what the client still sends, within limits. Raises OSError if it is gone or slow."""
    request.settimeout(_UNREAD_SECONDS)
    unread_bytes = _MOST_UNREAD_BYTES
    while unread_bytes > 0 and (data := request.recv(65536)):
        unread_bytes -= len(data)
