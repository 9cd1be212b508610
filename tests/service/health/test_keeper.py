"""The keeper of health: what it looks at, and that nothing is passed over."""

from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import delete
from tests.fixtures.statements import StatementCounter
from tests.service.statistics.filled import NAME, TYPES, make_table

from hmstats.model.catalog.objects import Column, Storage, Table
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.health import keeper
from hmstats.service.health.keeper import HealthKeeper
from hmstats.service.health.listing import HealthListing, ListSelection
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.schema import NOTIFICATION_LOG
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_TABLES
from hmstats.store.unit.unit import Unit
from hmstats.wire.events.event_messages import encoder

PARTITIONS = range(30)


@pytest.fixture(params=["log", "no log"])
def kept(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Store:
    """A store with a table of partitions, whose keeper follows the log, or the versions of tables."""
    if request.param == "log":
        store.enable_log(encoder(sketches=False))
    make_table(store, tmp_path, PARTITIONS)
    return store


@pytest.fixture
def logged(store: Store, tmp_path: Path) -> Store:
    store.enable_log(encoder(sketches=False))
    make_table(store, tmp_path, PARTITIONS)
    return store


def write(store: Store, *partitions: int) -> None:
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2))
    sets = [StatisticsSet((column,), f"p={each}", "hive") for each in partitions]
    StatisticsWriter(store).update_partitions(NAME, sets)


def health(store: Store) -> dict[str | None, int]:
    page = HealthListing(store, HealthKeeper(store)).partitions(NAME, ListSelection())
    assert page.complete
    return {each.partition: each.health.health for each in page.entries}


def test_a_write_of_one_partition_looks_at_one_partition(kept: Store, statements: StatementCounter) -> None:
    keeping = HealthKeeper(kept)
    keeping.run()
    write(kept, 3)
    with statements() as sent:
        keeping.run()
    one = len(sent)
    write(kept, *range(10, 20))
    with statements() as sent:
        keeping.run()
    assert len(sent) == one
    part = 100 // len(TYPES)
    assert health(kept) == {f"p={each}": part if each == 3 or 10 <= each < 20 else 0 for each in PARTITIONS}


def test_a_look_at_nothing_new_is_one_statement_or_two(logged: Store, statements: StatementCounter) -> None:
    HealthKeeper(logged).run()
    with statements() as sent:
        HealthKeeper(logged).run()
    assert len(sent) <= 2


def test_missing_events_are_a_walk_through_all_tables(logged: Store) -> None:
    HealthKeeper(logged).run()
    write(logged, 5)
    with logged._pools.writers.begin() as connection:
        connection.execute(delete(NOTIFICATION_LOG))
    write(logged, 6)
    found = health(logged)
    assert found["p=5"] == found["p=6"] > 0


def test_two_keepers_at_once_judge_everything(logged: Store) -> None:
    second = Store.open(logged._pools.writers.url.render_as_string(hide_password=False))
    second.enable_log(encoder(sketches=False))
    keepers = [HealthKeeper(each) for each in (logged, second)]

    def keep(keeping: HealthKeeper) -> None:
        for _ in range(10):
            keeping.run()

    threads = [Thread(target=keep, args=(each,)) for each in keepers]
    for each in threads:
        each.start()
    for number in PARTITIONS:
        write(logged, number)
    for each in threads:
        each.join()
    assert set(health(logged).values()) == {100 // len(TYPES)}
    second.close()


def test_a_table_that_is_written_while_it_is_read_is_read_again(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics of 1,000 rows; 2,000 are there when a later statement reads the table. SQLite has one writer alone."""
    store, name = Store.open(postgres_url), replace(NAME, table="u")
    store.enable_history()
    make_table(store, tmp_path, ())
    storage = Storage(columns=(Column("l", "bigint"),))
    Tables(store, Warehouse(str(tmp_path))).create(Table(name=name, storage=storage, table_type="EXTERNAL_TABLE"))

    def resize(unit: Unit, rows: int) -> None:
        table_id = tables.lock(unit, name)
        assert table_id is not None
        parameters.put(unit, OF_TABLES, {table_id: {"numRows": str(rows)}})
        versions.bump(unit, table_id)

    store.write(lambda unit: resize(unit, 1_000))
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2))
    StatisticsWriter(store).update_table(name, StatisticsSet((column,), None, "hive"))
    read_written = keeper._written
    times: list[Any] = []

    def write_meanwhile(*given: Any) -> Any:
        found = read_written(*given)
        if not times:
            store.write(lambda unit: resize(unit, 2_000))
        times.append(found)
        return found

    monkeypatch.setattr(keeper, "_written", write_meanwhile)
    page = HealthListing(store, HealthKeeper(store)).tables("hive", "default", "u", ListSelection())
    assert [each.health.health for each in page.entries] == [0]
    assert len(times) > 1
    store.close()


def test_a_dropped_table_leaves_nothing(kept: Store, tmp_path: Path) -> None:
    keeping = HealthKeeper(kept)
    keeping.run()
    Tables(kept, Warehouse(str(tmp_path))).drop(NAME, delete_data=False)
    keeping.run()
    listing = HealthListing(kept, keeping)
    assert listing.tables("hive", None, None, ListSelection()).entries == ()
