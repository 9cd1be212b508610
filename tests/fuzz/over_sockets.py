"""The same requests over sockets to a server of processes, rules and a database, a few in one form on a connection."""

import contextlib
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.faults.harness.leaks import THREADS, check_leaks, open_files
from tests.faults.harness.worker_processes import Workers, workers
from tests.fuzz import replies
from tests.fuzz.in_process import Fuzzer
from tests.server.serving import PATIENCE_SECONDS, Client

_ON_A_CONNECTION = 4
_MOST_GROWTH_MB = 200.0
"""Of the memory of all processes together; kept answers, which are wanted, may take 128 of them."""


@dataclass(frozen=True)
class Sent:
    """How much was sent and came back, and what the server held open at its end."""

    requests: int
    connections: int
    replies: int
    held: str
    growth_mb: float

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests on {self.connections:,} connections, {self.replies:,} replies; "
            f"no worker lost; {self.held}; memory grew by {self.growth_mb:.0f} MB"
        )


def send(seed: int, numbers: range) -> Sent:
    """Send the requests of these numbers. Raises AssertionError when the server breaks, leaks or cannot be read."""
    fuzzer = Fuzzer(seed)
    connections = answered = 0
    with tempfile.TemporaryDirectory(prefix="hmstats-fuzz-") as name, _server(Path(name)) as (server, url):
        _ask(server, b"")
        files = {pid: open_files(pid) for pid in server.alive()}
        before = _resident_mb(server)
        for start in range(numbers.start, numbers.stop, _ON_A_CONNECTION):
            own = range(start, min(start + _ON_A_CONNECTION, numbers.stop))
            data = b"".join(fuzzer.request(number, form=connections) for number in own)
            try:
                answered += replies.count(_ask(server, data))
            except Exception as error:
                raise AssertionError(f"seed {seed}, requests from {start}: {data!r}") from error
            connections += 1
        broken = server.events("call_broke")
        assert not broken, f"{len(broken)} calls met an error that nobody foresaw, the first: {broken[0]}"
        held = check_leaks(server, url, files)
        growth = _resident_mb(server) - before
        assert growth < _MOST_GROWTH_MB, f"memory grew by {growth:.0f} MB"
        assert server.metric("hmstats_worker_deaths") == 0
        with Client(("127.0.0.1", server.port)) as client:
            assert client.ask("get_all_databases").value is not None
    return Sent(len(numbers), connections, answered, held, growth)


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[tuple[Workers, str]]:
    url = f"sqlite:///{folder}/hmstats.sqlite"
    with workers(folder, url, threads=THREADS, max_message_bytes=1_000_000) as server:
        yield server, url


def _ask(server: Workers, data: bytes) -> bytes:
    """All that the server answers to the bytes of a connection before it ends."""
    received = bytearray()
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS) as sock:
        with contextlib.suppress(ConnectionError):  # the server may end the connection before it has read all
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
        while piece := sock.recv(1 << 16):
            received += piece
    return bytes(received)


def _resident_mb(server: Workers) -> float:
    kilobytes = 0
    for pid in server.alive():
        lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
        kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return kilobytes / 1024
