"""TLS on the port beside the plain protocols: who is served, who is refused, and what a flood does."""

import http.client
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import trustme
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import Files, issued
from tests.server.requests import Reply, reply_of, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, serving

from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.server.limits import Limits

SHORT_SECONDS = 0.3
CALL = request("getOption", 7, key="k")
NEEDED = "this server speaks over TLS only"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path)


def tls_of(files: Files, *, required: bool = False, client_ca: str | None = None) -> Tls:
    return Tls(Certificates(files.certificate, files.key, client_ca), required=required)


def trusting(files: Files) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=files.authority)


def long_answer(session: Session, key: str) -> str:
    return key * 20


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_calls_over_tls(files: Files, version: ssl.TLSVersion) -> None:
    context = trusting(files)
    context.minimum_version = context.maximum_version = version
    with serving(tls=tls_of(files)) as address, Client(address, context) as client:
        assert all(client.echoes(text) for text in ("a", "b", "x" * 100_000, "c"))


@pytest.mark.slow
def test_large_requests_and_replies_arrive_whole(files: Files) -> None:
    text = "".join(map(str, range(200_000)))
    with serving(tls=tls_of(files), getOption=long_answer) as address, Client(address, trusting(files)) as client:
        for _ in range(2):
            assert client.ask("getOption", key=text).value == text * 20


def test_requests_sent_at_once_are_answered_in_order(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, Client(address, trusting(files)) as client:
        client.send(b"".join(request("getOption", number, key=f"k{number}") for number in range(200)))
        assert [client.reply().value for _ in range(200)] == [f"k{number}" for number in range(200)]


def test_a_request_that_comes_along_with_the_end_of_the_handshake(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, socket.create_connection(address, PATIENCE_SECONDS) as plain:
        received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting(files).wrap_bio(received, to_send, server_hostname="localhost")
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                plain.sendall(to_send.read())
                received.write(plain.recv(65_536))
        client.write(CALL)
        plain.sendall(to_send.read())
        received.write(plain.recv(65_536))
        assert reply_of([client.read(65_536)]).value == "k"


def test_a_handshake_byte_by_byte(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, socket.create_connection(address, PATIENCE_SECONDS) as plain:
        received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting(files).wrap_bio(received, to_send, server_hostname="localhost")
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        for byte in to_send.read():
            plain.sendall(bytes((byte,)))
        received.write(plain.recv(65_536))
        client.do_handshake()
        assert client.version() == "TLSv1.3"


def plain_binary(address: Address) -> str:
    with Client(address) as client:
        client.send(CALL)
        return said(client.reply())


def plain_framed(address: Address) -> str:
    with Client(address) as client:
        client.send(struct.pack(">I", len(CALL)) + CALL)
        (size,) = struct.unpack(">I", client.socket.recv(4, socket.MSG_WAITALL))
        return said(reply_of([client.socket.recv(size, socket.MSG_WAITALL)]))


def over_http(address: Address, context: ssl.SSLContext | None = None) -> str:
    host = ("localhost", address[1])
    made = http.client.HTTPConnection(*host, PATIENCE_SECONDS)
    if context is not None:
        made = http.client.HTTPSConnection(*host, timeout=PATIENCE_SECONDS, context=context)
    made.request("POST", "/metastore", CALL, {"Content-Type": "application/x-thrift"})
    response = made.getresponse()
    body = response.read()
    made.close()
    return said(reply_of([body])) if response.status == 200 else body.decode()


def said(reply: Reply) -> str:
    return str(getattr(reply.content, "success", None) or reply.content.message)


PLAIN = {"binary": plain_binary, "framed": plain_framed, "http": over_http}


@pytest.mark.parametrize("protocol", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("mode", ["off", "accept", "require"])
def test_plain_protocols_under_each_setting(files: Files, mode: str, protocol: Callable[[Address], str]) -> None:
    tls = None if mode == "off" else tls_of(files, required=mode == "require")
    with serving(tls=tls) as address:
        answer = protocol(address)
    assert NEEDED in answer if mode == "require" else answer == "k"


@pytest.mark.parametrize("required", [False, True], ids=["accept", "require"])
def test_every_protocol_over_tls(files: Files, required: bool) -> None:
    with serving(tls=tls_of(files, required=required)) as address:
        with Client(address, trusting(files)) as client:
            assert client.echoes("binary")
        with Client(address, trusting(files)) as client:
            client.send(struct.pack(">I", len(CALL)) + CALL)
            (size,) = struct.unpack(">I", client.socket.recv(4))
            assert said(reply_of([client.socket.recv(size)])) == "k"
        assert over_http(address, trusting(files)) == "k"


def test_a_client_of_a_server_without_tls_gets_an_alert() -> None:
    with capture_logs() as logs, serving() as address:
        with pytest.raises(ssl.SSLError, match=r"(?i)handshake.failure"):
            Client(address, ssl.create_default_context())
        with Client(address) as client:
            assert client.echoes("others are served")
    (line,) = [each for each in logs if each["event"] == "request_rejected"]
    assert line["reason"] == "the client began TLS, which this server does not speak: its setting tls is off"


def test_a_version_before_1_2_is_refused(files: Files) -> None:
    hello = bytes.fromhex("16030100 2d010000 290301".replace(" ", "")) + bytes(32) + bytes.fromhex("000002002f0100")
    with serving(tls=tls_of(files)) as address, Client(address) as client:
        client.send(hello)
        alert = client.socket.recv(7, socket.MSG_WAITALL)
        assert alert[0] == 0x15
        assert client.at_end()


def test_tls_inside_tls_is_no_protocol(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, Client(address, trusting(files)) as client:
        client.send(bytes.fromhex("1603010005010000010303"))
        assert client.at_end()


def test_garbage_ends_only_its_connection(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, Client(address, trusting(files)) as good:
        for garbage in (b"\x16\x03\x01\xff\xff" + b"x" * 70_000, b"\x16" * 500):
            with Client(address) as client:
                with suppress(OSError):  # the server may have closed the connection before it has all
                    client.send(garbage)
                    client.socket.shutdown(socket.SHUT_WR)
                client.socket.settimeout(PATIENCE_SECONDS)
                while _piece(client.socket):
                    pass
        assert good.echoes("still served")


def _piece(sock: socket.socket) -> bytes:
    try:
        return sock.recv(65_536)
    except ConnectionError:
        return b""


def test_a_damaged_record_ends_its_connection(files: Files) -> None:
    with serving(tls=tls_of(files)) as address, Client(address, trusting(files)) as client:
        assert client.echoes("whole")
        with socket.socket(fileno=client.socket.detach()) as raw:
            raw.settimeout(PATIENCE_SECONDS)
            raw.sendall(b"\x17\x03\x03\x00\x20" + b"x" * 32)
            while _piece(raw):
                pass


def test_clients_must_show_a_certificate_of_the_named_authority(files: Files, tmp_path: Path) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    known = issued(tmp_path, "client", authority=authority, name="known")
    unknown = issued(tmp_path, "client", authority=stranger, name="unknown")
    with serving(tls=tls_of(files, client_ca=known.authority)) as address:
        context = trusting(files)
        context.load_cert_chain(known.certificate, known.key)
        with Client(address, context) as client:
            assert client.echoes("known")
        for shown in (None, unknown):
            context = trusting(files)
            if shown is not None:
                context.load_cert_chain(shown.certificate, shown.key)
            assert not served(address, context)


def served(address: Address, context: ssl.SSLContext) -> bool:
    try:
        with Client(address, context) as client:
            client.send(CALL)
            return bool(client.socket.recv(1))
    except OSError:
        return False


def test_a_silent_handshake_ends(files: Files) -> None:
    limits = Limits(handshake_seconds=SHORT_SECONDS)
    with serving(limits, tls_of(files)) as address, Client(address) as client:
        client.send(b"\x16\x03\x01")
        assert client.at_end()


def test_where_tls_is_required_a_silent_connection_ends_too(files: Files) -> None:
    limits = Limits(handshake_seconds=SHORT_SECONDS)
    with serving(limits, tls_of(files, required=True)) as address, Client(address) as client:
        assert client.at_end()


def test_the_limit_ends_the_handshake_that_has_waited_longest(files: Files) -> None:
    limits = Limits(max_handshakes=20)
    with serving(limits, tls_of(files, required=True)) as address, ExitStack() as stack:
        silent = [stack.enter_context(Client(address)) for _ in range(100)]
        for client in silent[::2]:
            with _ignored():
                client.send(b"\x16\x03\x01")
        with Client(address, trusting(files)) as good:
            assert good.echoes("served")
        assert silent[0].at_end()


def test_a_flood_from_one_address_ends_its_own_handshakes(files: Files) -> None:
    limits = Limits(max_handshakes=20)
    with serving(limits, tls_of(files, required=True)) as address, ExitStack() as stack:
        early = stack.enter_context(socket.create_connection(address, PATIENCE_SECONDS, ("127.0.0.2", 0)))
        silent = [stack.enter_context(Client(address)) for _ in range(100)]
        assert silent[0].at_end()
        with trusting(files).wrap_socket(early, server_hostname="localhost") as good:
            good.sendall(CALL)
            assert reply_of([good.recv(65_536)]).value == "k"


def _ignored() -> ExitStack:
    stack = ExitStack()
    stack.push(lambda kind, *_: kind is not None and issubclass(kind, ConnectionError))
    return stack


def test_many_clients_at_once(files: Files) -> None:
    answered = []

    def ask(address: Address) -> None:
        for number in range(5):
            with Client(address, trusting(files)) as client:
                answered.append(client.echoes(str(number)))

    with serving(tls=tls_of(files)) as address:
        threads = [threading.Thread(target=ask, args=(address,)) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(PATIENCE_SECONDS)
    assert answered == [True] * 40


def test_a_reply_that_the_client_takes_slowly(files: Files) -> None:
    text = "".join(map(str, range(100_000)))
    with serving(tls=tls_of(files), getOption=long_answer) as address, Client(address, trusting(files)) as client:
        client.send(request("getOption", 1, key=text))
        time.sleep(SHORT_SECONDS)
        assert client.reply().value == text * 20
        assert client.ask("getOption", key="next").value == "next" * 20
