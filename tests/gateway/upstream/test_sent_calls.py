"""Small reads that the selector's thread sends itself, over a connection that waits for a call."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY
from tests.fixtures.identity.authorities import issued
from tests.gateway.gateways import Upstream, UpstreamSide, databases, gateway, upstream_of, wait_until
from tests.server.layers.test_tls import tls_of, trusting
from tests.server.requests import ReplyReader, request
from tests.server.serving import PATIENCE_SECONDS, Address, Client, serving

from hmstats.errors import NoSuchObject
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.server.connections import sent_calls
from hmstats.server.connections.sent_calls import SentCalls
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.server.server import Server

NAMES = ["one", "other"]
LONG = [f"database_{number:09}" for number in range(20_000)]


class Counted:
    """How many calls were sent at once, whole when taken, left to threads, finished by these, and given up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks = self.sent = self.taken = self.left = self.finished = self.abandoned = 0
        take, leave, finish, abandon = SentCall.take, SentCall.hand_over, SentCall.finish, SentCall.abandon
        init = SentCall.__init__

        def counted_init(call: SentCall, *arguments: object) -> None:
            self.sent += 1
            init(call, *arguments)  # type: ignore[arg-type]

        def counted_take(call: SentCall) -> object:
            self.looks += 1
            found = take(call)
            self.taken += found is not None
            return found

        def counted_leave(call: SentCall) -> None:
            self.left += 1
            leave(call)

        def counted_finish(call: SentCall, stream: object) -> object:
            self.finished += 1
            return finish(call, stream)  # type: ignore[arg-type]

        def counted_abandon(call: SentCall) -> None:
            self.abandoned += 1
            abandon(call)

        monkeypatch.setattr(SentCall, "__init__", counted_init)
        monkeypatch.setattr(SentCall, "take", counted_take)
        monkeypatch.setattr(SentCall, "hand_over", counted_leave)
        monkeypatch.setattr(SentCall, "finish", counted_finish)
        monkeypatch.setattr(SentCall, "abandon", counted_abandon)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Counts calls, none of which is late unless a test says so."""
    monkeypatch.setattr(sent_calls, "_PATIENCE_SECONDS", PATIENCE_SECONDS)
    return Counted(monkeypatch)


def answering(*found: str, after: Callable[[UpstreamSide, bytes], None]) -> Callable[[UpstreamSide], None]:
    """An upstream that answers the first call of each connection, and does with the answer to others as told."""

    def behave(side: UpstreamSide) -> None:
        asked = side.request()
        if asked is not None:
            side.send(databases(asked, *found))
        while (asked := side.request()) is not None:
            after(side, databases(asked, *found))

    return behave


@contextlib.contextmanager
def asked_once(
    behave: Callable[[UpstreamSide], None], limits: Limits | None = None
) -> Iterator[tuple[Upstream, Client]]:
    """An upstream that behaves so, and a client of a gateway to it, over which a connection waits for a call."""
    with Upstream(behave) as upstream, gateway(upstream.address, limits=limits) as address, Client(address) as client:
        client.ask("get_all_databases")
        yield upstream, client


class Holding:
    """An upstream that holds its answers from when it is told to until it is told to go on."""

    def __init__(self) -> None:
        self.holds, self.go = threading.Event(), threading.Event()
        self._held = threading.Semaphore(0)

    def __call__(self, side: UpstreamSide) -> None:
        while (asked := side.request()) is not None:
            if self.holds.is_set():
                self._held.release()
                assert self.go.wait(PATIENCE_SECONDS)
            side.send(databases(asked, *NAMES))

    def wait_held(self) -> None:
        """Return when one more answer is held."""
        assert self._held.acquire(timeout=PATIENCE_SECONDS)


def send_whole(side: UpstreamSide, answer: bytes) -> None:
    side.send(answer)


def test_the_first_call_opens_a_connection_and_the_next_are_sent_at_once(counted: Counted) -> None:
    with asked_once(answering(*NAMES, after=send_whole)) as (upstream, client):
        for number in range(5):
            reply = client.ask("get_all_databases", sequence=number)
            assert (reply.value, reply.sequence) == (NAMES, number)
        assert (upstream.accepted, counted.sent, counted.taken) == (1, 5, 5)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("get_all_databases", {}),
        ("get_config_value", {"name": "é" * 5_000, "defaultValue": ""}),
        ("get_database", {"name": "gone"}),
        ("get_open_txns", {}),
    ],
)
@pytest.mark.parametrize("framed", [False, True])
def test_an_answer_is_the_one_that_a_thread_relays(
    counted: Counted, method: str, arguments: dict[str, Any], framed: bool
) -> None:
    """A value, a long one, an exception, and the fault of an upstream that does not know the call."""

    def missing(session: Session, name: str) -> None:
        raise NoSuchObject(f"no database {name}")

    calls: dict[str, Callable[..., Any]] = {
        "get_all_databases": lambda session: NAMES,
        "get_config_value": lambda session, name, defaultValue: name,  # noqa: N803 - the API's name
        "get_database": missing,
    }
    asked = request(method, 7, **arguments)
    asked = len(asked).to_bytes(4) + asked if framed else asked
    answers = []
    with upstream_of(**calls) as upstream, gateway(upstream) as address:
        for _ in range(3):
            with socket.create_connection(address) as client:
                client.sendall(asked)
                client.shutdown(socket.SHUT_WR)
                answers.append(b"".join(iter(lambda: client.recv(65536), b"")))
        assert counted.taken == 2
    assert answers[0]
    assert answers == answers[:1] * 3


def test_a_call_over_http(counted: Counted) -> None:
    with upstream_of(get_all_databases=lambda session: NAMES) as upstream, gateway(upstream) as address:
        for _ in range(3):
            client = HTTPConnection(*address, timeout=PATIENCE_SECONDS)
            client.request("POST", "/", request("get_all_databases", 3), {"Content-Type": "application/x-thrift"})
            reply = ReplyReader(BytesIO(client.getresponse().read())).next()
            client.close()
            assert (reply.value, reply.sequence) == (NAMES, 3)
        assert counted.taken == 2


def test_changes_are_left_to_threads(counted: Counted) -> None:
    with upstream_of(drop_type=lambda session, type: True) as upstream, gateway(upstream) as address:  # noqa: A006
        with Client(address) as client:
            assert [client.ask("drop_type", type="t").value for _ in range(3)] == [True] * 3
        assert counted.sent == 0


@pytest.mark.parametrize(
    ("bytes_at_once", "found"), [(1, NAMES), (7, NAMES), (30, NAMES), (1000, LONG), (50_000, LONG)]
)
def test_an_answer_that_comes_in_pieces(counted: Counted, bytes_at_once: int, found: list[str]) -> None:
    """Of a long one the end is waited for by a thread."""

    def send_pieces(side: UpstreamSide, answer: bytes) -> None:
        for start in range(0, len(answer), bytes_at_once):
            side.send(answer[start : start + bytes_at_once])
            if start < 10 * bytes_at_once:
                time.sleep(0.01)

    with asked_once(answering(*found, after=send_pieces)) as (upstream, client):
        for _ in range(3):
            assert client.ask("get_all_databases").value == found
        assert upstream.accepted == 1
        assert counted.sent == 3
        assert counted.finished == (3 if found is LONG else 0)


def test_an_answer_that_is_late_is_waited_for_by_a_thread(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_calls, "_PATIENCE_SECONDS", 0.0)

    def send_late(side: UpstreamSide, answer: bytes) -> None:
        wait_until(lambda: counted.finished > 0)
        side.send(answer)

    with asked_once(answering(*NAMES, after=send_late)) as (upstream, client):
        assert client.ask("get_all_databases").value == NAMES
        assert client.ask("get_all_databases").value == NAMES
        assert upstream.accepted == 1
        assert counted.left == counted.finished > 0


def test_the_time_of_a_late_call_counts_from_when_it_was_sent(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_calls, "_PATIENCE_SECONDS", 0.0)
    labels = {"method": "get_all_databases", "outcome": "relayed"}
    began = list[float]()

    def send_late(side: UpstreamSide, answer: bytes) -> None:
        began.append(time.perf_counter())
        wait_until(lambda: counted.finished > 0)
        began.append(time.perf_counter())
        side.send(answer)

    with asked_once(answering(*NAMES, after=send_late)) as (_, client):
        before = REGISTRY.get_sample_value("hmstats_rpc_seconds_sum", labels) or 0.0
        assert client.ask("get_all_databases").value == NAMES
        after = REGISTRY.get_sample_value("hmstats_rpc_seconds_sum", labels) or 0.0
        assert after - before > began[1] - began[0]


def test_a_connection_that_ends_before_any_answer_is_replaced(counted: Counted) -> None:
    def leave(side: UpstreamSide, answer: bytes) -> None:
        side.socket.shutdown(2)

    with asked_once(answering(*NAMES, after=leave)) as (upstream, client):
        assert client.ask("get_all_databases").value == NAMES
        assert (upstream.accepted, counted.finished) == (2, 1)
        assert counted.looks == 1


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(lambda answer: answer[:-5], id="cut"),
        pytest.param(lambda answer: b"HTTP/1.1 400 Bad Request\r\n\r\n", id="no message"),
        pytest.param(lambda answer: answer + b"\0\0", id="more than a message"),
        pytest.param(lambda answer: answer.replace(b"get_all", b"got_all"), id="another call's"),
    ],
)
def test_an_answer_that_is_none_ends_its_client_and_no_other(counted: Counted, sent: Callable[[bytes], bytes]) -> None:
    def send_bad(side: UpstreamSide, answer: bytes) -> None:
        side.send(sent(answer))
        side.socket.shutdown(2)

    with Upstream(answering(*NAMES, after=send_bad)) as upstream, gateway(upstream.address) as address:
        with Client(address) as client:
            assert client.ask("get_all_databases").value == NAMES
            client.send(request("get_all_databases"))
            assert client.at_end()
        with Client(address) as other:
            assert other.ask("get_all_databases").value == NAMES
        assert (upstream.accepted, counted.sent) == (2, 1)


def test_a_client_that_leaves_costs_no_connection(counted: Counted) -> None:
    holding = Holding()
    with Upstream(holding) as upstream, gateway(upstream.address) as address:
        with Client(address) as leaving:
            leaving.ask("get_all_databases")
            holding.holds.set()
            leaving.send(request("get_all_databases"))
            holding.wait_held()
        holding.go.set()
        wait_until(lambda: counted.taken == 1)
        with Client(address) as client:
            assert client.ask("get_all_databases").value == NAMES
        assert (upstream.accepted, counted.sent) == (1, 2)


def test_an_answer_behind_the_time_limit_is_nobodys(counted: Counted) -> None:
    holding = Holding()
    with Upstream(holding) as upstream, gateway(upstream.address, limits=Limits(relay_seconds=0.2)) as address:
        with Client(address) as client:
            client.ask("get_all_databases")
            holding.holds.set()
            refused = client.ask("get_all_databases", sequence=8)
            assert "timed out after 0.2 seconds" in refused.content.o1.message
        holding.go.set()
        wait_until(lambda: counted.taken + counted.abandoned == 1)
        with Client(address) as client:
            assert client.ask("get_all_databases", sequence=9).sequence == 9


def test_a_call_that_ends_while_a_thread_is_to_finish_it_gives_its_connection_up(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent_calls, "_PATIENCE_SECONDS", 0.0)

    def be_silent(side: UpstreamSide, answer: bytes) -> None:
        side.request()

    behave = answering(*NAMES, after=be_silent)
    with Upstream(behave) as upstream, gateway(upstream.address, limits=Limits(relay_seconds=0.3)) as address:
        for number in range(1, 4):
            with Client(address) as client:
                client.ask("get_all_databases")
                assert "timed out" in client.ask("get_all_databases").content.o1.message
            wait_until(lambda: upstream.accepted == number)  # noqa: B023 - called at once


@contextlib.contextmanager
def late_behind_three(
    monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> Iterator[tuple[Client, list[Client], threading.Event]]:
    """The client of a late call, those of three changes that have all threads and of one more, and what ends that."""
    monkeypatch.setattr(sent_calls, "_PATIENCE_SECONDS", 0.0)
    holding, is_late = Holding(), threading.Event()
    leave_late = SentCalls.leave_late
    monkeypatch.setattr(SentCalls, "leave_late", lambda self, now: leave_late(self, now) if is_late.is_set() else None)
    with (
        Upstream(holding) as upstream,
        gateway(upstream.address, limits=limits) as address,
        contextlib.ExitStack() as stack,
    ):
        late, *others = [stack.enter_context(Client(address)) for _ in range(5)]
        assert late.ask("get_all_databases").value == NAMES
        holding.holds.set()
        late.send(request("get_all_databases"))
        holding.wait_held()
        for number, client in enumerate(others):
            client.send(request("drop_type", type="t"))
            if number < 3:
                holding.wait_held()
        is_late.set()
        yield late, others, holding.go


def test_a_late_call_is_refused_when_too_many_wait_for_threads(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with late_behind_three(monkeypatch, Limits(max_waiting_calls=1)) as (late, others, go):
        assert "try again later" in late.reply().content.o1.message
        assert (counted.sent, counted.abandoned, counted.finished) == (1, 1, 0)
        go.set()
        for client in others:
            client.socket.recv(1)
        assert late.ask("get_all_databases").value == NAMES


def test_a_late_call_that_times_out_before_a_thread_is_free_gives_its_connection_up(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    with late_behind_three(monkeypatch, Limits(relay_seconds=2.0)) as (late, _, go):
        assert "timed out" in late.reply().content.o1.message
        go.set()
        wait_until(lambda: counted.abandoned == 1)
        assert counted.finished == 0


def test_calls_beyond_the_first_are_left_to_threads(counted: Counted) -> None:
    """Of four connections one is for calls that are sent at once, though all of them wait for calls."""
    holding = Holding()
    with Upstream(holding) as upstream, gateway(upstream.address) as address, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(address)) for _ in range(3)]
        holding.holds.set()
        change, read = request("drop_type", type="t"), request("get_all_databases")
        for asked, sent in ((change, 0), (read, 1)):
            holding.go.clear()
            for client in clients:
                client.send(asked)
                holding.wait_held()
            assert (upstream.accepted, counted.sent) == (3, sent)
            holding.go.set()
            for client in clients:
                client.socket.recv(1000)


def test_requests_that_come_together_are_answered_in_their_order(counted: Counted) -> None:
    with asked_once(answering(*NAMES, after=send_whole)) as (_, client):
        client.socket.sendall(b"".join(request("get_all_databases", number) for number in range(20)))
        assert [client.reply().sequence for _ in range(20)] == list(range(20))
        assert counted.taken == 20


def test_calls_of_a_client_with_a_connection_of_its_own_are_left_to_threads(counted: Counted) -> None:
    def put(session: Session, key: str, value: str) -> None:
        session.settings[key] = value

    def get(session: Session, name: str, defaultValue: str) -> str:  # noqa: N803 - the API's name
        return session.settings.get(name, defaultValue)

    with (
        upstream_of(setMetaConf=put, get_config_value=get) as upstream,
        gateway(upstream) as address,
        Client(address) as other,
        Client(address) as client,
    ):
        assert other.ask("get_config_value", name="k", defaultValue="unset").value == "unset"
        client.ask("setMetaConf", key="k", value="mine")
        assert client.ask("get_config_value", name="k", defaultValue="unset").value == "mine"
        assert counted.sent == 0
        assert other.ask("get_config_value", name="k", defaultValue="unset").value == "unset"
        assert counted.sent == 1


def test_each_users_calls_go_over_its_own_connection(counted: Counted) -> None:
    def user(session: Session) -> list[str]:
        return [session.user or "nobody"]

    with upstream_of(get_all_databases=user) as upstream, gateway(upstream) as address, contextlib.ExitStack() as stack:
        clients = {name: stack.enter_context(Client(address)) for name in ("anna", "ben")}
        for name, client in clients.items():
            client.ask("set_ugi", user_name=name, group_names=[])
        for _ in range(4):
            for name, client in clients.items():
                assert client.ask("get_all_databases").value == [name]
        assert counted.taken == 6


@pytest.mark.parametrize("count", [3, 1_000, 20_000])
def test_answers_over_tls(tmp_path: Path, counted: Counted, count: int) -> None:
    """Their records are longer and shorter than what is taken at once."""
    files = issued(tmp_path)
    found = LONG[:count]
    trusted: ssl.SSLContext = trusting(files)
    with (
        serving(None, tls_of(files), None, get_all_databases=lambda session: found) as upstream,
        gateway(upstream, trusted=trusted) as address,
        Client(address) as client,
    ):
        for _ in range(4):
            assert client.ask("get_all_databases").value == found
        assert counted.sent == 3


def test_a_call_under_way_is_answered_before_the_gateway_stops(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[Server] = []
    start = Server.start

    def noted(server: Server) -> Address:
        servers.append(server)
        return start(server)

    monkeypatch.setattr(Server, "start", noted)

    def send_late(side: UpstreamSide, answer: bytes) -> None:
        time.sleep(0.3)
        side.send(answer)

    with asked_once(answering(*NAMES, after=send_late)) as (_, client):
        client.send(request("get_all_databases"))
        wait_until(lambda: counted.sent == 1)
        stopping = threading.Thread(target=servers[-1].stop, args=(PATIENCE_SECONDS,))
        stopping.start()
        assert client.reply().value == NAMES
        stopping.join()
        assert counted.taken == 1


def test_calls_under_way_end_when_the_gateway_is_stopped_at_once(counted: Counted) -> None:
    def be_silent(side: UpstreamSide, answer: bytes) -> None:
        side.request()

    with asked_once(answering(*NAMES, after=be_silent)) as (_, client):
        client.send(request("get_all_databases"))
        wait_until(lambda: counted.sent == 1)
    assert counted.abandoned == 1


def test_what_waits_for_a_call_goes_on_once_when_a_thread_gets_it() -> None:
    left = []
    unused: Any = None
    call = SentCall(unused, unused, lambda _: None, unused)
    call.when_left = lambda: left.append("left")
    call.hand_over()
    assert left == ["left"]
    call.abandon()
    assert left == ["left"]
