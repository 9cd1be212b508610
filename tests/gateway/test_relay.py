import contextlib
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection
from io import BytesIO
from typing import Any

import pytest
from prometheus_client import REGISTRY
from tests.gateway.gateways import TIMES, Upstream, UpstreamSide, gateway, gateway_to, upstream_of
from tests.server.requests import ReplyReader, encoded, envelope, old_envelope, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, Gate, serving
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.thrift import TApplicationException, TClient
from thriftpy2.transport import TFramedTransport, TSocket
from thriftpy2.transport.buffered import TBufferedTransport

from hmstats.client.connection.address import Address as UpstreamAddress
from hmstats.errors import MetaError, NoSuchObject
from hmstats.gateway.connection import Times, UpstreamConnection, User
from hmstats.gateway.pool import Pool
from hmstats.gateway.relay import UpstreamRelay
from hmstats.server.limits import Limits
from hmstats.server.messages.envelope import CALL, REPLY, Head, Refusal, encode_refusal, encode_reply, read_head
from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import SERVICE, methods

SHORT = Times(connect_seconds=5, answer_seconds=0.2, idle_seconds=60)


def names(session: Session) -> list[str]:
    """What get_all_databases answers upstream: who asks, and on which connection."""
    return [session.user or "nobody", *session.groups]


def connection(session: Session) -> list[str]:
    return [str(session.connection_id)]


def length(session: Session, name: str, defaultValue: str) -> str:  # noqa: N803 - the API's name
    return str(len(name))


def missing(session: Session, name: str) -> Any:
    raise NoSuchObject(f"no database {name}")


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def databases(asked: bytes, *found: str) -> bytes:
    """The answer of an upstream to get_all_databases."""
    head = read_head(asked)
    assert head is not None
    return encode_reply(head, encoded(methods()["get_all_databases"].result(success=list(found))))


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


def test_each_user_has_connections_of_its_own() -> None:
    """With one connection at a time, and clients that take turns."""
    with (
        gateway_to(connections=1, get_all_databases=names) as address,
        Client(address) as anna,
        Client(address) as ben,
        Client(address) as nobody,
    ):
        assert anna.ask("set_ugi", user_name="anna", group_names=["a"]).value == ["a"]
        assert ben.ask("set_ugi", user_name="ben", group_names=[]).value == []
        for _ in range(3):
            assert anna.ask("get_all_databases").value == ["anna", "a"]
            assert ben.ask("get_all_databases").value == ["ben"]
            assert nobody.ask("get_all_databases").value == ["nobody"]


def test_many_clients_share_few_connections() -> None:
    with gateway_to(connections=3, get_all_databases=connection) as address:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(Client(address)) for _ in range(200)]
            for client in clients:
                client.send(request("get_all_databases"))
            used = {client.reply().value[0] for client in clients}
        assert len(used) <= 3


def test_what_is_set_on_a_connection_is_one_clients_alone() -> None:
    def put(session: Session, key: str, value: str) -> None:
        session.settings[key] = value

    def get(session: Session, key: str) -> str:
        return session.settings.get(key, "default")

    with (
        gateway_to(connections=2, setMetaConf=put, getMetaConf=get, get_all_databases=connection) as address,
        Client(address) as other,
    ):
        assert other.ask("getMetaConf", key="k").value == "default"
        with Client(address) as client:
            assert client.ask("setMetaConf", key="k", value="mine").content.o1 is None
            assert client.ask("getMetaConf", key="k").value == "mine"
            mine = client.ask("get_all_databases").value
            assert other.ask("getMetaConf", key="k").value == "default"
            with Client(address) as second:
                refused = second.ask("setMetaConf", key="k", value="too many").content.o1
                assert "1 clients" in refused.message
            changed = client.ask("set_ugi", user_name="late", group_names=[])
            assert changed.value == []
            assert "must not change" in client.ask("getMetaConf", key="k").content.o1.message
        for _ in range(5):
            with Client(address) as later:
                assert later.ask("getMetaConf", key="k").value == "default"
                assert later.ask("get_all_databases").value != mine
        wait_until(lambda: binds(address))


def binds(address: Address) -> bool:
    """Whether a client can set something on a connection."""
    with Client(address) as client:
        return client.ask("setMetaConf", key="k", value="v").content.o1 is None


def test_a_clients_own_connection_that_breaks_ends_the_client() -> None:
    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        assert head is not None
        side.send(encode_reply(head, b"\0"))
        side.request()

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        assert client.ask("setMetaConf", key="k", value="v").content.o1 is None
        client.send(request("get_all_databases"))
        assert client.at_end()


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


def test_the_gateway_answers_for_itself_while_every_connection_is_busy() -> None:
    gate = Gate()
    with (
        gateway_to(connections=1, get_all_databases=gate) as address,
        Client(address) as busy,
        Client(address) as client,
    ):
        busy.send(request("get_all_databases"))
        gate.wait_entered()
        assert client.ask("getStatus").value == 2
        gate.open()
        assert busy.reply().value == ["let go"]


def test_calls_beyond_the_queue_are_told_so() -> None:
    gate = Gate()
    limits = Limits(max_waiting_calls=1)
    with gateway_to(connections=1, limits=limits, get_all_databases=gate) as address, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(address)) for _ in range(3)]
        clients[0].send(request("get_all_databases"))
        gate.wait_entered()
        clients[1].send(request("get_all_databases"))
        wait_until(lambda: is_refused(clients[2]))
        gate.open()
        assert clients[0].reply().value == clients[1].reply().value == ["let go"]


def is_refused(client: Client) -> bool:
    """Whether a call is refused since too many wait."""
    client.send(request("get_all_databases"))
    client.socket.settimeout(0.5)
    try:
        refused = client.reply().content.o1
    except TimeoutError:
        return False
    client.socket.settimeout(PATIENCE_SECONDS)
    return "try again later" in refused.message


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


def closing_behind(first_answers: int) -> Callable[[UpstreamSide], None]:
    """An upstream that closes each connection when it has read a request behind so many."""

    def behave(side: UpstreamSide) -> None:
        for _ in range(first_answers):
            asked = side.request()
            if asked is None:
                return
            side.send(databases(asked, "answered"))
        side.request()

    return behave


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


def test_a_call_that_waits_too_long_for_a_connection_is_given_up() -> None:
    gate = Gate()
    limits = Limits(relay_seconds=0.5)
    with (
        gateway_to(connections=1, limits=limits, get_all_databases=gate) as address,
        Client(address) as first,
        Client(address) as second,
    ):
        first.send(request("get_all_databases"))
        gate.wait_entered()
        assert "timed out after 0.5 seconds" in second.ask("get_all_databases").content.o1.message
        gate.open()


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


def test_connections_that_wait_too_long_are_closed() -> None:
    ended = threading.Event()

    def behave(side: UpstreamSide) -> None:
        closing_behind(1)(side)
        ended.set()

    with Upstream(behave) as upstream:
        pool = Pool(partial(UpstreamConnection, times=TIMES), 1, idle_seconds=0)
        opened = pool.open(UpstreamAddress(*upstream.address), User(None))
        pool.give_back(opened)
        assert pool.waiting == 1
        time.sleep(0.01)
        pool.close_idle()
        assert pool.waiting == 0
        assert ended.wait(PATIENCE_SECONDS)


def test_a_refused_user_is_named() -> None:
    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        assert asked is not None
        head = read_head(asked)
        side.send(encode_refusal(head, Refusal.INTERNAL_ERROR, "not you"))

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        client.ask("set_ugi", user_name="eve", group_names=[])
        assert "refuses the user eve" in client.ask("get_all_databases").content.o1.message


def test_metrics_tell_which_addresses_take_connections() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:
        addresses = [UpstreamAddress(*listening.getsockname()), UpstreamAddress("127.0.0.1", 1)]
        relay = UpstreamRelay(addresses, 1, TIMES)
        relay.tend()
    assert [up(each) for each in addresses] == [1, 0]
    relay.tend()
    assert [up(each) for each in addresses] == [0, 0]


def up(address: UpstreamAddress) -> float | None:
    return REGISTRY.get_sample_value("hmstats_upstream_up", {"address": str(address)})


def test_metrics_count_connections_bytes_and_calls_that_were_sent_again() -> None:
    with Upstream(closing_behind(1)) as upstream, gateway(upstream.address) as address, Client(address) as client:
        labels = {"address": str(UpstreamAddress(*upstream.address))}
        again = REGISTRY.get_sample_value("hmstats_upstream_sent_again_total") or 0
        for _ in range(2):
            client.ask("get_all_databases")
        size = 2 * len(databases(request("get_all_databases"), "answered"))
        assert REGISTRY.get_sample_value("hmstats_upstream_answered_bytes_total", labels) == size
        assert REGISTRY.get_sample_value("hmstats_upstream_connections", labels) == 1
        connects = REGISTRY.get_sample_value("hmstats_upstream_connects_total", {**labels, "outcome": "done"})
        assert connects == 2
        assert REGISTRY.get_sample_value("hmstats_upstream_sent_again_total") == again + 1
    assert REGISTRY.get_sample_value("hmstats_upstream_connections", labels) == 0


@pytest.mark.parametrize(
    ("name", "arguments", "error", "is_kept"),
    [
        ("get_database", {"name": "gone"}, NoSuchObject, True),
        ("get_database", {"name": "gone"}, MetaError, False),
        ("drop_database", {"name": "gone", "deleteData": False, "cascade": False}, NoSuchObject, False),
    ],
)
def test_a_connection_whose_call_failed_is_for_others_only_if_it_asked_for_what_is_not_there(
    name: str, arguments: dict[str, Any], error: type[Exception], is_kept: bool
) -> None:
    """A Hive may leave a transaction open, in which it would make the changes of whoever has the connection next."""

    def fail(session: Session, *_: Any, **__: Any) -> Any:
        raise error("gone")

    calls = {name: fail, "get_all_databases": connection}
    with gateway_to(4, None, **calls) as address, Client(address) as client:
        before = client.ask("get_all_databases").value
        refused = client.ask(name, **arguments).content
        assert [each.message for each in (refused.o1, refused.o2) if each is not None] == ["gone"]
        assert (client.ask("get_all_databases").value == before) is is_kept


@pytest.mark.parametrize(
    ("fault", "accepted"), [(Refusal.UNKNOWN_METHOD, 1), (Refusal.PROTOCOL_ERROR, 2), (Refusal.INTERNAL_ERROR, 2)]
)
def test_a_connection_on_which_a_request_was_not_understood_is_for_nobody_else(fault: Refusal, accepted: int) -> None:
    """A Hive goes on in the middle of a request that it could not read."""

    def behave(side: UpstreamSide) -> None:
        while (asked := side.request()) is not None:
            side.send(encode_refusal(read_head(asked), fault, "as told"))

    with Upstream(behave) as upstream, gateway(upstream.address) as address, Client(address) as client:
        for _ in range(2):
            assert client.ask("get_all_databases").content.type == fault
        assert upstream.accepted == accepted
