import time

from hmstats.server.connections.deadlines import Deadlines

LATER = 3600.0


def test_those_whose_time_is_up_come_out_once_and_in_order() -> None:
    deadlines = Deadlines[str](LATER)
    for name in "abcd":
        deadlines.start(name)
    deadlines.stop("b")
    deadlines.stop("b")
    deadlines.restart("a")
    assert list(deadlines.expired(time.monotonic())) == []
    assert list(deadlines.expired(time.monotonic() + LATER + 1)) == ["c", "d", "a"]
    assert deadlines.next() is None


def test_a_deadline_that_runs_is_not_moved_by_another_start() -> None:
    deadlines = Deadlines[str](LATER)
    deadlines.start("a")
    first = deadlines.next()
    deadlines.start("a")
    assert deadlines.next() == first


def test_without_a_limit_nothing_expires() -> None:
    deadlines = Deadlines[str](None)
    deadlines.start("a")
    assert deadlines.next() is None
    assert list(deadlines.expired(time.monotonic() + LATER)) == []
