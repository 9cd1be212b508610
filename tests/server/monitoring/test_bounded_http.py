"""The port of health and metrics under slow, many and malformed clients."""

import contextlib
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.monitoring.test_health import Watched, get

from hmstats.server.monitoring import bounded_http
from hmstats.server.monitoring.health import serving_health
from hmstats.server.sockets.port import Address

PATIENCE_SECONDS = 20.0
PROBE = b"GET /health/ready HTTP/1.1\r\nHost: here\r\n"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Address]:
    with serving_health(("127.0.0.1", 0), Watched(ready=1), str(tmp_path)) as address:
        yield address


def opened(address: Address, data: bytes) -> socket.socket:
    client = socket.create_connection(address, PATIENCE_SECONDS)
    client.sendall(data)
    return client


def threads() -> int:
    return sum("process_request" in each.name for each in threading.enumerate())


def at_end(client: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while data := client.recv(65536):
            said += data
    client.close()
    return said


def drip(client: socket.socket) -> None:
    """Send a byte of a header now and then until the connection ends."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        client.sendall(b"x")
        time.sleep(0.1)


@pytest.mark.slow
def test_many_slow_clients_hold_up_no_probe_and_take_few_threads(address: Address) -> None:
    with contextlib.ExitStack() as held:
        slow = [held.enter_context(opened(address, PROBE)) for _ in range(4 * bounded_http.MOST_CLIENTS)]
        assert get(address, "/health/ready") == (200, "1 workers are ready\n")
        until = time.monotonic() + PATIENCE_SECONDS
        while threads() > bounded_http.MOST_CLIENTS:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert slow[0].recv(1) == b""


@pytest.mark.slow
def test_a_client_that_drips_is_ended(address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and the whole does not."""
    monkeypatch.setattr(bounded_http, "CLIENT_SECONDS", 0.5)
    with opened(address, PROBE) as client, pytest.raises(ConnectionError):
        drip(client)
    assert get(address, "/health/ready")[0] == 200


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (PROBE + b"".join(b"X-%d: y\r\n" % number for number in range(1_000)) + b"\r\n", b"431"),
        (PROBE + b"X: " + b"y" * 200_000 + b"\r\n\r\n", b"431"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500) + b"\r\n", b"400"),
        (b"\x80\x01\x00\x01\x00\x00\x00\x0cgetMetaConf\n\0\0\0\1\0\r\n", b"400"),
        (b"GET /health/ready HTTP/9.9\r\n\r\n", b"505"),
        (b"PROPFIND * HTTP/1.1\r\n\r\n", b"404"),
        (b"\r\n" * 50_000, b""),
        (b"", b""),
    ],
    ids=["a long path", "many headers", "a long header", "TLS", "Thrift", "a version", "a method", "lines", "nothing"],
)
def test_what_is_no_request_is_refused(
    address: Address, data: bytes, status: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened(address, data) as client:
        client.shutdown(socket.SHUT_WR)
        assert status in at_end(client)
    assert get(address, "/health/ready") == (200, "1 workers are ready\n")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("head", [b"Content-Length: 1000000000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"])
def test_a_body_is_not_read(address: Address, head: bytes) -> None:
    tracemalloc.start()
    client = opened(address, b"POST /metrics HTTP/1.1\r\n" + head)
    with contextlib.suppress(ConnectionError):
        for _ in range(100):
            client.sendall(bytes(100_000))
    at_end(client)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 5_000_000
    assert get(address, "/health/ready")[0] == 200
