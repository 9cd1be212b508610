"""Events of statistics: with the table as it is, which is not read again while nobody else has changed it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table

from hmstats.model.catalog.objects import Table
from hmstats.model.events import Event, Notification, StatisticsDeleted, StatisticsUpdated
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

Events = list[Event]


@pytest.fixture
def events(store: Store, tmp_path: Path) -> Events:
    """What is recorded from now on, of a table with two partitions."""
    make_table(store, tmp_path, [0, 1])
    found: Events = []

    def note(event: Event, _now_seconds: int) -> Notification:
        found.append(event)
        return Notification("", "", "", None, "", "")

    store.enable_log(note)
    return found


def of(column: str, partition: str | None = None) -> StatisticsSet:
    return StatisticsSet(
        (ColumnStatistics(column, "bigint", LongStatistics(low=0, high=1, nulls=0, ndv=2)),), partition
    )


def read(store: Store, folder: Path) -> Table:
    return Tables(store, Warehouse(str(folder))).get(NAME)


def only(events: Events) -> Any:
    (event,) = events
    events.clear()
    return event


def test_the_table_is_told_as_it_is_now(store: Store, tmp_path: Path, events: Events) -> None:
    writer = StatisticsWriter(store)
    for column in ("l", "l", "m"):
        writer.update_table(NAME, of(column))
        event = only(events)
        assert isinstance(event, StatisticsUpdated)
        assert (event.table, event.parameters) == (read(store, tmp_path), read(store, tmp_path).parameters)
    assert Accurate.parse(event.parameters[PARAMETER]).columns == {"l", "m"}


def test_a_change_by_others_is_seen(store: Store, tmp_path: Path, events: Events) -> None:
    writer = StatisticsWriter(store)
    writer.update_table(NAME, of("l"))
    changed = read(store, tmp_path)
    TableAlterations(store, Warehouse(str(tmp_path))).alter(
        NAME, replace(changed, parameters={**changed.parameters, "new": "1"})
    )
    events.clear()
    writer.update_partitions(NAME, [of("l", "p=0")])
    assert only(events).table.parameters["new"] == "1"


def test_a_unit_that_failed_is_not_remembered(store: Store, tmp_path: Path, events: Events) -> None:
    writer = StatisticsWriter(store)
    writer.update_table(NAME, of("l"))
    events.clear()

    def fail(_event: Event, _now_seconds: int) -> Notification:
        raise ValueError("no")

    keep = store._encode
    assert keep is not None
    store.enable_log(fail)
    with pytest.raises(ValueError, match="no"):
        writer.update_table(NAME, of("m"))
    store.enable_log(keep)
    writer.update_table(NAME, of("l"))
    assert only(events).table == read(store, tmp_path)


def test_writing_again_costs_the_event_alone(
    store: Store, tmp_path: Path, events: Events, statements: StatementCounter
) -> None:
    unlogged = Store.open(_url(store))
    unlogged.enable_history()
    logging, silent = StatisticsWriter(store), StatisticsWriter(unlogged)
    for writer in (logging, silent, logging):
        writer.update_table(NAME, of("l"))
    with statements() as with_log:
        logging.update_table(NAME, of("l"))
    with statements() as without:
        silent.update_table(NAME, of("l"))
    unlogged.close()
    assert len(with_log) - len(without) == (3 if "sqlite" in store.name else 0)


def _url(store: Store) -> str:
    return store._pools.writers.url.render_as_string(hide_password=False)


def test_partitions_are_told_one_by_one_with_their_marks(store: Store, events: Events) -> None:
    writer = StatisticsWriter(store)
    writer.update_partitions(NAME, [of("l", "p=0"), of("l", "p=1"), of("m", "p=1")])
    assert [each.values for each in events if isinstance(each, StatisticsUpdated)] == [("0",), ("1",)]
    last = events[-1]
    assert isinstance(last, StatisticsUpdated)
    assert [each.column for each in last.statistics.columns] == ["l", "m"]
    assert Accurate.parse(last.parameters[PARAMETER]).columns == {"l", "m"}


def test_deleted_statistics_are_told_by_column_and_partition(store: Store, events: Events) -> None:
    writer = StatisticsWriter(store)
    writer.delete_table(NAME, ["l", "m"], None)
    writer.delete_table(NAME, None, None)
    writer.delete_partitions(NAME, ["p=1", "p=7"], ["l"], None)
    assert events == [
        StatisticsDeleted(NAME, "l"),
        StatisticsDeleted(NAME, "m"),
        StatisticsDeleted(NAME, None),
        StatisticsDeleted(NAME, "l", "p=1", ("1",)),
    ]


@pytest.mark.parametrize("names", [["l"] * 5_000, [*(f"nope{each}" for each in range(5_000)), "l", "m"]])
def test_an_event_is_told_of_each_column_that_is_there_once(store: Store, events: Events, names: list[str]) -> None:
    writer = StatisticsWriter(store)
    deleted = ["l", "m"] if "m" in names else ["l"]
    writer.delete_table(NAME, names, None)
    assert events == [StatisticsDeleted(NAME, column) for column in deleted]
    events.clear()
    writer.delete_partitions(NAME, ["p=1"] * 5_000, [*names, "p"], None)
    assert events == [StatisticsDeleted(NAME, column, "p=1", ("1",)) for column in [*deleted, "p"]]


def test_names_that_no_column_has_delete_nothing(store: Store, events: Events, statements: StatementCounter) -> None:
    writer = StatisticsWriter(store)
    writer.update_table(NAME, of("l"))
    writer.update_partitions(NAME, [of("l", "p=1")])
    events.clear()
    with statements() as deleting:
        writer.delete_table(NAME, ["nope", "p"], None)
        writer.delete_partitions(NAME, None, ["nope"], None)
    assert not events
    assert not [each for each in deleting if each.startswith("DELETE")]
    assert StatisticsReader(store).table_column(NAME, "l").statistics
