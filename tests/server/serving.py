"""A server over made-up calls, and clients that are nothing but sockets."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self

from tests.server.requests import Reply, ReplyReader, request

from hmstats.server.authentication.authentication import Authentication
from hmstats.server.calls.dispatch import Dispatcher, Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.limits import Limits
from hmstats.server.server import Server
from hmstats.wire.idl import methods

Address = tuple[str, int]
PATIENCE_SECONDS = 20.0
"""How long anything is waited for before the test fails."""


def echo(session: Session, key: str) -> str:
    """What getOption answers in these tests: what it was asked."""
    return key


class Gate:
    """A call that runs until it is let go, and tells how many run."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._entered = threading.Semaphore(0)
        self.left = threading.Event()

    def __call__(self, session: Session) -> list[str]:
        """Wait, then answer."""
        self._entered.release()
        assert self._open.wait(PATIENCE_SECONDS)
        self.left.set()
        return ["let go"]

    def wait_entered(self) -> None:
        """Return when one more call runs."""
        assert self._entered.acquire(timeout=PATIENCE_SECONDS)

    def open(self) -> None:
        """Let all go, those to come too."""
        self._open.set()


class Refreshed(Protocol):
    """What a server reads from files, and again when they change."""

    def refresh(self) -> None:
        """Look at the files."""


def look_twice(at: Refreshed) -> None:
    """Let a change count: the second look sees that the files stand still."""
    at.refresh()
    at.refresh()


@contextlib.contextmanager
def serving(
    limits: Limits | None = None,
    tls: Tls | None = None,
    authentication: Authentication | None = None,
    **calls: Callable[..., Any],
) -> Iterator[Address]:
    """A server with `getOption` as an echo and the calls given."""
    dispatcher = Dispatcher(methods(), {"getOption": echo} | calls)
    server = Server(("127.0.0.1", 0), dispatcher, limits, tls=tls, authentication=authentication)
    address = server.start()
    try:
        yield address
    finally:
        server.stop(0)


class Client:
    """A socket, and a decoder of the replies that it brings."""

    def __init__(self, address: Address, context: ssl.SSLContext | None = None) -> None:
        self.socket = socket.create_connection(address, timeout=PATIENCE_SECONDS)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self._replies = ReplyReader(_Reader(self.socket))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)

    def reply(self) -> Reply:
        """Read one reply."""
        return self._replies.next()

    def ask(self, name: str, /, sequence: int = 1, **arguments: Any) -> Reply:
        """Send a request and read its reply."""
        self.send(request(name, sequence, **arguments))
        return self.reply()

    def echoes(self, text: str) -> bool:
        """Whether a call on this connection is answered as it should."""
        return bool(self.ask("getOption", key=text).value == text)

    def at_end(self) -> bool:
        """Whether the server closes the connection without another byte; waits until one of both is sure."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


class _Reader:
    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def read(self, size: int) -> bytes:
        """What has come, up to `size` bytes; nothing at the end."""
        return self._socket.recv(size)
