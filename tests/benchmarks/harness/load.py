"""Load on a metastore: processes that send one request over and over, each on a connection of its own.

Requests are encoded once, and replies counted by their bytes, so that the clients cost next to nothing beside a server.
"""

import socket
import struct
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from itertools import chain, cycle
from multiprocessing import get_context
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from tests.benchmarks.harness.gate import gate, wait_at
from tests.peers.decode_calls import Tap, read_reply

from hmstats.wire.idl import methods

_PATIENCE_SECONDS = 60
_Sent = tuple[float, list[float]]
"""Calls per second of one connection, and the seconds that each took."""
_Send = Callable[[int, str, bytes, int, float], _Sent]
_REPLY = b"\x80\x01\x00\x02"


class Load(NamedTuple):
    """Calls per second of all connections together; milliseconds that half of the calls took at most, and 99 %."""

    calls: float
    p50_ms: float
    p99_ms: float


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

    def calls(self, port: int, method: str, requests: Sequence[bytes], seconds: float) -> Load:
        """The load of all together, one process for each request. Raises RuntimeError when a call is refused."""
        return self._load(_send, [port], method, requests, seconds)

    def calls_of_ports(self, ports: Sequence[int], method: str, requests: Sequence[bytes], seconds: float) -> Load:
        """The load on several servers, which get the connections in turn."""
        return self._load(_send, ports, method, requests, seconds)

    def calls_on_new_connections(self, port: int, method: str, requests: Sequence[bytes], seconds: float) -> Load:
        """The same with a connection for each call."""
        return self._load(_connect_and_send, [port], method, requests, seconds)

    def _load(self, send: _Send, ports: Sequence[int], method: str, requests: Sequence[bytes], seconds: float) -> Load:
        with gate() as start:
            running = [
                self._pool.submit(send, port, method, each, start.port, seconds)
                for each, port in zip(requests, cycle(ports), strict=False)
            ]
            start.open(running)
        wait(running)  # whoever fails, nobody still sends when the next are measured
        rates, spent = zip(*(each.result() for each in running), strict=True)
        p50, p99 = np.percentile(list(chain.from_iterable(spent)), [50, 99])
        return Load(sum(rates), 1_000 * float(p50), 1_000 * float(p99))


def _send(port: int, method: str, request: bytes, start: int, seconds: float) -> _Sent:
    """What one connection does once the gate at `start` opens."""
    with _connected(port) as connection:
        reply = bytearray(first_reply(connection, method, request))
        wait_at(start)
        began = now = time.perf_counter()
        spent: list[float] = []
        while now < began + seconds:
            connection.sendall(request)
            read(connection, reply)
            spent.append(-now + (now := time.perf_counter()))
        return len(spent) / (now - began), spent


def _connect_and_send(port: int, method: str, request: bytes, start: int, seconds: float) -> _Sent:
    """The same, each call on a connection of its own."""
    with _connected(port) as connection:
        reply = bytearray(first_reply(connection, method, request))
    wait_at(start)
    began = now = time.perf_counter()
    spent: list[float] = []
    while now < began + seconds:
        with _connected(port) as connection:
            connection.sendall(request)
            read(connection, reply)
        spent.append(-now + (now := time.perf_counter()))
    return len(spent) / (now - began), spent


def _connected(port: int) -> socket.socket:
    """A connection that the system times out: Python's own way asks it about the socket before each send and recv."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_SECONDS)
    connection.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connection.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", _PATIENCE_SECONDS, 0))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def first_reply(connection: socket.socket, method: str, request: bytes) -> int:
    """The bytes of the reply to the first call; those to the same call again are as long."""
    connection.sendall(request)
    tap = Tap(connection)
    outcome, value = read_reply(tap, methods()[method])
    if outcome != "ok":
        raise RuntimeError(f"{method} should be answered, found {outcome}: {value}")
    return len(tap.take())


def read(connection: socket.socket, reply: bytearray) -> None:
    """Take a reply of as many bytes. Raises RuntimeError for an exception in its place."""
    view, taken = memoryview(reply), 0
    while taken < len(reply):
        # The system waits for the rest of a reply that has begun well: to take it in pieces takes the processor's time.
        received = connection.recv_into(view[taken:], 0, socket.MSG_WAITALL if taken else 0)
        if not received:
            raise RuntimeError(f"a reply of {len(reply)} bytes was expected, found its end after {taken}")
        taken += received
        if not reply.startswith(_REPLY):
            raise RuntimeError(f"a reply without an exception was expected, found {bytes(view[: min(taken, 200)])!r}")
