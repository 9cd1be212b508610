"""Writes of one table that come while another writes to it are done together, as if one after the other."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table

from hmstats.errors import StoreUnavailable
from hmstats.model.events import Event, Notification, StatisticsUpdated
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField
from hmstats.service.statistics.writing.plain_writes import PlainWrites
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store
from hmstats.store.statistics import column_statistics, details, table_facts

PATIENCE_SECONDS = 30.0


@pytest.fixture
def plain(store: Store, tmp_path: Path) -> PlainWrites:
    make_table(store, tmp_path, [1, 2, 3, 4])
    return StatisticsWriter(store).plain


def longs(partition: str | None, ndv: int | None, column: str = "l") -> StatisticsByField:
    group = FieldValues(Kind.LONG, [0], {"low": [1], "high": [9], "nulls": [0], "ndv": [ndv]})
    return StatisticsByField([partition], "hive", [KindOfColumn(column, "bigint", Kind.LONG)], [group])


@contextmanager
def waiting(store: Store, plain: PlainWrites, given: Sequence[StatisticsByField]) -> Iterator[list["Future[bool]"]]:
    """What becomes of writes that have come, in this order, before anybody's turn."""
    with ThreadPoolExecutor(len(given)) as threads:
        running = []
        with store.hold_mutex(NAME):
            for each in given:
                of_table = each.partitions == [None]
                running.append(threads.submit(plain.write, NAME, each, of_table=of_table, author="ada"))
                until = time.monotonic() + PATIENCE_SECONDS
                while sum(map(len, plain._waiting._waiting.values())) < len(running):
                    assert time.monotonic() < until
                    time.sleep(0.001)
        yield running


def written(store: Store, plain: PlainWrites, given: Sequence[StatisticsByField]) -> list[bool]:
    with waiting(store, plain, given) as running:
        return [each.result(PATIENCE_SECONDS) for each in running]


def version(store: Store) -> int:
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
    assert target is not None
    return target.version


def stored(store: Store) -> dict[str, Any]:
    """The ndv of each partition's l."""
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        found = column_statistics.read_partitions(connection, target.id, None, ["l"], "hive")
    return {name: sets[0].columns[0].data.ndv for name, sets in found.items()}  # type: ignore[union-attr]


def test_all_that_wait_are_one_transaction(store: Store, plain: PlainWrites, statements: StatementCounter) -> None:
    assert written(store, plain, [longs("p=4", 4)])  # takes ids
    counts = []
    for names in (["p=1"], ["p=1", "p=2", "p=3"]):
        before = version(store)
        with statements() as run:
            assert all(written(store, plain, [longs(name, 7 + int(name[-1])) for name in names]))
        assert version(store) == before + 1
        counts.append(len(run))
    assert counts[0] == counts[1]
    assert stored(store) == {"p=1": 8, "p=2": 9, "p=3": 10, "p=4": 4}
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        found = details.read_partitions(connection, target.id, None, None)
        assert [each.provenance and each.provenance.writer for each in found] == ["ada"] * 4


def test_of_two_of_the_same_the_later_is_left(store: Store, plain: PlainWrites) -> None:
    before = version(store)
    assert written(store, plain, [longs("p=1", 5), longs("p=1", 6), longs("p=1", 7)]) == [True] * 3
    assert stored(store) == {"p=1": 7}
    assert version(store) == before + 1
    # Bounds that are unknown leave those that were said before, so these two cannot be one.
    assert written(store, plain, [longs("p=1", 8), longs("p=1", None)]) == [True] * 2
    assert stored(store) == {"p=1": None}
    assert version(store) == before + 3


def test_the_table_is_another_subject_than_its_partitions(store: Store, plain: PlainWrites) -> None:
    before = version(store)
    given = [longs(None, 5), longs("p=1", 6), longs(None, 7), longs("p=2", 8)]
    assert written(store, plain, given) == [True] * 4
    assert stored(store) == {"p=1": 6, "p=2": 8}
    assert version(store) == before + 2


def test_what_does_not_fit_keeps_nothing_from_the_others(store: Store, plain: PlainWrites) -> None:
    given = [longs("p=1", 5), longs("p=9", 6), longs("p=2", -7), longs("p=3", 8)]
    assert written(store, plain, given) == [True, False, False, True]
    assert stored(store) == {"p=1": 5, "p=3": 8}
    assert written(store, plain, [longs("p=1", 9), longs("p=2", 9, column="m")]) == [True, True]
    assert stored(store)["p=1"] == 9


def test_what_is_remembered_of_a_table_is_what_the_next_writer_finds(store: Store, plain: PlainWrites) -> None:
    for given in (longs(None, 5), longs("p=1", 6), longs(None, 7, column="m"), longs("p=2", 8)):
        assert written(store, plain, [given]) == [True]
        found = store.write(lambda unit: table_facts.lock(unit, NAME))
        assert found is not None
        assert plain._last_written.table(NAME) == found


def test_each_write_is_an_event(store: Store, plain: PlainWrites) -> None:
    events = list[Event]()

    def note(event: Event, _now_seconds: int) -> Notification:
        events.append(event)
        return Notification("", "", "", None, "", "")

    store.enable_log(note)
    given = [longs("p=1", 5), longs("p=1", 6), longs("p=2", 7)]
    assert written(store, plain, given) == [True] * 3
    assert written(store, plain, [longs(None, 8), longs(None, 9)]) == [True] * 2
    found = [each for each in events if isinstance(each, StatisticsUpdated)]
    said = [(each.statistics.partition, each.statistics.columns[0].data.ndv) for each in found]  # type: ignore[union-attr]
    assert said == [("p=1", 5), ("p=1", 6), ("p=2", 7), (None, 8), (None, 9)]


@pytest.mark.parametrize("error", [StoreUnavailable("database d was lost"), RuntimeError("a bug")])
def test_nobody_waits_for_ever_for_one_who_failed(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(_: Any) -> Any:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(store, "write", fail)
        with waiting(store, plain, [longs("p=1", 5), longs("p=2", 6)]) as running:
            found = [each.exception(PATIENCE_SECONDS) for each in running]
    assert None not in found
    assert error in found
    if isinstance(error, StoreUnavailable):
        assert found == [error, error]
    assert written(store, plain, [longs("p=1", 5), longs("p=2", 6)]) == [True, True]
    assert stored(store) == {"p=1": 5, "p=2": 6}


def test_one_whose_turn_does_not_come_in_time_goes_on(store: Store, plain: PlainWrites) -> None:
    store.patience_seconds = 0.01
    with store.hold_mutex(NAME):
        assert plain.write(NAME, longs("p=1", 5), of_table=False)
    assert stored(store) == {"p=1": 5}
