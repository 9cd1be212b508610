"""A table that is read alone, in one statement, is what the ordinary way reads."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import NAME, STORAGE, TABLE, TABLES, make_table

from hmstats.model.catalog.objects import SkewedInfo, Table, TableName
from hmstats.store.catalog import single_table, tables
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    store = Store.open(postgres_url, pool_size=2)
    yield store
    store.close()


def alone(store: Store, name: TableName = NAME) -> list[Table] | None:
    return single_table.read(store._pools.checkers, name)


def ordinary(store: Store) -> Table | None:
    with store.read() as connection:
        return tables.get(connection, NAME)


def change(store: Store, parameters: dict[str, str]) -> None:
    """Replace the table's parameters."""

    def replaced(unit: Unit) -> None:
        stored = tables.get(unit.connection, NAME)
        assert stored
        tables.replace(unit, stored, replace(stored, parameters=parameters))

    store.write(replaced)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=TABLES)
def test_both_ways_read_the_same_table_and_note_its_version(store: Store, table: Table) -> None:
    made = make_table(store, table)
    try:
        with versions.noting_reads() as of_ordinary:
            expected = ordinary(store)
        with versions.noting_reads() as of_alone:
            found = alone(store)
        skewed = bool(table.storage and table.storage.skewed and table.storage.skewed.columns)
        assert found == (None if skewed else [expected])
        assert expected == replace(table, id=made)
        assert store.table(NAME) == expected
        assert skewed or of_alone == of_ordinary == {made: versions.NotedRead(1, None)}
    finally:
        store.write(lambda unit: tables.remove_many(unit, [made]))


def test_a_missing_table_is_known_to_be_missing(store: Store) -> None:
    make_table(store)
    other = replace(NAME, table="other")
    assert alone(store, other) == []
    assert store.table(other) is None


def test_the_ordinary_way_is_not_taken(store: Store, statements: StatementCounter) -> None:
    make_table(store)
    with statements() as sent:
        assert store.table(NAME) == replace(TABLE, id=1)
    assert not sent  # a single read passes by the engine's events


def test_a_skewed_table_is_read_the_ordinary_way(store: Store) -> None:
    skew = SkewedInfo(("id",), (("1",),), {("1",): "file:/one"})
    make_table(store, replace(TABLE, storage=replace(STORAGE, skewed=skew)))
    assert alone(store) is None
    found = store.table(NAME)
    assert found is not None
    assert found.storage is not None
    assert found.storage.skewed == skew


def test_a_snapshot_that_has_begun_does_not_change(store: Store) -> None:
    make_table(store, replace(TABLE, parameters={"a": "1"}))
    with store.one_snapshot():
        before = store.table(NAME)
        assert ordinary(store) == before
        change(store, {"a": "2"})
        assert store.table(NAME) == before
    after = store.table(NAME)
    assert after is not None
    assert after.parameters == {"a": "2"}


def test_a_change_that_is_only_tried_is_seen(store: Store) -> None:
    made = make_table(store, replace(TABLE, parameters={"a": "1"}))

    def tried(unit: Unit) -> None:
        tables.replace(unit, replace(TABLE, id=made, parameters={"a": "1"}), replace(TABLE, parameters={"a": "2"}))

    seen = store.try_change(tried, lambda: store.table(NAME))
    assert seen is not None
    assert seen.parameters == {"a": "2"}
    assert store.table(NAME) == replace(TABLE, id=made, parameters={"a": "1"})
