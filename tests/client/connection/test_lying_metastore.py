"""A metastore whose answers claim what is not there: the client gives it up, in time that the bytes pay for."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.server.requests import encoded, envelope, field
from thriftpy2.thrift import TType

from hmstats.client.connection.address import Address
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.sasl_transport import Dialogue, SaslTransport
from hmstats.errors import ServiceUnavailable
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import REPLY, encode_reply, read_head

_MOST = struct.pack(">i", 2**31 - 1)
_LIST = field(TType.LIST, 0)
_NO_THRIFT = r"broke in get_all_databases: "
Behaviour = Callable[[UpstreamSide], None]


def answering(message: Callable[[bytes], bytes], *, over_http: bool = False) -> Behaviour:
    """Names the user, then answers each call with a message that is made of the request; over HTTP without its end."""

    def behave(side: UpstreamSide) -> None:
        if over_http:
            answer_http(side, message)
            return
        while (asked := side.request()) is not None:
            head = read_head(asked)
            assert head is not None
            named = encoded(methods()["set_ugi"].result(success=["u"]))
            side.send(encode_reply(head, named) if head.name == "set_ugi" else message(asked))

    return behave


def answer_http(side: UpstreamSide, message: Callable[[bytes], bytes]) -> None:
    stream = side.socket.makefile("rb")
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
        if line != b"\r\n":
            continue
        asked = stream.read(length)
        head = read_head(asked)
        assert head is not None
        named = encode_reply(head, encoded(methods()["set_ugi"].result(success=["u"])))
        body = named if head.name == "set_ugi" else message(asked)
        start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        side.send(start + b"%x\r\n%b\r\n" % (len(body), body) + (b"0\r\n\r\n" if head.name == "set_ugi" else b""))


def result(value: bytes) -> Callable[[bytes], bytes]:
    """A reply with this struct of results."""

    def message(asked: bytes) -> bytes:
        head = read_head(asked)
        assert head is not None
        return encode_reply(head, value)

    return message


def asked(upstream: Upstream, seconds: float = 20, path: str | None = None) -> object:
    host, port = upstream.address
    connection = Connection([Address(host, port, path=path)], timeout_seconds=seconds, retries=0)
    try:
        return connection.call("get_all_databases")
    finally:
        connection.close()


@pytest.mark.parametrize("path", [None, "/metastore"], ids=["plain", "http"])
@pytest.mark.parametrize(
    "value",
    [
        _LIST + b"\x00" + _MOST,
        _LIST + b"\x63" + _MOST,
        field(TType.SET, 0) + b"\x01" + _MOST,
        field(TType.MAP, 0) + b"\x01\x01" + _MOST,
        field(TType.MAP, 9) + b"\x0b\x01" + _MOST,
        _LIST + b"\x0f" + struct.pack(">i", 1000) + (b"\x01" + _MOST) * 1000,
        _LIST + b"\x0b" + struct.pack(">i", -1),
        _LIST + b"\x0c" + _MOST,
        field(TType.STRING, 0) + struct.pack(">i", -5),
        field(TType.STRUCT, 9) * 200,
        _LIST + b"\x0c" + struct.pack(">i", 1_000_000) + bytes(1_000_000),
        field(77, 0),
    ],
    ids=str,
)
def test_what_claims_billions_is_refused_at_once(value: bytes, path: str | None) -> None:
    """thriftpy2 goes on for billions of values of a type that has no bytes, and lets no other thread run."""
    answer = answering(result(value + bytes(40)), over_http=path is not None)
    with Upstream(answer) as upstream:
        began = time.process_time()
        with pytest.raises(ServiceUnavailable, match=_NO_THRIFT):
            asked(upstream, path=path)
        assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "message",
    [
        lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        lambda _: bytes(400),
        lambda _: struct.pack(">Ii", 0x80010000 | REPLY, 2**31 - 1) + bytes(400),
        lambda asked: result(encoded(methods()["get_all_databases"].result(success=["a"])))(asked) * 2,
    ],
    ids=["a page", "zeros", "an endless name", "two answers"],
)
def test_what_is_no_answer_is_refused(message: Callable[[bytes], bytes]) -> None:
    with Upstream(answering(message)) as upstream, pytest.raises(ServiceUnavailable, match=_NO_THRIFT):
        asked(upstream)


def test_an_answer_that_drips_is_given_up() -> None:
    """Each byte comes in time, and the whole does not."""
    done = threading.Event()

    def behave(side: UpstreamSide) -> None:
        named = side.request()
        assert named is not None
        side.send(result(encoded(methods()["set_ugi"].result(success=["u"])))(named))
        side.request()
        whole = envelope("get_all_databases", 0, REPLY, _LIST + b"\x0b" + struct.pack(">i", 90) + bytes(360) + b"\0")
        for byte in whole:
            side.send(bytes([byte]))
            if done.wait(0.05):
                return

    with Upstream(behave) as upstream:
        with pytest.raises(ServiceUnavailable, match=r"did not answer get_all_databases in 0\.5 seconds"):
            asked(upstream, seconds=0.5)
        done.set()


def dripping(sock: socket.socket, data: bytes, done: threading.Event) -> None:
    """Send a byte now and then until all are sent or the other side is gone."""
    with contextlib.suppress(OSError):
        for byte in data:
            sock.sendall(bytes([byte]))
            if done.wait(0.05):
                return


def test_headers_that_drip_are_given_up() -> None:
    done = threading.Event()

    def behave(side: UpstreamSide) -> None:
        side.socket.recv(65_536)
        dripping(side.socket, b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400, done)

    with Upstream(behave) as upstream:
        with pytest.raises(ServiceUnavailable, match=r"did not answer get_all_databases in 0\.5 seconds"):
            asked(upstream, seconds=0.5, path="/metastore")
        done.set()


@pytest.mark.slow
def test_a_frame_of_sasl_that_drips_is_given_up() -> None:
    done = threading.Event()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.5)
        threading.Thread(target=dripping, args=(theirs, struct.pack(">I", 400) + bytes(400), done), daemon=True).start()
        with pytest.raises(TimeoutError):
            SaslTransport(ours, Trusting(), over_tls=False).read(1)
        done.set()


class Trusting:
    """A mechanism that asks for no proof."""

    name = b"NONE"

    def prove(self, dialogue: Dialogue, *, over_tls: bool) -> None:
        """Prove nothing."""


@pytest.mark.slow
@pytest.mark.parametrize("path", [None, "/metastore"], ids=["plain", "http"])
def test_a_large_answer_in_small_pieces_is_whole(path: str | None) -> None:
    found = [f"database_{number}" for number in range(50_000)]
    answer = result(encoded(methods()["get_all_databases"].result(success=found)))
    with Upstream(answering(answer, over_http=path is not None)) as upstream:
        assert asked(upstream, path=path) == found
