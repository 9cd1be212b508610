import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.gateway.gateways import wait_until
from tests.server.serving import PATIENCE_SECONDS

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.places import slots as slots_module
from hmstats.gateway.places.slots import Slots


class Clock:
    """The time as a test sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(slots_module, "time", made)
    return made


@contextmanager
def taken(slots: Slots) -> Iterator[threading.Event]:
    """A place that another thread has until the event is set."""
    has, end = threading.Event(), threading.Event()

    def hold() -> None:
        with slots.take():
            has.set()
            assert end.wait(PATIENCE_SECONDS)

    holder = threading.Thread(target=hold)
    holder.start()
    assert has.wait(PATIENCE_SECONDS)
    try:
        yield end
    finally:
        end.set()
        holder.join(PATIENCE_SECONDS)


def test_no_more_calls_than_places_and_a_further_one_gets_the_place_of_one_that_ends() -> None:
    slots = Slots("eu", 1, patience_seconds=PATIENCE_SECONDS)
    got = threading.Event()

    def wait_for_place() -> None:
        with slots.take():
            got.set()

    with taken(slots) as end:
        waiting = threading.Thread(target=wait_for_place)
        waiting.start()
        assert not got.wait(0.2)
        end.set()
        assert got.wait(PATIENCE_SECONDS)
        waiting.join(PATIENCE_SECONDS)


def test_a_call_that_waits_too_long_is_refused_with_the_upstreams_name() -> None:
    slots = Slots("eu", 1, patience_seconds=0.1)
    with (
        taken(slots),
        pytest.raises(UpstreamUnavailable, match="upstream eu has 1 calls to answer and is too slow"),
        slots.take(),
    ):
        pytest.fail("there was no place")
    with slots.take():
        pass  # the place is there again


def test_while_no_call_has_ended_for_long_a_further_one_does_not_wait(clock: Clock) -> None:
    slots = Slots("eu", 2, patience_seconds=5.0)
    with taken(slots), taken(slots):
        clock.now += 5.1
        with pytest.raises(UpstreamUnavailable), slots.take():  # with this clock it would wait without end
            pytest.fail("there was no place")


def test_an_upstream_that_was_idle_for_long_does_not_count_as_hanging(clock: Clock) -> None:
    slots = Slots("eu", 1, patience_seconds=5.0)
    clock.now += 3600
    got = threading.Event()

    def wait_for_place() -> None:
        with slots.take():
            got.set()

    with taken(slots) as end:
        waiting = threading.Thread(target=wait_for_place)
        waiting.start()
        wait_until(waiting.is_alive)
        assert not got.wait(0.1)
        end.set()
        waiting.join(PATIENCE_SECONDS)
        assert got.is_set()


def test_a_call_that_fails_gives_its_place_back() -> None:
    slots = Slots("eu", 1, patience_seconds=0.1)
    for _ in range(3):
        with pytest.raises(KeyError), slots.take():
            raise KeyError
