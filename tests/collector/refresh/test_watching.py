"""Following the notification log: a table is refreshed when nobody has written to it for the quiet time."""

import threading
import time
from collections.abc import Callable, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.client import connect, events
from hmstats.collector.refresh import watching
from hmstats.collector.refresh.round import Refresher
from hmstats.collector.refresh.watching import Watch
from hmstats.collector.report import Report
from hmstats.errors import ServiceUnavailable
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.health.refresh_request import RefreshRequest
from hmstats.model.health.runs import Outcome
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

COLUMNS = {"l": "bigint"}
QUIET = 60.0
_rows = count(1_000, 5_000)


def put_statistics(metastore: Metastore, table: str) -> None:
    numbers = StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=0, high=9, nulls=0, ndv=9)),))
    with connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.put_table_statistics(f"{metastore.database}.{table}", numbers)


def write(metastore: Metastore, table: str) -> None:
    """What an engine says when it has written: another number of rows."""
    found = metastore.read_table(table)
    found.parameters["numRows"] = str(next(_rows))
    metastore.client().alter_table(metastore.database, table, found)


def watch(metastore: Metastore, analyse: Callable[[str], None], quiet: float = QUIET) -> Watch:
    def analysed(name: TableName, _: Sequence[str], __: bool) -> Any:
        analyse(name.table)
        return Report(name, None, 1, 1, {}, {})

    wanted = RefreshRequest(((DatabaseName("hive", metastore.database), None),), quiet_seconds=quiet, look_seconds=None)
    return Watch(Refresher(f"thrift://127.0.0.1:{metastore.port}", analysed, wanted), pause_seconds=0.05)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still until it is told."""
    found = SimpleNamespace(now=100.0)
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: found.now))
    return found


def test_a_table_is_busy_until_the_quiet_time_is_over(
    our_metastore: Metastore, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_EVENTS_A_CALL", 2)
    our_metastore.table("before", COLUMNS)
    watched = watch(our_metastore, lambda _: None)

    def busy() -> dict[str, float]:
        return {each.table: at for each, at in watched.busy().items() if each.database == our_metastore.database}

    assert busy() == {}  # what has happened before is no news
    our_metastore.table("t", COLUMNS)
    our_metastore.table("u", COLUMNS)
    for _ in range(7):
        write(our_metastore, "t")
    assert busy() == {"t": 0, "u": 0}
    clock.now += QUIET - 1
    assert busy() == {"t": QUIET - 1, "u": QUIET - 1}
    write(our_metastore, "t")
    numbers = statistics(our_metastore, statistics_of("l", numDVs=3), table="u")
    our_metastore.client().update_table_column_statistics(numbers)  # which is no change of its data
    clock.now += 1
    assert busy() == {"t": 0}
    our_metastore.table("v", COLUMNS)
    assert busy() == {"t": 0, "v": 0}
    clock.now += QUIET - 1
    planned = watched.refresher.plan(watched.busy())
    assert {each.table.table for each in planned.plan.taken} == {"before"}
    assert {name.table: reason for name, reason in planned.skipped.items()} == {"v": "written to 59 s ago"}
    clock.now += 1
    assert busy() == {}
    assert {each.table.table for each in watched.refresher.plan(watched.busy()).plan.taken} == {"before", "v"}


@pytest.mark.slow
def test_a_table_is_refreshed_after_its_last_write_alone(our_metastore: Metastore) -> None:
    quiet, written, begun = 1.0, [0.0], list[tuple[str, float]]()
    our_metastore.table("t", COLUMNS)

    def analyse(table: str) -> None:
        begun.append((table, time.monotonic() - written[0]))
        put_statistics(our_metastore, table)

    watched = watch(our_metastore, analyse, quiet)
    outcomes: list[Outcome | None] = []

    def follow() -> None:
        outcomes.extend(done.outcome for done in watched.rounds())

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        wait_for(lambda: len(begun) == 1)
        for _ in range(12):
            written[0] = time.monotonic()
            write(our_metastore, "t")
            time.sleep(quiet / 5)
        wait_for(lambda: len(begun) == 2)
    finally:
        watched.refresher.stop.set()
        thread.join()
    assert begun[1][1] >= quiet
    assert outcomes == [Outcome.DONE, Outcome.DONE]


def test_a_metastore_that_is_away_is_asked_again(our_metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    our_metastore.table("t", COLUMNS)
    watched = watch(our_metastore, lambda table: put_statistics(our_metastore, table))
    real, failures = Watch.busy, iter([True, True])

    def busy(self: Watch) -> dict[TableName, float]:
        if next(failures, False):
            raise ServiceUnavailable("away")
        return real(self)

    monkeypatch.setattr(Watch, "busy", busy)
    for done in watched.rounds():
        assert done.outcome is Outcome.DONE
        watched.refresher.stop.set()
    assert list(failures) == []


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)
