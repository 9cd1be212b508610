"""Thousands of clients that connect and say nothing, or begin TLS and go no further, beside a good client."""

import http.client
import resource
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.cli.serving.test_secured import made_token
from tests.faults.harness.worker_processes import Workers
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.servers import serving
from tests.server.authentication.peers import connection_to, post
from tests.server.requests import reply_of, request
from tests.server.serving import PATIENCE_SECONDS

_HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
_OWN_FILES = 1_000
SILENT = 10_000 if _HARD == resource.RLIM_INFINITY else min(10_000, _HARD - _OWN_FILES)
"""Silent clients: each takes a file descriptor of this process."""
HALF_A_HELLO = bytes.fromhex("160301020001")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path)


@pytest.fixture(autouse=True)
def _many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_HARD, _HARD))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def good_client(port: int, files: Files) -> Iterator[http.client.HTTPConnection]:
    context = ssl.create_default_context(cafile=files.authority)
    with closing(connection_to(("localhost", port), context)) as connection:
        yield connection


def is_served(connection: http.client.HTTPConnection, secret: str) -> bool:
    status, _, body = post(connection, request("getName"), {"Authorization": f"Bearer {secret}"})
    return status == 200 and bool(reply_of([body]).value == "hmstats")


@pytest.mark.parametrize(
    ("number", "max_handshakes", "open_files", "source"),
    [
        (SILENT, SILENT + 500, None, "127.0.0.2"),
        (SILENT, 1_000, None, "127.0.0.3"),  # an address has 28,000 ports, and each is taken for a minute
        (SILENT // 4, 5_000, 900, "127.0.0.4"),
    ],
    ids=[f"{SILENT}-all-held", f"{SILENT}-most-closed", f"{SILENT // 4}-few-files"],
)
def test_a_good_client_is_served_beside_silent_ones(
    number: int,
    max_handshakes: int,
    open_files: int | None,
    source: str,
    files: Files,
    sqlite_url: str,
    tmp_path: Path,
) -> None:
    secret = made_token(sqlite_url, "good", "ada")
    settings = {
        "tls": "require",
        "tls_certificate": files.certificate,
        "tls_key": files.key,
        "authentication": '["token"]',
        "handshake_seconds": 10 * PATIENCE_SECONDS,
        "max_handshakes": max_handshakes,
        "max_connections": SILENT + 1_000,
        "workers": 1,
        "http_port": 0,
    }
    silent: list[socket.socket] = []
    with serving(tmp_path, database=sqlite_url, settings=settings, open_files=open_files) as port:
        server = Workers(port, 1, tmp_path / "server.log")
        with good_client(port, files) as kept:
            try:
                for place in range(number):
                    each = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS, (source, 0))
                    silent.append(each)
                    if place % 2:
                        each.sendall(HALF_A_HELLO)
                    if place % 500 == 0:
                        assert is_served(kept, secret)
                        with good_client(port, files) as new:
                            assert is_served(new, secret)
                assert is_served(kept, secret)
                with good_client(port, files) as new:
                    assert is_served(new, secret)
                    connections = server.metric("hmstats_connections")
            finally:
                for each in silent:
                    each.close()
    if max_handshakes > number and open_files is None:
        assert connections == number + 2
    else:
        assert connections <= min(max_handshakes, open_files or max_handshakes) + 2
    assert not server.events("accept_failed")
