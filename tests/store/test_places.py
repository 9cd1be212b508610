"""Where tables and their partitions lie."""

from dataclasses import replace

from hmstats.model.catalog import Column, Database, DatabaseName, Partition, Storage, Table, TableName
from hmstats.store import databases, partitions, places, tables
from hmstats.store.engine import Store

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
        found = places.of_tables(connection, [own, other], ["MANAGED_TABLE"])
        assert sorted(found) == ["file:/w/own", "file:/w/owner/k=1", "file:/x"]
        assert places.of_tables(connection, [], ["MANAGED_TABLE"]) == []


def test_what_lies_below_a_root(store: Store) -> None:
    own = _make(store, "own", "MANAGED_TABLE", "file:/w/db/own")
    other = _make(store, "other", "EXTERNAL_TABLE", "file:/x/other", "file:/x/other/k=0", "file:/w/far/k=1")
    with store.read() as connection:

        def holds(root: str, *ids: int) -> bool:
            return places.holds_others(connection, root, ids, ["MANAGED_TABLE"])

        assert [holds(root, own, other) for root in ("file:/w/db", "file:/w/far/", "file:/x", "file:/w/fa")] == [
            False,
            True,
            True,
            False,
        ]
        assert not holds("file:/x", own)
