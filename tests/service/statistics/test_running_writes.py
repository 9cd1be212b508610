"""Partial states of runs that died are removed after a time; those of runs that go on are not."""

from pathlib import Path

import pytest

from hmstats.errors import InvalidInput
from hmstats.model.statistics.running_writes import PartialState, Place
from hmstats.service.statistics.running_writes import RunningWrites
from hmstats.store.database.store import Store

HOUR_SECONDS = 3600
DAY_SECONDS = 24 * HOUR_SECONDS


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


def state(task: int) -> PartialState:
    return PartialState(Place("", task, 0, 0), b"state")


def test_only_runs_that_were_silent_for_the_whole_time_are_removed(database_url: str) -> None:
    clock = Clock()
    store = Store.open(database_url, clock=clock)
    writes = RunningWrites(store)
    writes.put("dead", [state(1), state(2)])
    writes.put("alive", [state(1)])
    clock.seconds += DAY_SECONDS
    writes.put("alive", [state(2)])
    assert writes.remove_older(DAY_SECONDS) == 0
    clock.seconds += 1
    assert writes.remove_older(DAY_SECONDS) == 1
    assert writes.page("dead", None) == []
    assert writes.page("alive", None) == [state(1), state(2)]
    clock.seconds += DAY_SECONDS
    assert writes.remove_older(DAY_SECONDS) == 1
    assert writes.page("alive", None) == []
    store.close()


def test_more_runs_than_one_transaction_removes(database_url: str) -> None:
    clock = Clock()
    store = Store.open(database_url, clock=clock)
    writes = RunningWrites(store)
    for number in range(130):
        writes.put(f"run {number}", [state(1)])
    clock.seconds += HOUR_SECONDS + 1
    assert writes.remove_older(HOUR_SECONDS) == 130
    store.close()


def test_a_run_must_have_a_name(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/none.sqlite")
    with pytest.raises(InvalidInput, match="a running write must have a name"):
        RunningWrites(store).remove("")
    store.close()
