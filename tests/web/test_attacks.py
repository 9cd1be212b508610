"""What strangers on the network can do to the process of the page: raw bytes, slow clients, endless requests."""

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.fixtures.servers import serving

from hmstats.web import slow_clients
from hmstats.web.application import application
from hmstats.web.metastores import Metastores
from hmstats.web.slow_clients import ImpatientProtocol

PATIENCE_SECONDS = 60.0
HOST = b"Host: localhost\r\n"
LARGE = 64 * 1024 * 1024
_MB = 1024 * 1024


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """The port of a page's process over a server without tables, and the process's id."""
    with serving(tmp_path_factory.mktemp("attacked"), "--workers", "1") as port:
        hmstats = str(Path(sys.executable).with_name("hmstats"))
        command = [hmstats, "web", "--port", "0", "--metastore", f"thrift://127.0.0.1:{port}"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = re.search(r"http://[0-9.]+:(\d+)", process.stdout.readline())
            assert found is not None
            yield int(found[1]), process.pid
            assert process.poll() is None, "the process ended"
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_SECONDS)


def asked(port: int, request: bytes) -> bytes:
    """The answer to these bytes; empty if the connection was closed without one."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as client:
        found = b""
        with contextlib.suppress(ConnectionError):
            client.sendall(request)
        with contextlib.suppress(ConnectionError):
            while piece := client.recv(65_536):
                found += piece
        return found


def get(path: bytes, headers: bytes = HOST) -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\n" + headers + b"Connection: close\r\n\r\n"


def post(path: bytes, headers: bytes, body: bytes = b"") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + headers + b"Connection: close\r\n\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def assert_answers(port: int) -> None:
    assert asked(port, get(b"/api/v1/tables")).endswith(b'{"tables":[]}')


def memory_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / _MB


@pytest.mark.parametrize(
    ("request_bytes", "wanted"),
    [
        (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
        (get(b"/", b"Host: localhost\r\nHost: evil.example\r\n"), 400),
        (get(b"/", b"Host: evil.example\r\nHost: localhost\r\n"), 400),
        (get(b"/", b"Host: evil.example\r\n"), 421),
        (get(b"/", b"Host: localhost.evil.example\r\n"), 421),
        (get(b"/api/v1/tables?q=" + b"a" * 50_000), 400),
        (get(b"/api/v1/tables?" + b"&".join(b"a%d=1" % number for number in range(5_000))), 400),
        (get(b"/", HOST + b"Authorization: Basic " + b"A" * 30_000 + b"\r\n"), 400),
        (b"\0\xff" * 2_000 + b"\r\n\r\n", 400),
        (post(b"/tables/a.b/lock", b"Origin: http://evil.example\r\nContent-Length: 0\r\n"), 403),
        (post(b"/tables/a.b/lock", b"Origin: null\r\nContent-Length: 0\r\n"), 403),
        (post(b"/tables/a.b/lock", b"Sec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n"), 403),
        (post(b"/tables/a.b/lock", b"Sec-Fetch-Site: same-site\r\nContent-Length: 0\r\n"), 403),
    ],
    ids=lambda found: None if isinstance(found, bytes) else str(found),
)
def test_what_is_not_for_the_page_is_refused(web: tuple[int, int], request_bytes: bytes, wanted: int) -> None:
    assert status(asked(web[0], request_bytes)) == wanted
    assert_answers(web[0])


@pytest.mark.parametrize(
    "path",
    [
        b"/static/../process.py",
        b"/static/%2e%2e%2f%2e%2e%2fprocess.py",
        b"/static/..%2f..%2fprocess.py",
        b"/static/%2fetc%2fpasswd",
        b"/static/page.css%00",
        b"//evil.example/%2e%2e",
        b"http://evil.example/static/../process.py",
    ],
)
def test_no_file_but_the_pages_own_is_read(web: tuple[int, int], path: bytes) -> None:
    answer = asked(web[0], get(path))
    assert status(answer) == 404
    assert b"uvicorn" not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize("path", [b"/tables/a.b%0d%0aX-Evil:%201", b"/tables/a.b/history%0d%0aSet-Cookie:%20x"])
def test_line_breaks_in_a_path_make_no_header(web: tuple[int, int], path: bytes) -> None:
    head = asked(web[0], get(path)).partition(b"\r\n\r\n")[0].lower()
    assert b"\r\nx-evil" not in head
    assert b"\r\nset-cookie" not in head


def test_what_is_never_read_is_not_kept(web: tuple[int, int]) -> None:
    """Bodies and heads without an end are cut off or dropped as they come."""
    port, pid = web
    assert_answers(port)
    before = memory_mb(pid)
    length = b"Content-Length: %d\r\n" % LARGE
    asked(port, get(b"/api/v1/tables", HOST + length) + bytes(LARGE))
    assert status(asked(port, post(b"/tables/a.b/lock", length, bytes(LARGE)))) in (400, 403)
    asked(port, b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * LARGE)
    asked(port, b"GET /" + b"y" * LARGE)
    assert memory_mb(pid) - before < 32
    assert_answers(port)


def test_many_who_wait_do_not_keep_others_out(web: tuple[int, int]) -> None:
    port = web[0]
    with contextlib.ExitStack() as stack:
        for number in range(300):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS))
            begun = (
                b"GET / HTTP/1.1\r\nHost: loc" if number % 2 else post(b"/tables/a.b/lock", b"Content-Length: 9\r\n")
            )
            client.sendall(begun)
        assert_answers(port)


@pytest.mark.slow
def test_the_process_cuts_off_who_stands_still(web: tuple[int, int]) -> None:
    assert status(asked(web[0], b"GET / HTTP/1.1\r\nHost: loc")) == 408


def _large(_request: Request) -> Response:
    return Response(bytes(LARGE))


def _slow(_request: Request) -> Response:
    time.sleep(1)
    return Response(b"made")


async def _taken(request: Request) -> Response:
    return Response(b"%d" % len(await request.body()))


async def _taken_later(request: Request) -> Response:
    await asyncio.sleep(1)
    return await _taken(request)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of an application whose connections are looked at every 0.2 seconds, and bodies have 100 bytes then."""
    monkeypatch.setattr(slow_clients, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(slow_clients, "LEAST_BODY_BYTES", 100)
    routes = [
        Route("/large", _large),
        Route("/slow", _slow),
        Route("/taken", _taken, methods=["POST"]),
        Route("/later", _taken_later, methods=["POST"]),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), http=ImpatientProtocol, log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def test_a_client_that_says_nothing_is_cut_off(impatient: int) -> None:
    assert asked(impatient, b"") == b""


@pytest.mark.parametrize(
    "begun", [b"GET /slow HTTP/1.1\r\nHost: loc", post(b"/taken", b"Content-Length: 9\r\n", b"abc")]
)
def test_a_client_that_stands_still_is_told_so_and_cut_off(impatient: int, begun: bytes) -> None:
    answer = asked(impatient, begun)
    assert status(answer) == 408
    assert answer.endswith(b"\r\n\r\na request must go on arriving, found a part of one that stands still\n")


def _drip(client: socket.socket, begun: bytes) -> None:
    client.sendall(begun)
    for _ in range(int(PATIENCE_SECONDS / 0.05)):
        client.sendall(b"G")
        time.sleep(0.05)


@pytest.mark.parametrize("begun", [b"", post(b"/taken", b"Content-Length: 9999\r\n")])
def test_a_client_that_drips_is_cut_off(impatient: int, begun: bytes) -> None:
    address = ("127.0.0.1", impatient)
    with socket.create_connection(address, PATIENCE_SECONDS) as client, pytest.raises(ConnectionError):
        _drip(client, begun)


def test_a_slow_upload_that_goes_on_is_taken(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE_SECONDS) as client:
        client.sendall(post(b"/taken", b"Content-Length: 10000\r\n"))
        for _ in range(20):
            client.sendall(bytes(500))
            time.sleep(0.05)
        assert client.recv(65_536).endswith(b"10000")


def test_an_upload_that_the_page_does_not_read_yet_is_waited_for(impatient: int) -> None:
    answer = asked(impatient, post(b"/later", b"Content-Length: %d\r\n" % LARGE, bytes(LARGE)))
    assert answer.endswith(b"%d" % LARGE)


@pytest.mark.slow
def test_a_client_that_does_not_take_its_answer_is_cut_off(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), PATIENCE_SECONDS) as client:
        client.sendall(get(b"/large"))
        time.sleep(3)
        found = 0
        with contextlib.suppress(ConnectionError):
            while piece := client.recv(65_536):
                found += len(piece)
        assert 0 < found < LARGE


@pytest.mark.slow
def test_an_answer_that_takes_long_is_waited_for(impatient: int) -> None:
    assert asked(impatient, get(b"/slow")).endswith(b"made")
    assert asked(impatient, post(b"/taken", b"Content-Length: 3\r\n", b"abc")).endswith(b"3")


async def _break_off(path: str) -> None:
    """Ask the application by a body whose client has gone; raises what it raises."""

    def never(_proof: str | None) -> Any:
        raise AssertionError

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None: ...

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    asked = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    await application(Metastores(never), writes=True)(asked | {"headers": headers, "scheme": "http"}, receive, send)


@pytest.mark.parametrize("path", ["/tables/a.b/lock", "/api/v1/tables/a.b/pending", "/events/trino"])
def test_a_client_that_breaks_off_its_upload_is_no_error_of_the_page(path: str) -> None:
    asyncio.run(_break_off(path))
