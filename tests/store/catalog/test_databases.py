from dataclasses import replace

import pytest
from tests.store.row_counts import row_counts

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Database, DatabaseName
from hmstats.store.catalog import databases
from hmstats.store.database.store import Store

NAME = DatabaseName("hive", "sales")
PLAIN = Database(name=NAME, location="")
FULL = Database(
    name=NAME,
    description="Verkäufe 売上 \N{CHART WITH UPWARDS TREND}",
    location="s3a://bucket/sales.db",
    managed_location="s3a://bucket/managed/sales.db",
    parameters={"a": "1", "empty": "", "long": "x" * 4000},
    owner="ann",
    owner_type="USER",
    created_seconds=1_700_000_000,
)


def insert(store: Store, database: Database) -> int:
    return store.write(lambda unit: databases.insert_one(unit, database))


def get(store: Store, name: DatabaseName = NAME) -> Database | None:
    with store.read() as connection:
        return databases.get(connection, name)


@pytest.mark.parametrize("database", [PLAIN, FULL, replace(PLAIN, description="", owner="")])
def test_a_database_comes_back_as_it_was_written(store: Store, database: Database) -> None:
    insert(store, database)
    assert get(store) == database


def test_a_database_is_found_by_its_whole_name_only(store: Store) -> None:
    made = insert(store, PLAIN)
    with store.read() as connection:
        assert databases.find_id(connection, NAME) == made
        assert databases.find_id(connection, DatabaseName("hive", "sale")) is None
        assert databases.find_id(connection, DatabaseName("spark", "sales")) is None
    assert get(store, DatabaseName("spark", "sales")) is None


def test_names_are_sorted_and_of_one_catalog(store: Store) -> None:
    for name in ("b", "c", "a"):
        insert(store, replace(PLAIN, name=DatabaseName("hive", name)))
    with store.read() as connection:
        assert databases.names(connection, "hive") == ["a", "b", "c"]
        assert databases.names(connection, "spark") == []


def test_a_name_is_taken_once(store: Store) -> None:
    insert(store, PLAIN)
    with pytest.raises(MetaError, match="refuses the change"):
        insert(store, FULL)
    assert get(store) == PLAIN


def test_replacing_leaves_nothing_of_the_old(store: Store) -> None:
    made = insert(store, FULL)
    changed = replace(PLAIN, location="file:/x", parameters={"b": "2"})
    store.write(lambda unit: databases.replace(unit, made, changed))
    assert get(store) == changed


def test_replacing_and_removing_touch_no_other_database(store: Store) -> None:
    other = replace(FULL, name=DatabaseName("hive", "other"))
    insert(store, other)
    before = row_counts(store)
    made = insert(store, FULL)
    store.write(lambda unit: databases.replace(unit, made, PLAIN))
    store.write(lambda unit: databases.remove(unit, made))
    assert get(store) is None
    assert get(store, other.name) == other
    assert row_counts(store) == before
