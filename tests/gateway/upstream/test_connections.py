"""Connections to the upstream: whose they are, how many there are, and which ones are used again."""

import contextlib
import threading
import time
from functools import partial
from typing import Any

import pytest
from tests.gateway.gateways import (
    TIMES,
    Upstream,
    UpstreamSide,
    closing_behind,
    connection,
    gateway,
    gateway_to,
    names,
    wait_until,
)
from tests.server.requests import request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, Gate

from hmstats.client.connection.address import Address as UpstreamAddress
from hmstats.errors import MetaError, NoSuchObject
from hmstats.gateway.upstream.connection import UpstreamConnection, User
from hmstats.gateway.upstream.pool import Pool
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.envelope import Refusal, encode_refusal, encode_reply, read_head


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
