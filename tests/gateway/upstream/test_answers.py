"""Calls go to the upstream and their answers come back, in every protocol, at any size."""

import contextlib
import socket
import threading
import time
from http.client import HTTPConnection
from io import BytesIO
from typing import Any

import pytest
from tests.gateway.gateways import (
    Upstream,
    UpstreamSide,
    databases,
    gateway,
    gateway_to,
    names,
)
from tests.server.requests import ReplyReader, encoded, envelope, old_envelope, request
from tests.server.serving import PATIENCE_SECONDS, Client, serving
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.thrift import TApplicationException, TClient
from thriftpy2.transport import TFramedTransport, TSocket
from thriftpy2.transport.buffered import TBufferedTransport

from hmstats.errors import NoSuchObject
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import SERVICE, methods
from hmstats.wire.messages.envelope import CALL, REPLY


def length(session: Session, name: str, defaultValue: str) -> str:  # noqa: N803 - the API's name
    return str(len(name))


def missing(session: Session, name: str) -> Any:
    raise NoSuchObject(f"no database {name}")


def test_a_call_goes_upstream_and_its_answer_comes_back() -> None:
    with gateway_to(get_all_databases=names) as address, Client(address) as client:
        reply = client.ask("get_all_databases", sequence=77)
        assert (reply.value, reply.sequence) == (["nobody"], 77)


def test_a_request_in_the_old_form_goes_upstream_in_the_strict_form() -> None:
    def answer(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        side.send(databases(asked, f"{asked[0]:x}"))

    with Upstream(answer) as upstream, gateway(upstream.address) as address, Client(address) as client:
        body = encoded(methods()["get_all_databases"].arguments())
        client.send(old_envelope("get_all_databases", 5, CALL, body))
        reply = client.reply()
        assert (reply.value, reply.sequence) == (["80"], 5)


@pytest.mark.parametrize("framed", [False, True])
def test_a_call_in_frames_or_compact(framed: bool) -> None:
    with gateway_to(get_all_databases=names) as (host, port):
        opened = TSocket(host, port, socket_timeout=20_000)
        transport = TFramedTransport(opened) if framed else TBufferedTransport(opened)
        transport.open()
        client = TClient(SERVICE, TCompactProtocol(transport))
        try:
            assert client.set_ugi("anna", ["staff"]) == ["staff"]
            assert client.get_all_databases() == ["anna", "staff"]
        finally:
            client.close()


def test_a_call_over_http_with_its_user() -> None:
    with gateway_to(get_all_databases=names) as (host, port):
        client = HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
        with contextlib.closing(client):
            for user in ("anna", "ben"):
                headers = {"Content-Type": "application/x-thrift", "x-actor-username": user}
                client.request("POST", "/metastore", request("get_all_databases"), headers)
                assert ReplyReader(BytesIO(client.getresponse().read())).next().value == [user]


def test_a_call_that_nobody_here_knows_is_the_upstreams_to_answer() -> None:
    with gateway_to() as address, Client(address) as client:
        client.send(envelope("get_tables_of_the_year_2030", 3, CALL, b"\0"))
        refused = client.reply()
        assert (refused.sequence, refused.content.type) == (3, TApplicationException.UNKNOWN_METHOD)
        assert "get_tables_of_the_year_2030" in refused.content.message


def test_an_unknown_call_with_an_unknown_answer_is_passed_on_byte_by_byte() -> None:
    answer = envelope("new_call", 9, REPLY, b"\x0f\0\0\x0b\0\0\0\2\0\0\0\1a\0\0\0\1b\x0a\0\7" + bytes(8) + b"\0")

    def behave(side: UpstreamSide) -> None:
        side.request()
        for byte in answer:
            side.send(bytes([byte]))

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(envelope("new_call", 9, CALL, b"\0"))
        found = b""
        while len(found) < len(answer):
            found += client.socket.recv(1024)
        assert found == answer


def test_an_exception_of_the_upstream_comes_back() -> None:
    with gateway_to(get_database=missing) as address, Client(address) as client:
        refusal = client.ask("get_database", name="gone").content
        assert refusal.o1.message == "no database gone"
        assert client.ask("get_database", name="gone").content.o1 is not None


def test_the_first_part_of_a_large_answer_comes_before_the_last_is_made() -> None:
    """And so does the rest, over the same connection, which then serves the next call."""
    rest_may_come = threading.Event()
    found = [f"database_{number:09}" for number in range(40_000)]

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        whole = databases(asked, *found)
        side.send(whole[:400_000])
        assert rest_may_come.wait(PATIENCE_SECONDS)
        side.send(whole[400_000:])
        again = side.request()
        assert again is not None
        side.send(databases(again, "again"))

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        got = b""
        while len(got) < 300_000:
            got += client.socket.recv(65536)
        rest_may_come.set()
        while len(got) < len(databases(request("get_all_databases"), *found)):
            got += client.socket.recv(65536)
        assert ReplyReader(BytesIO(got)).next().value == found
        assert client.ask("get_all_databases").value == ["again"]
        assert upstream.accepted == 1


def test_a_large_answer_in_frames() -> None:
    found = [f"database_{number:09}" for number in range(20_000)]
    with (
        gateway_to(get_all_databases=lambda _: found) as (host, port),
        socket.create_connection((host, port), timeout=PATIENCE_SECONDS) as client,
    ):
        asked = request("get_all_databases")
        client.sendall(len(asked).to_bytes(4) + asked)
        got = b""
        while len(got) < 4 or len(got) < 4 + int.from_bytes(got[:4]):
            got += client.recv(65536)
        assert ReplyReader(BytesIO(got[4:])).next().value == found


def test_a_large_request_goes_upstream() -> None:
    text = "x" * 3_000_000
    with gateway_to(get_config_value=length) as address, Client(address) as client:
        assert client.ask("get_config_value", name=text, defaultValue="").value == "3000000"


@pytest.mark.slow
def test_a_slow_reader_of_a_large_answer_gets_it_whole() -> None:
    found = [f"database_{number:09}" for number in range(200_000)]
    with (
        serving(get_all_databases=lambda _: found) as upstream,
        gateway(upstream) as address,
        Client(address) as client,
    ):
        client.send(request("get_all_databases"))
        time.sleep(0.2)
        assert client.reply().value == found


def test_shutdown_is_never_passed_on() -> None:
    asked = []

    def note(session: Session) -> None:
        asked.append("shutdown")

    with gateway_to(shutdown=note, get_all_databases=names) as address:
        with Client(address) as client:
            client.send(request("shutdown"))
            assert client.ask("get_all_databases").value == ["nobody"]
        with Client(address) as client:
            assert client.ask("get_all_databases").value == ["nobody"]
    assert asked == []
