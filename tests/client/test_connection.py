"""A connection is made again when it breaks, gives up in the end, and passes on what the metastore says."""

import getpass
from typing import Any

import pytest
from tests.client.flaky import closed_port, dropping, silent
from tests.server.serving import Address, serving

from hmstats.client.address import Address as MetastoreAddress
from hmstats.client.connection import Connection
from hmstats.errors import CallRefused, NoSuchObject, ServiceUnavailable


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that would have been made."""
    pauses: list[float] = []
    monkeypatch.setattr("hmstats.client.connection.sleep", pauses.append)
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


def answer_ugi(*_: object, **__: object) -> list[str]:
    return []
