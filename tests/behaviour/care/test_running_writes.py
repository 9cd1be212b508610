"""Partial states of running writes: kept by run, read piece by piece, removed at the end or when a run has died."""

from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.thrift import TClient
from thriftpy2.transport import TSocket
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.client.connection.address import Address
from hmstats.client.connection.connection import Connection
from hmstats.client.running_writes import RunningWriteCalls
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.service.statistics.running_writes import STATES_A_PAGE
from hmstats.wire.idl import EXTENDED_SERVICE, extension
from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def client(our_metastore: Metastore) -> RunningWriteCalls:
    connection = Connection([Address("127.0.0.1", our_metastore.port)], timeout_seconds=60, retries=0)
    our_metastore.clients.callback(connection.close)
    return RunningWriteCalls(connection)


def state(piece: str, task: int, *, attempt: int = 0, number: int = 0, content: bytes = b"\x00\xff") -> PartialState:
    return PartialState(Place(piece, task, attempt, number), content)


def test_states_come_back_piece_by_piece_in_the_order_of_bytes(
    our_metastore: Metastore, client: RunningWriteCalls
) -> None:
    run = our_metastore.database
    given = [state(piece, task) for task, piece in enumerate(("k=b", "k=B", "k=a/j=1", "k=a", "", "k=ä", "k=b"))]
    client.put(run, given[:3])
    client.put(run, given[3:])
    found = list(client.states(run))
    assert found == sorted(given)
    assert [each.place.piece for each in found] == ["", "k=B", "k=a", "k=a/j=1", "k=b", "k=b", "k=ä"]


def test_a_state_that_is_put_again_is_kept_once(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    run = our_metastore.database
    for content in (b"first", b"second"):
        client.put(run, [state("", 3, content=content), state("k=1", 3, number=1, content=content)])
    assert list(client.states(run)) == [state("", 3, content=b"second"), state("k=1", 3, number=1, content=b"second")]


def test_every_attempt_of_a_task_is_kept_apart(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    given = [state("", 3, attempt=attempt) for attempt in (0, 7, 2**62)]
    client.put(our_metastore.database, given)
    assert list(client.states(our_metastore.database)) == given


def test_many_states_come_in_pages(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    given = [state(f"k={number % 7}", number) for number in range(2 * STATES_A_PAGE)]
    client.put(our_metastore.database, given)
    assert list(client.states(our_metastore.database)) == sorted(given)


def test_runs_do_not_see_each_other_and_are_removed_alone(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    one, other = f"{our_metastore.database}-1", f"{our_metastore.database}-2"
    client.put(one, [state("", 1), state("", 2)])
    client.put(other, [state("", 1)])
    assert client.remove(one) == 2
    assert client.remove(one) == 0
    assert list(client.states(one)) == []
    assert list(client.states(other)) == [state("", 1)]


def test_a_run_of_nothing(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    client.put(our_metastore.database, [])
    assert list(client.states(our_metastore.database)) == []


_PLACE = {"piece": "", "task": 0, "attempt": 0, "number": 0}


def struct(content: bytes | None = b"x", **place: Any) -> Any:
    return extension.PartialState(place=extension.PartialPlace(**{**_PLACE, **place}), state=content)


@pytest.mark.parametrize(
    ("run", "structs"),
    [
        ("", []),
        (None, []),
        ("r" * 129, [struct()]),
        ("r", [extension.PartialState(state=b"x")]),
        ("r", [struct(b"")]),
        ("r", [struct(None)]),
        ("r", [struct(piece=None)]),
        ("r", [struct(task=-1)]),
        ("r", [struct(number=None)]),
        ("r", [struct(), struct(piece="k=1")]),
    ],
)
def test_states_that_are_not_whole_are_refused(
    our_metastore: Metastore, client: RunningWriteCalls, run: str | None, structs: list[Any]
) -> None:
    with pytest.raises((api.InvalidInputException, api.MetaException)):
        _raw(our_metastore).put_partial_states(extension.PutPartialStatesRequest(runId=run, states=structs))
    assert list(client.states("r")) == []


def test_what_is_kept_touches_no_table(our_metastore: Metastore, client: RunningWriteCalls) -> None:
    our_metastore.table()
    before = our_metastore.parameters()
    client.put(our_metastore.database, [state("k=1", 1)])
    assert our_metastore.parameters() == before


def _raw(metastore: Metastore) -> Any:
    transport = TCyBufferedTransport(TSocket("127.0.0.1", metastore.port, socket_timeout=60_000))
    transport.open()
    made = TClient(EXTENDED_SERVICE, TCyBinaryProtocol(transport))
    metastore.clients.callback(made.close)
    return made
