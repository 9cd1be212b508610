"""Where tables and their partitions lie."""

from dataclasses import replace

import pytest

from hmstats.model.catalog.objects import Column, Database, DatabaseName, Partition, Storage, Table, TableName
from hmstats.store.catalog import databases, tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.storage import drop_locations

COLUMNS = (Column("c", "int"),)


def _make(store: Store, name: str, kind: str, place: str, *inside: str) -> int:
    """A table with a partition at each place; its id."""
    parent = DatabaseName("hive", "default")
    storage = Storage(columns=COLUMNS, location=place)
    keys = (Column("k", "int"),)
    table = Table(
        name=TableName("hive", "default", name), storage=storage, partition_keys=keys, table_type=kind, parameters={}
    )
    with store.read() as connection:
        known = databases.find_id(connection, parent)
    if known is None:
        store.write(lambda unit: databases.insert_one(unit, Database(name=parent, location="file:/w")))
    new = {
        f"k={index}": Partition(values=(str(index),), storage=replace(storage, location=each))
        for index, each in enumerate(inside)
    }
    made = store.write(lambda unit: tables.insert_one(unit, table))
    store.write(lambda unit: partitions.insert_many(unit, made, COLUMNS, new))
    return made


def test_partitions_outside_of_their_table_are_named_too(store: Store) -> None:
    own = _make(store, "own", "MANAGED_TABLE", "file:/w/own", "file:/w/own/k=0", "file:/w/owner/k=1", "file:/x")
    other = _make(store, "other", "EXTERNAL_TABLE", "file:/w/other", "file:/y")
    with store.read() as connection:
        assert drop_locations.dropped_with_files(connection, [own, other], ["MANAGED_TABLE"]) == {own}
        found = drop_locations.of_tables(connection, [own])
        assert sorted(found) == ["file:/w/own", "file:/w/owner/k=1", "file:/x"]
        assert drop_locations.of_tables(connection, []) == []


def test_what_lies_below_a_root(store: Store) -> None:
    own = _make(store, "own", "MANAGED_TABLE", "file:/w/db/own")
    other = _make(store, "other", "EXTERNAL_TABLE", "file:/x/other", "file:/x/other/k=0", "file:/w/far/k=1")
    with store.read() as connection:

        def holds(root: str, *ids: int) -> bool:
            return drop_locations.holds_any(connection, root, ids)

        assert [holds(root, other) for root in ("file:/w/db", "file:/w/far/", "file:/x", "file:/w/fa")] == [
            False,
            True,
            True,
            False,
        ]
        assert not holds("file:/x", own)


def test_what_is_of_others(store: Store) -> None:
    own = _make(store, "own", "MANAGED_TABLE", "s3://lake/own", "s3://lake/own/k=0", "s3a://lake/own/k=1")
    _make(store, "other", "EXTERNAL_TABLE", "s3a://lake/own/k=1/deep", "file:/y/k=0", "file:///z/a#b/k=1")
    store.write(
        lambda unit: databases.insert_one(unit, Database(name=DatabaseName("hive", "d"), location="file:///d/e"))
    )
    free = [
        "s3://lake/ow",
        "s3://lake/own/k=10",
        "s3://lake/own/k=0",
        "file:/y/k=0 ",
        "file:/d/e/t",
        "file:/z/a",
        "gs://lake/own",
    ]
    taken = {
        "s3n://lake/own/k=1": "holds a table",
        "s3n://lake/own/k=1/deep": "is a table",
        "s3://lake/own/k=1/deep/er/est": "lies in a table",
        "file:/y": "holds a partition",
        "file:///y/k=0": "is a partition",
        "/z/a#b/k=1/x": "lies in a partition",
        "/d": "holds a database",
        "/d/e": "is a database",
    }
    with store.read() as connection:
        assert drop_locations.used_by_others(connection, [*free, *taken], own) == set(taken)
        assert drop_locations.used_by_others(connection, free * 20, own) == set()
        assert drop_locations.used_by_others(connection, []) == set()
        assert drop_locations.used_by_others(connection, ["s3://lake/own/k=0"]) == {"s3://lake/own/k=0"}


def test_what_lies_at_or_in_a_location(store: Store) -> None:
    _make(store, "own", "MANAGED_TABLE", "file:/w/own", "file:/w/own/k=0", "file:/x/k=1")
    with store.read() as connection:
        asked = ["file:/w/own/k=0", "/w/own/k=1", "file:///w/own", "file:/x", "file:/x/k=1/j=2", "file:/w/owner"]
        assert drop_locations.holding_any(connection, asked) == {"file:/w/own/k=0", "file:///w/own", "file:/x"}
        assert drop_locations.holding_any(connection, []) == set()


def test_locations_of_any_length_are_kept_and_found(store: Store) -> None:
    long = "file:/" + "".join(f"{number:04d}/" for number in range(790)) + "x"
    own = _make(store, "own", "MANAGED_TABLE", long)
    with store.read() as connection:
        assert drop_locations.used_by_others(connection, [long], own) == set()
        assert drop_locations.used_by_others(connection, [long.rpartition("/")[0]]) == {long.rpartition("/")[0]}


@pytest.mark.parametrize("spelling", ["s3://lake/t", "s3a://lake/t"])
def test_partitions_go_with_their_table_however_they_are_spelled(store: Store, spelling: str) -> None:
    own = _make(store, "own", "MANAGED_TABLE", spelling, "s3://lake/t/k=0", "s3a://lake/t/k=1", "s3n://lake/t2/k=2")
    store.write(lambda unit: partitions.relocate(unit, own, spelling, "s3a://lake/u"))
    with store.read() as connection:
        found = partitions.locations(connection, own, None)
    assert sorted(map(str, found.values())) == ["s3a://lake/u/k=0", "s3a://lake/u/k=1", "s3n://lake/t2/k=2"]
