import socket
from collections.abc import Iterator

import pytest
from tests.server.requests import request

from hmstats.server.connections.connection import READ, WRITE, Call, Connection
from hmstats.server.messages.encodings import BinaryEncoding
from hmstats.server.messages.request import Request
from hmstats.server.protocols.protocols import PlainProtocol
from hmstats.server.rpc.caller import Session
from hmstats.wire.messages.allowance import Allowance


@pytest.fixture
def pair() -> Iterator[tuple[Connection, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.settimeout(0)
    with ours, theirs:
        yield Connection(ours, Session(1, "peer")), theirs


def test_no_more_is_read_than_may_wait_behind_a_running_call(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    protocol = PlainProtocol(BinaryEncoding(Allowance(1000), lambda _: None))
    connection.call = Call(connection, protocol, Request.of(request("getName")))
    taken = 0
    while connection.wanted_events & READ:
        theirs.sendall(bytes(10_000))
        connection.append(connection.receive() or b"")
        taken += 10_000
        assert taken < 1_000_000, "a client can fill the memory behind a running call"
    assert len(connection.inbox) == taken
    connection.call = None
    assert connection.wanted_events == READ


def test_a_client_that_sends_no_more_is_not_watched_for_reading(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    theirs.sendall(b"last")
    theirs.shutdown(socket.SHUT_WR)
    assert [connection.receive(), connection.receive()] == [b"last", b""]
    assert connection.ended
    assert connection.wanted_events == 0
    connection.outbox = memoryview(b"reply")
    assert connection.wanted_events == WRITE


def test_what_a_socket_does_not_take_is_returned(pair: tuple[Connection, socket.socket]) -> None:
    connection, theirs = pair
    data = bytes(range(256)) * 40_000
    rest = connection.send((data[:100], data[100:]))
    received = bytearray()
    while rest:
        received += theirs.recv(1_000_000)
        rest = connection.send((rest,))
    theirs.settimeout(0)
    while len(received) < len(data):
        received += theirs.recv(1_000_000)
    assert received == data
