"""The roots that what is there needs."""

from hmstats.model.catalog.objects import Column, Database, DatabaseName, Storage, Table, TableName
from hmstats.store.catalog import databases, tables
from hmstats.store.catalog.roots import needed_roots
from hmstats.store.database.store import Store

MANAGED = ("MANAGED_TABLE",)


def _database(store: Store, name: str, location: str) -> None:
    new = Database(name=DatabaseName("hive", name), location=location)
    store.write(lambda unit: databases.insert_one(unit, new))


def _table(store: Store, database: str, name: str, location: str, kind: str = "MANAGED_TABLE") -> None:
    storage = Storage(columns=(Column("c", "int"),), location=location)
    new = Table(name=TableName("hive", database, name), storage=storage, table_type=kind, parameters={})
    store.write(lambda unit: tables.insert_one(unit, new))


def _roots(store: Store, warehouse: str) -> list[str]:
    with store.read() as connection:
        return needed_roots(connection, warehouse, MANAGED)


def test_what_lies_in_the_warehouse_needs_no_root(store: Store) -> None:
    _database(store, "default", "s3a://lake/warehouse")
    _database(store, "a", "s3://lake/warehouse/a.db")
    _table(store, "a", "t", "s3://lake/warehouse/a.db/t")
    _table(store, "a", "out", "s3n://lake/other/t", "EXTERNAL_TABLE")
    assert _roots(store, "s3://lake/warehouse") == []


def test_databases_side_by_side_share_a_root(store: Store) -> None:
    _database(store, "default", "file:/user/hive/warehouse")
    for name in ("a", "b", "c"):
        _database(store, name, f"hdfs://node:8020/user/hive/warehouse/{name}.db")
        _table(store, name, "t", f"hdfs://node:8020/user/hive/warehouse/{name}.db/t")
    _database(store, "odd", "file:///data/odd#1")
    assert _roots(store, "/warehouse") == [
        "file:/data/odd#1",
        "file:/user/hive/warehouse",
        "hdfs://node:8020/user/hive/warehouse",
    ]


def test_a_managed_table_elsewhere_needs_one(store: Store) -> None:
    _database(store, "default", "file:/w")
    _table(store, "default", "t", "file:/far/away/t")
    _table(store, "default", "u", "file:/far/u")
    _table(store, "default", "v", "s3://lake/v")
    _table(store, "default", "x", "file:/x")
    assert _roots(store, "file:/w") == ["file:/far", "file:/x", "s3://lake/v"]
