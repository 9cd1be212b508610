"""A database is dropped with the tables that it has then, not with those that others are taking out of it."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

from sqlalchemy import text
from tests.service.statistics.filled import NAME, make_table

from hmstats.model.catalog.objects import Database, DatabaseName, Storage, TableName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

LEFT = TableName("hive", "left", "t")
_WAITERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def are_waiting(store: Store) -> bool:
    """Whether a writer waits for another; on SQLite it does since it has begun."""
    with store.read() as connection:
        return connection.dialect.name == "sqlite" or bool(connection.execute(text(_WAITERS)).scalar_one())


def test_a_table_that_leaves_a_database_while_it_is_dropped_stays(store: Store, tmp_path: Path) -> None:
    make_table(store, tmp_path, [1])
    warehouse = Warehouse(str(tmp_path))
    databases, catalog = Databases(store, warehouse), Tables(store, warehouse)
    databases.create(Database(name=LEFT.parent, location=""))
    moving, moved = Flag(), Flag()

    def rename(unit: Unit) -> None:
        tables.lock(unit, LEFT)
        stored = tables.get(unit.connection, LEFT)
        assert stored is not None
        tables.replace(unit, stored, replace(stored, name=NAME))
        unit.send()
        moving.set()
        assert moved.wait(60)

    stored = catalog.get(NAME)
    catalog.create(replace(stored, id=None, name=LEFT, storage=Storage(columns=stored.columns)))
    catalog.drop(NAME, delete_data=False)
    with ThreadPoolExecutor(2) as threads:
        renaming = threads.submit(store.write, rename)
        assert moving.wait(60)
        dropping = threads.submit(databases.drop, LEFT.parent, delete_data=True, cascade=True)
        while not are_waiting(store) and not dropping.done():
            time.sleep(0.01)
        moved.set()
        renaming.result()
        dropping.result()
    assert catalog.get(NAME).columns == stored.columns
    with store.read() as connection:
        assert tables.names(connection, DatabaseName("hive", "left")) == []
