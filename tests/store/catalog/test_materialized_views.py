from dataclasses import replace

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import TABLE, make_table
from tests.store.row_counts import row_counts

from hmstats.errors import InvalidObject
from hmstats.model.catalog.objects import Creation, DatabaseName, SourceTable, TableName
from hmstats.store.catalog import materialized_views
from hmstats.store.database.store import Store

VIEW = TableName("hive", "default", "v")
SOURCES = [TableName("hive", "default", "a"), TableName("hive", "sales", "b")]


@pytest.fixture
def ids(store: Store) -> dict[TableName, int]:
    """The ids of two tables in two databases."""
    return {name: make_table(store, replace(TABLE, name=name)) for name in SOURCES}


def put(store: Store, creation: Creation, view: TableName = VIEW) -> None:
    store.write(lambda unit: materialized_views.replace(unit, view, creation))


def read(store: Store, *views: TableName) -> dict[TableName, Creation]:
    with store.read() as connection:
        return materialized_views.read(connection, views)


def using(store: Store, *table_ids: int) -> list[TableName]:
    with store.read() as connection:
        return materialized_views.views_of(connection, table_ids)


def test_what_a_view_was_made_of_comes_back_and_is_replaced(store: Store, ids: dict[TableName, int]) -> None:
    first = Creation(sources=(SourceTable(SOURCES[0], 1, 2, 3), SourceTable(SOURCES[1])), transactions="5:9")
    put(store, first)
    found = read(store, VIEW)[VIEW]
    assert (found.sources, found.transactions) == (first.sources, "5:9")
    assert found.materialized_ms is not None
    assert found.materialized_ms > 1_600_000_000_000
    put(store, Creation(sources=(SourceTable(SOURCES[1], 4, 5, 6),)))
    found = read(store, VIEW)[VIEW]
    assert (found.sources, found.transactions) == ((SourceTable(SOURCES[1], 4, 5, 6),), None)


def test_many_views_take_two_statements(store: Store, ids: dict[TableName, int], statements: StatementCounter) -> None:
    views = [replace(VIEW, table=f"v{each}") for each in range(20)]
    for view in views:
        put(store, Creation(sources=tuple(map(SourceTable, SOURCES))), view)
    with statements() as sent:
        found = read(store, *views, replace(VIEW, table="unknown"))
    assert set(found) == set(views)
    assert all([each.name for each in found[view].sources] == SOURCES for view in views)
    assert len(sent) == 2


def test_a_missing_source_is_refused_by_name(store: Store, ids: dict[TableName, int]) -> None:
    missing = TableName("hive", "default", "none")
    with pytest.raises(InvalidObject, match=r"view hive.default.v: its source table hive.default.none does not exist"):
        put(store, Creation(sources=(SourceTable(SOURCES[0]), SourceTable(missing))))
    assert read(store, VIEW) == {}


def test_a_view_without_sources(store: Store) -> None:
    put(store, Creation(transactions="x"))
    assert read(store, VIEW)[VIEW].sources == ()


def test_who_uses_a_table(store: Store, ids: dict[TableName, int]) -> None:
    other = replace(VIEW, table="w")
    put(store, Creation(sources=(SourceTable(SOURCES[0]), SourceTable(SOURCES[1]))))
    put(store, Creation(sources=(SourceTable(SOURCES[0]),)), other)
    assert using(store, ids[SOURCES[0]]) == [VIEW, other]
    assert using(store, ids[SOURCES[1]]) == [VIEW]
    assert using(store, *ids.values()) == [VIEW, other]
    assert using(store) == []


def test_a_view_with_another_name_is_made_of_the_same(store: Store, ids: dict[TableName, int]) -> None:
    put(store, Creation(sources=(SourceTable(SOURCES[0], 1),)))
    renamed = TableName("hive", "sales", "w")
    store.write(lambda unit: materialized_views.rename(unit, VIEW, renamed))
    assert read(store, VIEW) == {}
    assert read(store, renamed)[renamed].sources == (SourceTable(SOURCES[0], 1),)


def test_what_is_removed_leaves_no_trace(store: Store, ids: dict[TableName, int]) -> None:
    before, other = row_counts(store), replace(VIEW, database="sales")
    for view in (VIEW, other, replace(other, table="w")):
        put(store, Creation(sources=(SourceTable(SOURCES[0]),)), view)
    store.write(lambda unit: materialized_views.remove_of_database(unit, DatabaseName("hive", "sales")))
    assert set(read(store, VIEW, other)) == {VIEW}
    store.write(lambda unit: materialized_views.remove(unit, VIEW))
    assert row_counts(store) == before
