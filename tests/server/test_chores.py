import time
from threading import Event

import pytest
from structlog.testing import capture_logs

from hmstats.errors import StoreUnavailable
from hmstats.server import chores as chores_module
from hmstats.server.chores import Chore, Chores

OFTEN_SECONDS = 0.01
PATIENCE_SECONDS = 30.0


class Counted:
    """Something that is done, perhaps in vain the first time."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.times = 0
        self.twice = Event()

    def do(self) -> None:
        self.times += 1
        if self.times == 2:
            self.twice.set()
        if self.fails and self.times == 1:
            raise StoreUnavailable("the database is away")


def test_a_chore_is_done_again_and_again_until_it_is_stopped() -> None:
    counted = Counted()
    chores = Chores((Chore("counted", counted.do, OFTEN_SECONDS),))
    chores.start()
    assert counted.twice.wait(PATIENCE_SECONDS)
    chores.stop()


def test_a_chore_that_fails_is_told_and_done_again() -> None:
    counted = Counted(fails=True)
    chores = Chores((Chore("counted", counted.do, OFTEN_SECONDS),))
    with capture_logs() as lines:
        chores.start()
        assert counted.twice.wait(PATIENCE_SECONDS)
        chores.stop()
    assert {"chore": "counted", "error": "the database is away"}.items() <= lines[0].items()


def test_nothing_is_done_once_stopped() -> None:
    counted = Counted()
    chores = Chores((Chore("counted", counted.do, OFTEN_SECONDS),))
    chores.stop()
    chores.start()
    assert not counted.twice.wait(10 * OFTEN_SECONDS)
    assert counted.times == 0


def test_what_runs_in_the_end_is_waited_for_but_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores_module, "_PATIENCE_SECONDS", 0.5)
    short, never, began = Event(), Event(), [Event(), Event()]

    def do_something_short() -> None:
        began[0].set()
        time.sleep(0.1)
        short.set()

    def hang() -> None:
        began[1].set()
        never.wait(PATIENCE_SECONDS)

    each = [("hanging", hang), ("short", do_something_short)]
    chores = Chores(tuple(Chore(name, do, every_seconds=600.0, at_once=True) for name, do in each))
    chores.start()
    assert all(event.wait(PATIENCE_SECONDS) for event in began)
    before = time.monotonic()
    chores.stop()
    assert short.is_set()
    assert time.monotonic() - before < PATIENCE_SECONDS / 2
    never.set()


def test_what_can_be_cut_short_is_told_so_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores_module, "_PATIENCE_SECONDS", 0.0)
    told, began, ended = Event(), Event(), Event()

    def do_many_parts() -> None:
        began.set()
        assert told.wait(PATIENCE_SECONDS)
        time.sleep(0.1)
        ended.set()

    chores = Chores((Chore("many", do_many_parts, every_seconds=600.0, at_once=True, cut_short=told.set),))
    chores.start()
    assert began.wait(PATIENCE_SECONDS)
    chores.stop()
    assert ended.is_set()
