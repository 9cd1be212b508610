"""A gateway in this process, and upstreams for it that are nothing but sockets."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from tests.server.requests import encoded
from tests.server.serving import PATIENCE_SECONDS, Address, serving

from hmstats.client.connection.address import Address as UpstreamAddress
from hmstats.gateway.upstream.arriving import MOST_HELD_BYTES
from hmstats.gateway.upstream.calls import ANSWERED_HERE
from hmstats.gateway.upstream.connection import Times
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.connections.handshakes import Tls
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.metastore.session import SessionCalls
from hmstats.server.server import Server
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import encode_reply, read_head
from hmstats.wire.messages.scanner import Scanner

TIMES = Times(connect_seconds=5, answer_seconds=PATIENCE_SECONDS, idle_seconds=60)


@contextlib.contextmanager
def gateway(
    *upstreams: Address,
    connections: int = 4,
    times: Times = TIMES,
    limits: Limits | None = None,
    tls: Tls | None = None,
    trusted: ssl.SSLContext | None = None,
    most_held_bytes: int = MOST_HELD_BYTES,
) -> Iterator[Address]:
    """The address of a gateway to these addresses of one metastore.

    `tls` is in front of it; behind it is TLS if there is a context that trusts the upstream's certificate.
    """
    found = [UpstreamAddress(host, port, trusted is not None) for host, port in upstreams]
    relay = UpstreamRelay(found, connections, times, trusted, most_held_bytes)
    session = SessionCalls()
    calls: dict[str, Callable[..., Any]] = {
        name: getattr(session, name) for name in ANSWERED_HERE if hasattr(session, name)
    }
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), calls, relay=relay), limits, tls=tls)
    address = server.start()
    try:
        yield address
    finally:
        server.stop(0)
        relay.close()


@contextlib.contextmanager
def upstream_of(**calls: Callable[..., Any]) -> Iterator[Address]:
    """An upstream that is a server of ours with these calls, and those of a session."""
    session = SessionCalls()
    with serving(None, None, None, set_ugi=session.set_ugi, **calls) as address:
        yield address


@contextlib.contextmanager
def gateway_to(connections: int = 4, limits: Limits | None = None, **calls: Callable[..., Any]) -> Iterator[Address]:
    """The address of a gateway to an upstream with these calls."""
    with upstream_of(**calls) as upstream, gateway(upstream, connections=connections, limits=limits) as address:
        yield address


class Upstream:
    """An upstream that does with each connection what it is told to, in a thread of its own."""

    def __init__(self, behave: Callable[["UpstreamSide"], None]) -> None:
        self._behave = behave
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address: Address = self._listening.getsockname()
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = self._listening.accept()
                self.accepted += 1
                threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        with accepted, contextlib.suppress(OSError):
            accepted.settimeout(PATIENCE_SECONDS)
            self._behave(UpstreamSide(accepted))


class UpstreamSide:
    """One connection, seen from the upstream."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock

    def request(self) -> bytes | None:
        """The next whole request; None at the end."""
        inbox = bytearray()
        scanner = Scanner(inbox, Limits().allowance)
        while scanner.scan() is None:
            data = self.socket.recv(65536)
            if not data:
                return None
            inbox += data
        return bytes(inbox)

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.socket.sendall(data)


def names(session: Session) -> list[str]:
    """What get_all_databases answers upstream: who asks, and on which connection."""
    return [session.user or "nobody", *session.groups]


def connection(session: Session) -> list[str]:
    """What get_all_databases answers upstream: the number of the connection that asks."""
    return [str(session.connection_id)]


def wait_until(holds: Callable[[], bool]) -> None:
    """Return when it holds; fail if that takes too long."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def databases(asked: bytes, *found: str) -> bytes:
    """The answer of an upstream to get_all_databases."""
    head = read_head(asked)
    assert head is not None
    return encode_reply(head, encoded(methods()["get_all_databases"].result(success=list(found))))


def answer_all(side: UpstreamSide) -> None:
    """An upstream that answers each call by the names of two databases: its client looks no further than the head."""
    while (asked := side.request()) is not None:
        side.send(databases(asked, "one", "other"))


def closing_behind(first_answers: int) -> Callable[[UpstreamSide], None]:
    """An upstream that closes each connection when it has read a request behind so many."""

    def behave(side: UpstreamSide) -> None:
        for _ in range(first_answers):
            asked = side.request()
            if asked is None:
                return
            side.send(databases(asked, "answered"))
        side.request()

    return behave
