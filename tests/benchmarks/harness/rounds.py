"""Rounds of calls on a metastore: processes that go through the same calls again and again, each on its own connection.

Requests are encoded once, and replies counted by their bytes, so that the clients cost next to nothing beside a server.
"""

import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.benchmarks.harness.gate import gate, wait_at
from tests.benchmarks.harness.load import first_reply, read
from tests.server.requests import request

Call = tuple[str, Mapping[str, Any]]
"""A method and its arguments."""
_Request = tuple[str, bytes]


class Pace(NamedTuple):
    """How often a second all connections together go through a round, and each of its calls; how often they did."""

    done: int
    rounds: float
    calls: Sequence[float]


class Rounds:
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

    def pace(self, port: int, rounds: Sequence[Sequence[Call]], seconds: float) -> Pace:
        """The pace of a connection for each of the rounds. Raises RuntimeError when a call is refused."""
        encoded = [[(method, request(method, **arguments)) for method, arguments in calls] for calls in rounds]
        with gate() as start:
            running = [self._pool.submit(_send, port, each, start.port, seconds) for each in encoded]
            start.open(running)
        found = [each.result() for each in running]
        calls = zip(*(spent for _, _, spent in found), strict=True)
        return Pace(
            sum(done for done, _, _ in found),
            sum(done / elapsed for done, elapsed, _ in found),
            [sum(done / spent for (done, _, _), spent in zip(found, of_call, strict=True)) for of_call in calls],
        )


def _send(port: int, calls: Sequence[_Request], start: int, seconds: float) -> tuple[int, float, list[float]]:
    """How many rounds one connection did once the gate opened, and how long that and each call took, in seconds."""
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replies = [bytearray(first_reply(connection, *call)) for call in calls]
        wait_at(start)
        spent = [0.0] * len(calls)
        began = now = time.perf_counter()
        done = 0
        while now < began + seconds:
            for index, ((_, sent), reply) in enumerate(zip(calls, replies, strict=True)):
                before = now
                connection.sendall(sent)
                read(connection, reply)
                now = time.perf_counter()
                spent[index] += now - before
            done += 1
        return done, now - began, spent
