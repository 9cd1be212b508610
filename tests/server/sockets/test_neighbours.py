import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from structlog.testing import capture_logs

from hmstats.server.sockets.neighbours import Neighbourhood, Neighbours

PEER = "127.0.0.1:5"


class Street:
    """A neighbourhood of workers that are all in this process."""

    def __init__(self, count: int) -> None:
        self.shared = Neighbourhood(count)
        self._ever: list[Neighbours] = []
        self.workers = [self.moved_in(number) for number in range(count)]

    def moved_in(self, number: int) -> Neighbours:
        """A worker in the place of a number, with file descriptors of its own as a process would have."""
        worker = Neighbours(number, tuple(map(os.dup, self.shared.inherited(number))))
        worker.publish(0)
        self._ever.append(worker)
        return worker

    def close(self) -> None:
        """Give everything back."""
        for worker in self._ever:
            worker.close()
        self.shared.close()

    def has(self, *counts: int) -> None:
        """Have the workers say how many connections they hold."""
        for worker, count in zip(self.workers, counts, strict=True):
            worker.publish(count)


@pytest.fixture
def street() -> Iterator[Street]:
    made = Street(3)
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with ExitStack() as stack:
        ours, theirs = map(stack.enter_context, socket.socketpair())
        yield ours, theirs


def test_a_connection_goes_to_the_worker_that_has_the_fewest(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    accepted, client = pair
    street.has(3, 2, 1)
    assert street.workers[0].hand_over(accepted, PEER)
    assert accepted.fileno() == -1
    assert not list(street.workers[1].handed_over())
    ((taken, peer),) = street.workers[2].handed_over()
    with taken:
        assert peer == PEER
        assert not taken.get_inheritable()
        client.sendall(b"still here")
        assert taken.recv(100) == b"still here"
        with pytest.raises(BlockingIOError):
            taken.recv(100)


@pytest.mark.parametrize(
    ("counts", "goes"),
    [
        ((0, 0, 0), False),
        ((1, 1, 1), False),
        ((1, 1, 0), True),
        ((8, 8, 7), False),
        ((80, 70, 70), False),
        ((80, 69, 70), True),
    ],
)
def test_a_worker_keeps_what_it_accepts_unless_another_has_clearly_fewer(
    street: Street, pair: tuple[socket.socket, socket.socket], counts: tuple[int, int, int], goes: bool
) -> None:
    street.has(*counts)
    assert street.workers[0].hand_over(pair[0], PEER) == goes
    assert (pair[0].fileno() == -1) == goes


def test_what_is_on_its_way_counts_for_the_worker_that_will_have_it(street: Street) -> None:
    street.has(4, 1, 1)
    for _ in range(6):
        ours, theirs = socket.socketpair()
        street.workers[0].hand_over(ours, PEER)
        ours.close()
        theirs.close()
    taken = [list(worker.handed_over()) for worker in street.workers]
    assert [len(each) for each in taken] == [0, 3, 3]
    for connection, _ in [*taken[1], *taken[2]]:
        connection.close()


def test_a_worker_in_the_place_of_one_that_died_finds_what_was_handed_to_that(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    street.has(2, 2, 0)
    assert street.workers[0].hand_over(pair[0], PEER)
    street.shared.vacate(2)
    ((taken, _),) = street.moved_in(2).handed_over()
    taken.close()


def test_nothing_is_handed_to_a_worker_that_died_until_another_is_there(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    street.has(9, 9, 0)
    street.shared.vacate(2)
    assert not street.workers[0].hand_over(pair[0], PEER)
    street.moved_in(2)
    assert street.workers[0].hand_over(pair[0], PEER)


def test_a_worker_that_leaves_still_finds_what_came_before_and_nothing_comes_after(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    street.has(9, 9, 0)
    first, second = socket.socketpair()
    assert street.workers[0].hand_over(first, PEER)
    second.close()
    street.shared.leave(2)
    street.workers[2].publish(0)  # it had not heard of it yet
    assert not street.workers[0].hand_over(pair[0], PEER)
    assert pair[0].fileno() != -1
    ((taken, _),) = street.workers[2].handed_over()
    taken.close()
    assert not list(street.workers[2].handed_over())


def test_a_worker_that_is_being_replaced_says_no_more_what_it_has(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    before, after = street.workers[2], street.moved_in(2)
    street.has(9, 9, 5)
    before.leave()
    assert not street.workers[0].hand_over(pair[0], PEER)
    assert not after.hand_over(pair[0], PEER)  # it has none itself, whatever the other one said
    after.publish(8)
    before.publish(0)
    assert not street.workers[0].hand_over(pair[0], PEER)
    after.publish(7)
    assert street.workers[0].hand_over(pair[0], PEER)


def test_a_full_inbox_takes_no_more(street: Street) -> None:
    street.has(100_000, 100_000, 0)
    clients: list[socket.socket] = []
    handed = True
    while handed and len(clients) < 5_000:
        ours, theirs = socket.socketpair()
        handed = street.workers[0].hand_over(ours, PEER)
        ours.close()
        clients.append(theirs)
    assert not handed
    taken = [connection for _ in range(50) for connection, _ in street.workers[2].handed_over()]
    assert len(taken) == len(clients) - 1
    for each in [*taken, *clients]:
        each.close()


def test_a_connection_that_finds_no_room_is_closed_and_said(
    street: Street, pair: tuple[socket.socket, socket.socket]
) -> None:
    street.has(9, 9, 0)
    assert street.workers[0].hand_over(pair[0], PEER)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with capture_logs() as events:
            assert not list(street.workers[2].handed_over())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [(each["event"], each["peer"]) for each in events] == [("connection_lost", PEER)]
    assert pair[1].recv(1) == b""
