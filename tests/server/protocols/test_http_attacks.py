"""Bodies and heads over HTTP that no client sends are refused early, in little memory, and harm no other client."""

import contextlib
import time
import tracemalloc

import pytest
from tests.server.requests import request
from tests.server.serving import Client, serving

from hmstats.server.limits import Limits

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-thrift\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = request("getOption", key="x")
MOST_BYTES = 100_000
ENDLESS_TEXT = request("getOption", key="x" * 10_000)
ENDLESS = bytes(1_000_000)


def in_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def answer_to(client: Client, *parts: bytes) -> bytes:
    """All that the server says until it closes the connection, while as much is sent as it takes."""
    said = b""
    with contextlib.suppress(ConnectionError):
        for part in parts:
            client.send(part)
    with contextlib.suppress(ConnectionError):
        while data := client.socket.recv(65536):
            said += data
    return said


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((CHUNKED + b"f" * 16 + b"\r\n", *[WHOLE[:-1]], *[ENDLESS] * 20), b"400"),
        ((CHUNKED + b"7fffffff\r\n" + request("getOption", key="x" * MOST_BYTES),), b"413"),
        ((CHUNKED + b"f" * 30 + b"\r\n",), b"400"),
        ((CHUNKED + b"-1\r\n" + WHOLE,), b"400"),
        ((CHUNKED + b"0x5\r\n" + WHOLE,), b"400"),
        ((CHUNKED + b"1;" + b"x" * 1_000_000, *[ENDLESS] * 20), b"431"),
        ((CHUNKED + in_chunk(WHOLE) + b"0\r\n" + b"X: y\r\n" * 200_000, *[ENDLESS] * 20), b"431"),
        ((CHUNKED + in_chunk(WHOLE) + b"0\r\nX: " + b"y" * 1_000_000, *[ENDLESS] * 20), b"431"),
        ((CHUNKED + in_chunk(WHOLE) + in_chunk(b"x") * 1_000_000,), b"400"),
        ((CHUNKED + in_chunk(WHOLE)[:-2] + b"xx",), b"400"),
        ((HEAD + b"X: " + b"y" * 1_000_000, *[ENDLESS] * 20), b"431"),
        ((HEAD + b"X: y\r\n" * 100_000,), b"431"),
        ((HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n" + WHOLE[:-1], *[ENDLESS] * 20), b"400"),
        ((HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + WHOLE,), b"400"),
        ((HEAD + b"Content-Length: -5\r\n\r\n" + WHOLE,), b"400"),
        ((HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + in_chunk(WHOLE) + b"0\r\n\r\n",), b"400"),
    ],
    ids=[
        "a chunk of exabytes",
        "a chunk of a text above the limit",
        "a size of thirty digits",
        "a negative size",
        "a size with a prefix",
        "an endless extension",
        "endless trailers",
        "an endless trailer",
        "chunks behind the request",
        "a chunk without its end",
        "an endless header",
        "endless headers",
        "a length of yottabytes",
        "two lengths",
        "a negative length",
        "a length and chunks",
    ],
)
def test_what_no_client_sends_is_refused(parts: tuple[bytes, ...], status: bytes) -> None:
    with serving(Limits(max_message_bytes=MOST_BYTES)) as address, Client(address) as client, Client(address) as other:
        assert other.echoes("before")
        tracemalloc.start()
        said = answer_to(client, *parts)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert said.startswith(b"HTTP/1.1 " + status), said[:200]
        assert said.count(b"HTTP/1.1 ") == 1
        assert peak_bytes < 8_000_000
        assert other.echoes("after")


@pytest.mark.slow
def test_chunks_that_never_end_are_given_up() -> None:
    with serving(Limits(receive_seconds=0.5)) as address, Client(address) as client, Client(address) as other:
        client.send(CHUNKED)
        with contextlib.suppress(ConnectionError):
            for at in range(900):
                client.send(in_chunk(ENDLESS_TEXT[at : at + 1]))
                assert other.echoes("beside")
                time.sleep(0.01)
        assert b" 200 " not in answer_to(client)


def test_trailers_of_a_whole_request_are_passed_over() -> None:
    with serving() as address, Client(address) as client:
        for _ in range(2):
            client.send(CHUNKED + in_chunk(WHOLE) + b"0\r\nX-Actor-Username: eve\r\n\r\n")
            answer = b""
            while not answer.endswith(b"\0"):
                answer += client.socket.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("said", ["Origin: http://evil.example:9083", "Origin: null", "Sec-Fetch-Site: same-origin"])
def test_a_page_in_a_browser_is_refused_also_if_the_servers_address_is_its_own(said: str) -> None:
    """A name that is pointed at the server's address (DNS rebinding) makes the server a part of the page's own site."""
    with serving() as address, Client(address) as client:
        head = HEAD + f"{said}\r\nContent-Length: {len(WHOLE)}\r\n\r\n".encode()
        refused = answer_to(client, head + WHOLE)
        assert refused.startswith(b"HTTP/1.1 403 Forbidden")
        name = said.partition(":")[0]
        assert refused.endswith(f"a metastore is for no page in a browser, found the header {name}\n".encode())
