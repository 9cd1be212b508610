"""A connection is made again when it breaks, gives up in the end, and passes on what the metastore says."""

import contextlib
import getpass
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.client.flaky import closed_port, dropping, silent
from tests.server.serving import Address, echo, serving

from hmstats.client.connection.address import Address as MetastoreAddress
from hmstats.client.connection.connection import Connection
from hmstats.errors import CallRefused, NoSuchObject, ServiceUnavailable, StoreUnavailable
from hmstats.server.calls.dispatch import Dispatcher
from hmstats.server.server import Server
from hmstats.wire.idl import methods


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The longest that the pauses could have been that would have been made."""
    pauses: list[float] = []
    monkeypatch.setattr("hmstats.client.connection.connection.sleep", pauses.append)
    monkeypatch.setattr("hmstats.client.connection.connection.random.uniform", lambda _, longest: longest)
    return pauses


def test_a_call_is_answered_and_the_caller_named() -> None:
    users: list[str] = []

    def set_ugi(_: object, user_name: str, group_names: list[str]) -> list[str]:
        users.append(user_name)
        return [user_name]

    with serving(set_ugi=set_ugi) as address:
        asking = opened(address)
        assert asking.call("getOption", "x") == "x"
        assert asking.call("getOption", "y") == "y"
        asking.close()
    assert users == [getpass.getuser()]


def test_a_broken_connection_is_made_again(no_pauses: list[float]) -> None:
    with serving(set_ugi=answer_ugi) as target, dropping(target, drops=2) as address:
        asking = opened(address, retries=2)
        assert asking.call("getOption", "x") == "x"
        asking.close()
    assert no_pauses == [0.2, 0.4]


def test_it_gives_up_after_the_retries(no_pauses: list[float]) -> None:
    gives_up = pytest.raises(ServiceUnavailable, match="broke in getOption")
    with serving(set_ugi=answer_ugi) as target, dropping(target, drops=9) as address, gives_up:
        opened(address, retries=3).call("getOption", "x")
    assert no_pauses == [0.2, 0.4, 0.8]


def test_the_next_address_is_tried_without_a_pause(no_pauses: list[float]) -> None:
    with serving(set_ugi=answer_ugi) as address:
        asking = opened(closed_port(), address, retries=0)
        assert asking.call("getOption", "x") == "x"
        assert asking.address == MetastoreAddress(*address)
        asking.close()
    assert no_pauses == [0.0]


def test_a_machine_that_vanished_is_not_waited_for_as_long_as_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    connect, limits = socket.create_connection, list[float]()

    def slow(target: Address, limit_seconds: float) -> socket.socket:
        limits.append(limit_seconds)
        if len(limits) == 1:
            raise TimeoutError("timed out")
        return connect(target, limit_seconds)

    with serving(set_ugi=answer_ugi) as address:
        monkeypatch.setattr("hmstats.client.connection.connection.socket.create_connection", slow)
        asking = Connection([MetastoreAddress("gone", 9083), MetastoreAddress(*address)], timeout_seconds=99, retries=0)
        assert asking.call("getOption", "x") == "x"
        asking.close()
    assert limits == [10, 10]


def test_a_metastore_that_is_away_is_named() -> None:
    host, port = closed_port()
    with pytest.raises(ServiceUnavailable, match=f"no metastore can be reached at thrift://{host}:{port}: Connection"):
        opened((host, port), retries=1).call("getOption", "x")


def test_a_late_answer_is_not_asked_for_again(no_pauses: list[float]) -> None:
    with silent() as address:
        asking = Connection([MetastoreAddress(*address)], timeout_seconds=0.1, retries=5)
        with pytest.raises(ServiceUnavailable, match=r"did not answer getOption in 0\.1 seconds"):
            asking.call("getOption", "x")
    assert no_pauses == []


def test_with_patience_a_late_answer_is_asked_for_again(no_pauses: list[float]) -> None:
    with silent() as late, serving(set_ugi=answer_ugi) as address:
        asking = patient(late, address, timeout_seconds=0.1)
        assert asking.call("getOption", "x") == "x"
        asking.close()
    assert no_pauses == [0.0]


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("hmstats.client.connection.connection.monotonic", lambda: clock[0])
    monkeypatch.setattr(
        "hmstats.client.connection.connection.sleep", lambda seconds: clock.append(clock.pop() + seconds)
    )
    with pytest.raises(ServiceUnavailable, match="no metastore can be reached"):
        patient(closed_port(), patience_seconds=60).call("getOption", "x")
    # 0.2 doubled up to 10 and then 10 again and again; the next pause would end after the minute.
    assert clock == [pytest.approx(0.2 + 0.4 + 0.8 + 1.6 + 3.2 + 6.4 + 4 * 10)]


def test_no_answer_is_waited_for_longer_than_patience_lasts() -> None:
    with (
        silent() as late,
        pytest.raises(ServiceUnavailable, match=r"did not answer set_ugi in 0\.\d+ seconds|getOption"),
    ):
        patient(late, timeout_seconds=1000, patience_seconds=0.3).call("getOption", "x")


@pytest.mark.slow
def test_an_internal_error_may_pass(no_pauses: list[float]) -> None:
    answers = iter(["down", "down", "up"])

    def unsteady(*_: object, **__: object) -> str:
        if (answer := next(answers, "down")) == "up":
            return answer
        raise ZeroDivisionError("by chance")

    with serving(set_ugi=answer_ugi, getOption=unsteady) as address:
        asking, hasty = patient(address), opened(address, retries=3)
        assert asking.call("getOption", "x") == "up"
        with pytest.raises(CallRefused, match="TApplicationException: Internal error processing getOption"):
            asking.call("getOption", "x")
        with pytest.raises(CallRefused, match="TApplicationException"):
            hasty.call("getOption", "x")
        asking.close()
        hasty.close()
    assert no_pauses == [0.2, 0.4, 0.2, 0.4, 0.8]


def test_a_metastore_whose_database_is_away_is_asked_again_and_others_too(no_pauses: list[float]) -> None:
    away = [StoreUnavailable("database x does not answer")] * 3

    def read(*_: object, **__: object) -> list[str]:
        if away:
            raise away.pop()
        return ["d"]

    one_server, other_server = (serving(set_ugi=answer_ugi, get_all_databases=read) for _ in range(2))
    with one_server as one, other_server as other:
        asking = opened(one, other, retries=1)
        assert asking.call("get_all_databases") == ["d"]
        assert asking.address == MetastoreAddress(*other)
        away.extend([StoreUnavailable("database x does not answer")] * 9)
        with pytest.raises(ServiceUnavailable, match="cannot answer get_all_databases now: database x does not answer"):
            asking.call("get_all_databases")
        asking.close()
    assert no_pauses == [0.0, 0.2, 0.0] * 2
    assert len(away) == 5


def test_pauses_differ_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    asking = opened(closed_port(), retries=5)
    made = [list(asking._pauses_seconds()) for _ in range(2)]
    assert made[0] != made[1]
    for pauses in made:
        assert all(
            longest / 2 <= pause <= longest for pause, longest in zip(pauses, [0.2, 0.4, 0.8, 1.6, 3.2], strict=False)
        )


def test_addresses_take_over_from_each_other() -> None:
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        places = [stack.enter_context(serving(set_ugi=answer_ugi)) for stack in (first, second)]
        asking = opened(*places, retries=1)
        assert (asking.call("getOption", "x"), asking.address.port) == ("x", places[0][1])
        first.close()
        assert (asking.call("getOption", "y"), asking.address.port) == ("y", places[1][1])
        first.enter_context(serving_at(places[0]))
        second.close()
        assert (asking.call("getOption", "z"), asking.address.port) == ("z", places[0][1])
        first.close()
        with pytest.raises(ServiceUnavailable):
            asking.call("getOption", "x")


def test_a_declared_exception_is_a_refusal_and_the_connection_lives() -> None:
    def missing(*_: object, **__: object) -> Any:
        raise NoSuchObject("no such table")

    with serving(set_ugi=answer_ugi, get_table=missing) as address:
        asking = opened(address)
        with pytest.raises(CallRefused, match="get_table: NoSuchObjectException: no such table") as refusal:
            asking.call("get_table", "d", "t")
        assert refusal.value.kind == "NoSuchObjectException"
        assert asking.call("getOption", "x") == "x"
        asking.close()


def test_an_unknown_method_is_a_refusal() -> None:
    with serving(set_ugi=answer_ugi) as address:
        asking = opened(address)
        with pytest.raises(CallRefused, match="Invalid method name: 'get_all_functions'"):
            asking.call("get_all_functions")
        asking.close()


def test_a_closed_connection_opens_again() -> None:
    with serving(set_ugi=answer_ugi) as address:
        asking = opened(address)
        for _ in range(2):
            assert asking.call("getOption", "x") == "x"
            asking.close()
        asking.close()


def opened(*addresses: Address, retries: int = 0) -> Connection:
    return Connection([MetastoreAddress(*each) for each in addresses], timeout_seconds=20, retries=retries)


def patient(*addresses: Address, timeout_seconds: float = 20, patience_seconds: float = 1000) -> Connection:
    return Connection(
        [MetastoreAddress(*each) for each in addresses],
        timeout_seconds=timeout_seconds,
        retries=3,
        patience_seconds=patience_seconds,
    )


def answer_ugi(*_: object, **__: object) -> list[str]:
    return []


@contextlib.contextmanager
def serving_at(address: Address) -> Iterator[None]:
    """A server on a port that another had."""
    server = Server(address, Dispatcher(methods(), {"getOption": echo, "set_ugi": answer_ugi}))
    server.start()
    yield
    server.stop(0)
