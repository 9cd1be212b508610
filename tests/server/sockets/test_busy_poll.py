import os
import selectors
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from hmstats.server.sockets.busy_poll import busy_poll

LONG_SECONDS = 30.0


@pytest.fixture
def ends() -> Iterator[tuple[selectors.BaseSelector, socket.socket]]:
    """A selector, and the socket that makes it ready."""
    here, there = socket.socketpair()
    with selectors.DefaultSelector() as selector, here, there:
        selector.register(here, selectors.EVENT_READ, "data")
        yield selector, there


def offering(monkeypatch: pytest.MonkeyPatch, what: Callable[[int], object]) -> list[int]:
    """Have something happen whenever the processor is offered to others, for the first time and so on."""
    offered: list[int] = []

    def offer() -> None:
        offered.append(len(offered) + 1)
        what(offered[-1])

    monkeypatch.setattr(os, "sched_yield", offer)
    monkeypatch.setattr("hmstats.server.sockets.busy_poll._WANTED_SECONDS", 1.0)
    return offered


def test_what_is_ready_is_there_at_once(
    ends: tuple[selectors.BaseSelector, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = offering(monkeypatch, lambda _: None)
    ends[1].send(b"x")
    assert [key.data for key, _ in busy_poll(ends[0], LONG_SECONDS)] == ["data"]
    assert offered == []


def test_what_comes_soon_is_waited_for(
    ends: tuple[selectors.BaseSelector, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = offering(monkeypatch, lambda number: ends[1].send(b"x") if number == 3 else None)
    assert [key.data for key, _ in busy_poll(ends[0], LONG_SECONDS)] == ["data"]
    assert offered == [1, 2, 3]


def test_who_wants_the_processor_gets_it(
    ends: tuple[selectors.BaseSelector, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = offering(monkeypatch, lambda number: time.sleep(0.02 if number == 3 else 0))
    monkeypatch.setattr("hmstats.server.sockets.busy_poll._WANTED_SECONDS", 0.01)
    assert busy_poll(ends[0], LONG_SECONDS) == []
    assert len(offered) <= 3


def test_it_ends_in_time(ends: tuple[selectors.BaseSelector, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    offered = offering(monkeypatch, lambda _: None)
    assert busy_poll(ends[0], 0.01) == []
    assert offered
    offered.clear()
    ends[1].send(b"x")
    assert busy_poll(ends[0], 0.0) == []
    assert offered == []
