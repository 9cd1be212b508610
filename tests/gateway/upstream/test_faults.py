"""An upstream that is away, breaks off, is silent, or answers nonsense; clients that leave."""

import contextlib
import socket
import threading

import pytest
from tests.gateway.gateways import (
    Upstream,
    UpstreamSide,
    closing_behind,
    databases,
    gateway,
    gateway_to,
    upstream_of,
    wait_until,
)
from tests.server.requests import encoded, envelope, request
from tests.server.serving import PATIENCE_SECONDS, Client, serving

from hmstats.gateway.upstream.connection import Times
from hmstats.server.limits import Limits
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL, Head, Refusal, encode_refusal, encode_reply, read_head

SHORT = Times(connect_seconds=5, answer_seconds=0.2, idle_seconds=60)


def test_an_upstream_that_is_away_is_named() -> None:
    with serving() as gone:
        pass
    with gateway(gone) as address, Client(address) as client:
        for _ in range(2):
            refused = client.ask("get_all_databases").content.o1
            assert f"thrift://127.0.0.1:{gone[1]}" in refused.message
            assert "Connection refused" in refused.message
        assert client.ask("getStatus").value == 2
        client.send(envelope("unknown_call", 4, CALL, b"\0"))
        assert "cannot be reached" in client.reply().content.message


@pytest.mark.slow
def test_the_next_address_is_asked_when_one_is_away_and_the_first_again_when_it_is_back() -> None:
    with contextlib.ExitStack() as stack:
        second = stack.enter_context(upstream_of(get_all_databases=lambda _: ["second"]))
        with upstream_of(get_all_databases=lambda _: ["first"]) as first:
            address = stack.enter_context(gateway(first, second))
            client = stack.enter_context(Client(address))
            assert client.ask("get_all_databases").value == ["first"]
        for _ in range(3):
            assert client.ask("get_all_databases").value == ["second"]
        listening = socket.create_server(first)

        def answer() -> None:
            accepted, _ = listening.accept()
            with accepted, contextlib.suppress(OSError):
                side = UpstreamSide(accepted)
                while (asked := side.request()) is not None:
                    side.send(databases(asked, "first"))

        threading.Thread(target=answer, daemon=True).start()
        with listening:
            wait_until(lambda: client.ask("get_all_databases").value == ["first"])


def test_a_read_is_sent_again_if_a_connection_of_the_pool_was_closed_before_any_answer() -> None:
    with Upstream(closing_behind(1)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        assert client.ask("get_all_databases").value == ["answered"]
        assert client.ask("get_all_databases").value == ["answered"]
        assert upstream.accepted == 2


def test_a_change_is_never_sent_twice() -> None:
    with Upstream(closing_behind(1)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        assert client.ask("get_all_databases").value == ["answered"]
        client.send(request("drop_type", type="t"))
        assert client.at_end()
        assert upstream.accepted == 1


def test_a_read_whose_new_connection_is_closed_too_ends_as_it_does_without_a_gateway() -> None:
    with Upstream(closing_behind(0)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        assert client.at_end()
        assert upstream.accepted == 1


@pytest.mark.parametrize("size", [20, 300_000])
def test_an_answer_that_is_cut_ends_the_client(size: int) -> None:
    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        side.send(databases(asked, *["database"] * 50_000)[:size])

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        while client.socket.recv(65536):
            pass


def test_a_peer_that_speaks_something_else_ends_the_client() -> None:
    def behave(side: UpstreamSide) -> None:
        side.request()
        side.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        assert client.at_end()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"\x0b\0\0\xff\xff\xff\xfb" + bytes(20), id="text of -5 bytes"),
        pytest.param(b"\x0b\0\0\x7f\xff\xff\xff" + bytes(20), id="text of 2 GiB"),
        pytest.param((b"\x0f\0\0" + b"\x0f\0\0\0\1" * 200 + bytes(20)), id="lists in lists"),
        pytest.param((b"\x0c\0\0" * 200 + bytes(20)), id="structs in structs"),
        pytest.param(b"\x0d\0\0\x0b\x0b\0\xff\xff\xff" + bytes(20), id="map without an end"),
    ],
)
def test_a_malformed_answer_ends_the_client_and_no_other(value: bytes) -> None:
    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        if asked is not None:
            head = read_head(asked)
            assert head is not None
            side.send(encode_reply(head, value))

    with Upstream(behave) as upstream, gateway(upstream.address) as address:
        with Client(address) as client:
            client.send(request("get_all_databases"))
            while client.socket.recv(65536):
                pass
        with Client(address) as other:
            other.send(request("get_all_databases"))
            while other.socket.recv(65536):
                pass
        assert upstream.accepted == 2


def test_an_answer_to_another_call_ends_the_client_and_the_connection() -> None:
    def behave(side: UpstreamSide) -> None:
        while (asked := side.request()) is not None:
            head = read_head(asked)
            assert head is not None
            other = Head(head.name, head.kind, head.sequence + 1, head.body_at)
            side.send(encode_reply(other, encoded(methods()[head.name].result(success=["other"]))))

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        assert client.at_end()


def test_an_upstream_that_turns_a_connection_away_says_why() -> None:
    def behave(side: UpstreamSide) -> None:
        side.request()
        side.send(encode_refusal(None, Refusal.INTERNAL_ERROR, "too many connections"))
        side.request()

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        for expected in (1, 2):
            assert client.ask("get_all_databases").content.message == "too many connections"
            assert upstream.accepted == expected


@pytest.mark.slow
def test_an_upstream_that_does_not_answer_is_named_and_its_connection_not_used_again() -> None:
    let_go = threading.Event()

    def behave(side: UpstreamSide) -> None:
        side.request()
        let_go.wait(PATIENCE_SECONDS)

    with Upstream(behave) as upstream, gateway(upstream.address, times=SHORT) as address, Client(address) as client:
        refused = client.ask("get_all_databases").content.o1
        assert f":{upstream.address[1]} did not answer get_all_databases in 0.2 seconds" in refused.message
        assert client.ask("get_all_databases").content.o1 is not None
        assert upstream.accepted == 2
        let_go.set()


@pytest.mark.slow
def test_the_upstreams_call_of_a_client_that_has_gone_is_dropped() -> None:
    ended = threading.Event()

    def behave(side: UpstreamSide) -> None:
        side.request()
        side.request()
        ended.set()

    limits = Limits(relay_seconds=0.2)
    with Upstream(behave) as upstream, gateway(upstream.address, limits=limits) as address, Client(address) as client:
        assert "timed out" in client.ask("get_all_databases").content.o1.message
        assert ended.wait(PATIENCE_SECONDS)


@pytest.mark.slow
def test_a_client_that_leaves_in_the_middle_of_a_large_answer() -> None:
    ended = threading.Event()

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        with contextlib.suppress(OSError):
            side.send(databases(asked, *["database"] * 1_000_000))
        ended.set()

    with Upstream(behave) as upstream, gateway(upstream.address) as address:
        with Client(address) as client:
            client.send(request("get_all_databases"))
            assert client.socket.recv(10)
        assert ended.wait(PATIENCE_SECONDS)
        with Client(address) as other:
            assert other.ask("getStatus").value == 2


@pytest.mark.slow
def test_a_client_that_takes_nothing_of_a_large_answer_is_ended() -> None:
    limits = Limits(send_seconds=0.3)
    with (
        gateway_to(connections=1, limits=limits, get_all_databases=lambda _: ["database"] * 500_000) as address,
        Client(address) as slow,
    ):
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.send(request("get_all_databases"))
        with Client(address) as other:  # waits for the only connection
            assert len(other.ask("get_all_databases").value) == 500_000
