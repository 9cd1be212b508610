"""The keeper of health: what it looks at, and that nothing is passed over."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select
from tests.fixtures.databases.statements import StatementCounter
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
from hmstats.store.health import changed_tables, facts, health_rows
from hmstats.store.health.facts import HealthTable
from hmstats.store.schema import NOTIFICATION_LOG, TBLS
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


def test_a_write_of_the_table_itself_looks_at_no_partition(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keeping, looked = HealthKeeper(kept), list[int]()
    keeping.run()
    read = facts.of_partitions

    def noted(connection: Any, given: Sequence[Any], written: Any) -> Any:
        looked.append(len(given))
        return read(connection, given, written)

    monkeypatch.setattr(facts, "of_partitions", noted)
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2))
    StatisticsWriter(kept).update_table(NAME, StatisticsSet((column,), None, "hive"))
    keeping.run()
    assert looked == []
    write(kept, 3)
    keeping.run()
    assert looked == [1]


def test_partitions_are_judged_some_at_once(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that were judged before."""
    monkeypatch.setattr(keeper, "_PARTITIONS_AT_ONCE", 7)
    monkeypatch.setattr(health_rows, "_ROWS_AT_ONCE", 4)
    part = 100 // len(TYPES)
    for written in (set[int](), {0, 6, 7, 29}, {*PARTITIONS}):
        if written:
            write(kept, *written)
        kept.write(lambda unit: versions.bump(unit, 1))  # whatever may have changed
        HealthKeeper(kept).walk()
        HealthKeeper(kept).run()
        assert health(kept) == {f"p={each}": part if each in written else 0 for each in PARTITIONS}


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


class Contended:
    """A table without partitions on PostgreSQL, to which somebody writes each time that a keeper reads it."""

    def __init__(self, store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.name = store, replace(NAME, table="u")
        self.reads = 0
        self.meanwhile: list[Callable[[], None]] = []
        self._read_written = keeper._written
        make_table(store, folder, ())
        storage = Storage(columns=(Column("l", "bigint"),))
        Tables(store, Warehouse(str(folder))).create(
            Table(name=self.name, storage=storage, table_type="EXTERNAL_TABLE")
        )
        monkeypatch.setattr(keeper, "_written", self._written)

    def _written(self, unit: Unit, read: Sequence[HealthTable], stored: Any) -> Any:
        found = self._read_written(unit, read, stored)
        if any(each.partitioned for each in read):
            return found
        self.reads += 1
        if self.meanwhile:
            writer = Thread(target=self.meanwhile.pop(0))
            writer.start()
            writer.join(timeout=30)
            assert not writer.is_alive(), "a writer should not wait for a keeper"
        return found

    def resize(self, rows: int) -> None:
        def put(unit: Unit) -> None:
            table_id = tables.lock(unit, self.name)
            assert table_id is not None
            parameters.put(unit, OF_TABLES, {table_id: {"numRows": str(rows)}})
            versions.bump(unit, table_id)

        self.store.write(put)

    def analyse(self) -> None:
        column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2))
        StatisticsWriter(self.store).update_table(self.name, StatisticsSet((column,), None, "hive"))

    def stored(self) -> list[int]:
        """The health of the table as it is kept."""
        with self.store.read() as connection:
            table_id = connection.execute(select(TBLS.c.TBL_ID).where(TBLS.c.TBL_NAME == "u")).scalar_one()
            return [health.health for _, health in health_rows.of_tables(connection, [table_id]).values()]

    def health(self) -> list[int]:
        """The health of the table as it is listed, once all that was written is judged."""
        page = HealthListing(self.store, HealthKeeper(self.store)).tables("hive", "default", "u", ListSelection())
        assert page.complete
        return [each.health.health for each in page.entries]


@pytest.fixture
def contended(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Contended]:
    """SQLite has one writer alone."""
    store = Store.open(postgres_url)
    store.enable_history()
    yield Contended(store, tmp_path, monkeypatch)
    store.close()


def test_a_table_that_is_written_while_it_is_read_is_judged_as_it_was(contended: Contended) -> None:
    """Statistics of 1,000 rows; 2,000 are there when a later statement reads the table."""
    contended.resize(1_000)
    contended.analyse()
    contended.meanwhile = [lambda: contended.resize(2_000)]
    HealthKeeper(contended.store).run()
    assert not contended.meanwhile
    assert contended.stored() == [100]
    assert contended.health() == [0]


def test_a_table_that_is_written_at_each_read_is_never_judged_in_part(contended: Contended) -> None:
    """Else the 2,000 rows of the last write were taken for those of the statistics."""
    contended.meanwhile = [
        lambda: contended.resize(1_000),
        contended.analyse,
        lambda: contended.resize(2_000),
    ]
    for _ in range(3):
        HealthKeeper(contended.store).run()
    assert not contended.meanwhile
    assert contended.health() == [0]


@pytest.mark.parametrize("log", [False, True])
def test_a_run_ends_though_a_table_is_written_all_the_time(contended: Contended, log: bool) -> None:
    if log:
        contended.store.enable_log(encoder(sketches=False))
    contended.analyse()
    contended.meanwhile = [contended.analyse] * 20
    keeping = HealthKeeper(contended.store)
    keeping.run()
    first = contended.reads
    contended.analyse()
    keeping.run()
    assert (first, contended.reads) == (1, 2)
    contended.analyse()
    assert keeping.catch_up()
    assert contended.reads == 3


def test_no_table_is_passed_over_for_those_that_are_written_all_the_time(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tables are compared at once here; before each look the first two are written."""
    monkeypatch.setattr(keeper, "_TABLES_AT_ONCE", 2)
    make_table(store, tmp_path, ())
    names = [NAME, *(replace(NAME, table=f"t{number}") for number in range(5))]
    storage = Storage(columns=(Column("l", "bigint"),))
    for each in names[1:]:
        Tables(store, Warehouse(str(tmp_path))).create(Table(name=each, storage=storage, table_type="EXTERNAL_TABLE"))
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=2, nulls=0, ndv=2))
    keeping, look = HealthKeeper(store), changed_tables.other_versions

    def write_and_look(connection: Connection, after_id: int, most: int) -> list[int]:
        for each in names[:2]:
            StatisticsWriter(store).update_table(each, StatisticsSet((column,), None, "hive"))
        return look(connection, after_id, most)

    monkeypatch.setattr(changed_tables, "other_versions", write_and_look)
    keeping.run()
    with store.read() as connection:
        assert len(health_rows.of_tables(connection, range(100))) == len(names)


def test_a_dropped_table_leaves_nothing(kept: Store, tmp_path: Path) -> None:
    keeping = HealthKeeper(kept)
    keeping.run()
    Tables(kept, Warehouse(str(tmp_path))).drop(NAME, delete_data=False)
    keeping.run()
    listing = HealthListing(kept, keeping)
    assert listing.tables("hive", None, None, ListSelection()).entries == ()
