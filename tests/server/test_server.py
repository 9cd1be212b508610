import contextlib
import errno
import resource
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from tests.server.requests import encoded, envelope, field, old_envelope, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, Gate, echo, serving
from thriftpy2.thrift import TApplicationException

from hmstats.errors import SettingsError
from hmstats.server.calls.dispatch import Dispatcher, Session
from hmstats.server.limits import Limits
from hmstats.server.server import Server
from hmstats.server.sockets.listener import Listener
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL

SHORT_SECONDS = 0.2


def own_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("hmstats-")]


@contextlib.contextmanager
def in_background(work: Callable[[], Any]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def connections() -> float:
    return REGISTRY.get_sample_value("hmstats_connections") or 0.0


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.01)


def reset(client: Client) -> None:
    """Vanish: the server's socket is told that this end is gone."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.socket.close()


def test_thousands_of_idle_connections_hold_up_no_call() -> None:
    count = 2_000
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 3 * count:
        pytest.skip("the hard limit of open files is too low for thousands of connections")
    with serving() as address, contextlib.ExitStack() as idle:
        clients = [idle.enter_context(Client(address))]
        assert clients[0].echoes("started")
        threads = threading.active_count()
        clients += [idle.enter_context(Client(address)) for _ in range(count)]
        with Client(address) as client:
            assert all(client.echoes(f"call {number}") for number in range(100))
        assert threading.active_count() <= threads  # of an earlier test one may have ended meanwhile
        assert all(client.echoes("awake") for client in clients[::100])


def test_a_request_in_two_halves() -> None:
    data = request("getOption", key="half" * 100)
    with serving() as address:
        for cut in (1, 3, 5, 20, len(data) - 1):
            with Client(address) as client, Client(address) as other:
                client.send(data[:cut])
                assert other.echoes("between")
                client.send(data[cut:])
                assert client.reply().value == "half" * 100


def test_a_request_that_drips() -> None:
    with serving() as address, Client(address) as client:
        for byte in request("getOption", key="drip"):
            client.send(bytes([byte]))
        assert client.reply().value == "drip"


def test_a_request_in_old_form() -> None:
    arguments = encoded(methods()["getOption"].arguments(key="old"))
    with serving() as address, Client(address) as client:
        client.send(old_envelope("getOption", 3, CALL, arguments))
        assert client.reply().value == "old"
        assert client.echoes("new")


def test_requests_that_wait_in_line_are_answered_in_order() -> None:
    with serving(Limits(threads=4)) as address, Client(address) as client:
        client.send(b"".join(request("getOption", number, key=f"k{number}") for number in range(500)))
        replies = [client.reply() for _ in range(500)]
    assert [(reply.sequence, reply.value) for reply in replies] == [(number, f"k{number}") for number in range(500)]


def test_more_requests_in_line_than_are_read_ahead() -> None:
    gate = Gate()
    line = [request("getOption", number, key="x" * 10_000) for number in range(200)]
    data = request("get_all_databases") + b"".join(line)
    with (
        serving(get_all_databases=gate) as address,
        Client(address) as client,
        in_background(lambda: client.send(data)),
    ):
        gate.wait_entered()
        gate.open()
        assert client.reply().value == ["let go"]
        assert [client.reply().sequence for _ in line] == list(range(200))


def test_an_unknown_method_leaves_the_connection_alive() -> None:
    with serving() as address, Client(address) as client:
        content = client.ask("get_catalogs").content
        assert isinstance(content, TApplicationException)
        assert content.message == "Invalid method name: 'get_catalogs'"
        client.send(envelope("made_up", 2, CALL, field(8, 1) + bytes(4) + b"\0"))
        assert client.reply().content.type == TApplicationException.UNKNOWN_METHOD
        assert client.echoes("still here")


def test_a_oneway_call_gets_no_reply() -> None:
    ran = threading.Event()
    with serving(shutdown=lambda _session: ran.set()) as address, Client(address) as client:
        client.send(request("shutdown"))
        assert client.echoes("next")
        assert ran.is_set()


def test_a_session_lasts_as_long_as_its_connection() -> None:
    def name(session: Session) -> str:
        return f"{session.user} {session.peer}"

    def set_ugi(session: Session, user_name: str, group_names: list[str]) -> list[str]:
        session.user = user_name
        return group_names

    with serving(getName=name, set_ugi=set_ugi) as address, Client(address) as one, Client(address) as other:
        assert one.ask("set_ugi", user_name="ada", group_names=[]).value == []
        host, port = one.socket.getsockname()
        assert one.ask("getName").value == f"ada {host}:{port}"
        assert str(other.ask("getName").value).startswith("None ")


def test_a_request_above_the_limit_is_refused_while_it_is_sent() -> None:
    with serving(Limits(max_message_bytes=10_000)) as address, Client(address) as client, Client(address) as other:
        client.send(request("getOption", 9, key="x" * 5_000_000))
        reply = client.reply()
        assert (reply.content.type, reply.sequence) == (TApplicationException.PROTOCOL_ERROR, 9)
        assert "may have 10000 bytes" in reply.content.message
        client.socket.shutdown(socket.SHUT_WR)
        assert client.at_end()
        assert other.echoes("unharmed")


def test_garbage_closes_its_own_connection_only() -> None:
    with serving() as address, Client(address) as other:
        for garbage in (b"\xff" * 100, bytes(100), b"lower case"):
            with Client(address) as client:
                client.send(garbage)
                assert client.at_end()
        assert other.echoes("unharmed")


def test_garbage_behind_a_head_is_answered() -> None:
    with serving() as address, Client(address) as client:
        client.send(envelope("getOption", 5, CALL, b"\x63garbage"))
        reply = client.reply()
        assert (reply.content.type, reply.sequence) == (TApplicationException.PROTOCOL_ERROR, 5)
        assert client.at_end()


def test_garbage_behind_a_good_request_does_not_spoil_it() -> None:
    with serving() as address, Client(address) as client:
        client.send(request("getOption", key="good") + b"\xff" * 10)
        assert client.reply().value == "good"
        assert client.at_end()


def test_a_client_that_stops_half_way_is_told_so() -> None:
    with serving(Limits(receive_seconds=SHORT_SECONDS)) as address, Client(address) as client, Client(address) as idle:
        client.send(request("getOption", 4, key="half")[:-2])
        content = client.reply().content
        assert content.type == TApplicationException.PROTOCOL_ERROR
        assert "must arrive within 0.2 seconds" in content.message
        assert client.at_end()
        assert idle.echoes("idle is not half way")


@pytest.mark.parametrize(
    "rest",
    [b"", b"Content-Type: application/x-thrift\r\nContent-Length: 99\r\n\r\n" + request("getOption", key="half")],
)
def test_a_client_that_stops_half_way_over_http_is_told_that_it_is_late(rest: bytes) -> None:
    with serving(Limits(receive_seconds=SHORT_SECONDS)) as address, Client(address) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\n" + rest)
        with client.socket.makefile("rb") as answer:
            status, *_, said = answer.read().splitlines()
        assert status == b"HTTP/1.1 408 Request Timeout"
        assert said == b"a request must arrive within 0.2 seconds, found a part of one"


def test_a_client_that_stops_within_the_head_is_closed() -> None:
    with serving(Limits(receive_seconds=SHORT_SECONDS)) as address, Client(address) as client:
        client.send(b"\x80\x01")
        assert client.at_end()


def test_an_idle_connection_is_closed_when_that_is_wanted() -> None:
    with serving(Limits(idle_seconds=SHORT_SECONDS)) as address, Client(address) as client:
        assert client.echoes("not idle yet")
        assert client.at_end()


@pytest.mark.parametrize("vanish", [reset, lambda client: client.socket.close()])
def test_a_client_that_vanishes_during_its_call(vanish: Callable[[Client], None]) -> None:
    gate = Gate()
    with capture_logs() as events, serving(Limits(threads=1), get_all_databases=gate) as address:
        with Client(address) as client:
            client.send(request("get_all_databases"))
            gate.wait_entered()
            held = connections()
            vanish(client)
        with Client(address) as other:
            other.send(request("getOption", key="waits"))
            gate.open()
            assert other.reply().value == "waits"
            assert other.echoes("again")
        wait_until(lambda: connections() == held - 1)
    assert {event["log_level"] for event in events} <= {"debug", "info"}


def test_a_client_that_only_stops_sending_gets_its_answer() -> None:
    gate = Gate()
    with serving(get_all_databases=gate) as address, Client(address) as client:
        client.send(request("get_all_databases"))
        gate.wait_entered()
        client.socket.shutdown(socket.SHUT_WR)
        gate.open()
        assert client.reply().value == ["let go"]
        assert client.at_end()


def large(session: Session) -> str:
    return "x" * 50_000_000


def receive(client: Client, size: int) -> bytes:
    data = bytearray()
    while piece := client.socket.recv(min(1_000_000, size - len(data))):
        data += piece
    return bytes(data)


@pytest.mark.slow
def test_a_slow_reader_holds_no_worker() -> None:
    reply = envelope("getName", 6, 2, encoded(methods()["getName"].result(success="x" * 50_000_000)))
    with serving(Limits(threads=1), getName=large) as address, Client(address) as slow, Client(address) as other:
        slow.send(request("getName", 6) + request("getOption", 7, key="behind"))
        assert receive(slow, 1) == reply[:1]
        assert all(other.echoes("meanwhile") for _ in range(20))
        assert receive(slow, len(reply) - 1) == reply[1:]
        assert slow.reply().value == "behind"


@pytest.mark.slow
def test_a_reader_that_stops_is_dropped() -> None:
    with serving(Limits(send_seconds=SHORT_SECONDS), getName=large) as address, Client(address) as other:
        assert other.echoes("first")
        held = connections()
        with Client(address) as client:
            client.send(request("getName", 6))
            assert receive(client, 1)
            wait_until(lambda: connections() == held)
            with contextlib.suppress(ConnectionError):
                assert len(receive(client, 60_000_000)) < 50_000_000
        assert other.echoes("meanwhile")


def test_a_call_that_takes_too_long_is_given_up() -> None:
    gate = Gate()
    limits = Limits(threads=2, call_seconds=SHORT_SECONDS)
    with serving(limits, get_all_databases=gate) as address, Client(address) as client, Client(address) as other:
        client.send(request("get_all_databases", 3))
        reply = client.reply()
        assert reply.sequence == 3
        assert reply.content.o1.message == "the call timed out after 0.2 seconds"
        assert client.at_end()
        assert other.echoes("the other worker")
        gate.open()
        assert gate.left.wait(PATIENCE_SECONDS)
        assert all(other.echoes("both workers") for _ in range(10))


def test_a_call_that_waits_too_long_never_runs() -> None:
    gate = Gate()
    ran = threading.Event()
    limits = Limits(threads=1, call_seconds=SHORT_SECONDS)
    with (
        serving(limits, get_all_databases=gate, getName=lambda _session: ran.set()) as address,
        Client(address) as first,
        Client(address) as second,
    ):
        first.send(request("get_all_databases"))
        gate.wait_entered()
        second.send(request("getName"))
        assert "timed out" in second.reply().content.message
        gate.open()
        with Client(address) as third:
            assert third.echoes("after")
    assert not ran.is_set()


def test_a_call_beyond_those_that_may_wait_is_refused_at_once() -> None:
    gate = Gate()
    limits = Limits(threads=1, max_waiting_calls=2)
    with serving(limits, get_all_databases=gate) as address, contextlib.ExitStack() as stack:
        running, *others = [stack.enter_context(Client(address)) for _ in range(4)]
        running.send(request("get_all_databases"))
        gate.wait_entered()
        for client in others:
            client.send(request("get_all_databases"))
        answered, _, _ = select.select([client.socket for client in others], [], [], PATIENCE_SECONDS)
        (refused,) = (client for client in others if client.socket in answered)
        others.remove(refused)
        assert refused.reply().content.o1.message == (
            "the server is busy: 2 calls, or 268,435,456 bytes of them, wait already; try again later"
        )
        gate.open()
        assert [client.reply().value for client in (running, *others)] == [["let go"]] * 3
        assert refused.echoes("later")


def test_a_connection_beyond_the_limit_is_told_so() -> None:
    with serving(Limits(max_connections=2)) as address, Client(address) as one:
        with Client(address) as two, Client(address) as three:
            assert one.echoes("one")
            assert two.echoes("two")
            content = three.ask("getOption", key="three").content
            assert content.type == TApplicationException.INTERNAL_ERROR
            assert content.message == "the server has reached its limit of 2 connections; try again later"
            three.socket.shutdown(socket.SHUT_WR)
            assert three.at_end()
        wait_until(lambda: has_room(address))


def has_room(address: Address) -> bool:
    with Client(address) as client:
        return not isinstance(client.ask("getOption", key="room").content, TApplicationException)


def test_a_system_that_gives_no_connection_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    accept, refusals = Listener.accept, [OSError(errno.EMFILE, "Too many open files")]

    def refuse_once(listener: Listener) -> Iterator[tuple[socket.socket, str]]:
        if refusals:
            raise refusals.pop()
        return accept(listener)

    monkeypatch.setattr(Listener, "accept", refuse_once)
    with capture_logs() as events, serving() as address, Client(address) as client:
        assert client.echoes("in the end")
    assert [event["reason"] for event in events if event["event"] == "accept_failed"] == [
        "[Errno 24] Too many open files"
    ]


def test_a_drained_server_answers_what_runs_and_closes_the_rest() -> None:
    gate = Gate()
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), {"getOption": echo, "get_all_databases": gate}))
    address = server.start()
    with Client(address) as idle, Client(address) as half, Client(address) as busy:
        assert idle.echoes("before")
        half.send(request("getOption", key="half")[:10])
        busy.send(request("get_all_databases") + request("getOption", key="not taken up"))
        gate.wait_entered()
        with in_background(lambda: server.stop(PATIENCE_SECONDS)) as stopping:
            assert idle.at_end()
            assert half.at_end()
            with pytest.raises(ConnectionError):
                Client(address)
            assert stopping.is_alive()
            gate.open()
            assert busy.reply().value == ["let go"]
            assert busy.at_end()
    for thread in own_threads():
        thread.join(PATIENCE_SECONDS)
    assert own_threads() == []


@pytest.mark.slow
def test_a_drained_server_answers_a_client_that_has_just_come() -> None:
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), {"getOption": echo}))
    address = server.start()
    with Client(address) as first, Client(address) as client, Client(address) as silent:
        assert first.echoes("before")
        with in_background(lambda: server.stop(PATIENCE_SECONDS)):
            assert first.at_end()
            assert client.echoes("just come")
            assert client.at_end()
            assert silent.at_end()


@pytest.mark.slow
def test_a_drain_sends_large_replies_to_their_end() -> None:
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), {"getName": large}))
    address = server.start()
    with Client(address) as client:
        client.send(request("getName"))
        receive(client, 1)
        with in_background(lambda: server.stop(PATIENCE_SECONDS)):
            assert len(receive(client, 60_000_000)) > 50_000_000


def test_a_drain_waits_no_longer_than_told() -> None:
    gate = Gate()
    server = Server(("127.0.0.1", 0), Dispatcher(methods(), {"get_all_databases": gate}))
    with Client(server.start()) as client, capture_logs() as events:
        client.send(request("get_all_databases"))
        gate.wait_entered()
        server.stop(0)
        assert client.at_end()
        gate.open()
        assert gate.left.wait(PATIENCE_SECONDS)
    assert any(event["event"] == "calls_cut_off" and event["connections"] == 1 for event in events)


def test_a_server_that_was_never_started_can_be_stopped() -> None:
    server = Server(("127.0.0.1", 0), Dispatcher({}, {}))
    server.stop(0)
    server.wait()


def test_an_address_that_is_taken() -> None:
    with serving() as (host, port):
        second = Server((host, port), Dispatcher({}, {}))
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port}: Address already in use"):
            second.start()


def test_clients_in_parallel_get_their_own_answers() -> None:
    failures: list[str] = []

    def run(name: str, address: Address) -> None:
        with Client(address) as client:
            failures.extend(name for number in range(200) if not client.echoes(f"{name} {number}"))

    with serving(Limits(threads=3)) as address, contextlib.ExitStack() as stack:
        for number in range(12):
            stack.enter_context(in_background(partial(run, f"client {number}", address)))
    assert failures == []
