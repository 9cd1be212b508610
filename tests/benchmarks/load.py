"""Load on a metastore: processes that send one request over and over, each on a connection of its own.

Requests are encoded once, and replies counted by their bytes, so that the clients cost next to nothing beside a server.
"""

import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self

from tests.peers.decode_calls import Tap, read_reply

from hmstats.wire.idl import methods

_START_SECONDS = 0.3
"""Time in which every process connects before the clock starts."""
_Send = Callable[[int, str, bytes, float, float], float]
_REPLY = b"\x80\x01\x00\x02"


class Clients:
    """Processes that can all send at once."""

    def __init__(self, most: int) -> None:
        self._pool = ProcessPoolExecutor(most, mp_context=get_context("spawn"))
        list(self._pool.map(time.sleep, [2.0] * most))  # until each has started and imported what it needs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def calls_per_second(self, port: int, method: str, requests: Sequence[bytes], seconds: float) -> float:
        """The rate of all together, one process for each request. Raises RuntimeError when a call is refused."""
        return self._rate(_send, port, method, requests, seconds)

    def connections_per_second(self, port: int, method: str, requests: Sequence[bytes], seconds: float) -> float:
        """The same with a connection for each call."""
        return self._rate(_connect_and_send, port, method, requests, seconds)

    def _rate(self, send: _Send, port: int, method: str, requests: Sequence[bytes], seconds: float) -> float:
        start = time.time() + _START_SECONDS
        running = [self._pool.submit(send, port, method, each, start, seconds) for each in requests]
        return sum(each.result() for each in running)


def _send(port: int, method: str, request: bytes, start: float, seconds: float) -> float:
    """Calls per second of one connection, counted from `start`."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        size = first_reply(connection, method, request)
        time.sleep(max(0.0, start - time.time()))
        began = now = time.perf_counter()
        calls = 0
        while now < began + seconds:
            connection.sendall(request)
            read(connection, size)
            calls += 1
            now = time.perf_counter()
        return calls / (now - began)


def _connect_and_send(port: int, method: str, request: bytes, start: float, seconds: float) -> float:
    """Calls per second, each on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        size = first_reply(connection, method, request)
    time.sleep(max(0.0, start - time.time()))
    began = now = time.perf_counter()
    calls = 0
    while now < began + seconds:
        with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
            connection.sendall(request)
            read(connection, size)
        calls += 1
        now = time.perf_counter()
    return calls / (now - began)


def first_reply(connection: socket.socket, method: str, request: bytes) -> int:
    """The bytes of the reply to the first call; those to the same call again are as long."""
    connection.sendall(request)
    tap = Tap(connection)
    outcome, value = read_reply(tap, methods()[method])
    if outcome != "ok":
        raise RuntimeError(f"{method} should be answered, found {outcome}: {value}")
    return len(tap.take())


def read(connection: socket.socket, size: int) -> None:
    """Take a reply of this many bytes. Raises RuntimeError for an exception in its place."""
    data = bytearray()
    while len(data) < size:
        received = connection.recv(size - len(data))
        if not received:
            raise RuntimeError(f"a reply of {size} bytes was expected, found its end after {len(data)}")
        data += received
        if not data.startswith(_REPLY):
            raise RuntimeError(f"a reply without an exception was expected, found {bytes(data[:200])!r}")
