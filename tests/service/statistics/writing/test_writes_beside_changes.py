"""Plain writes of two servers beside renames and drops: no row of statistics is without its table or partition."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

import pytest
from sqlalchemy import select
from tests.service.statistics.filled import NAME, make_table
from tests.service.statistics.writing.test_writes_as_left import longs, stored

from hmstats.model.catalog.objects import Partition, Storage, TableName
from hmstats.model.events import Notification, NotificationFilter
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.writing import last_written
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.changes import notifications
from hmstats.store.database.store import Store
from hmstats.store.schema import PART_COL_STATS, PARTITIONS, TAB_COL_STATS, TBLS

TIMES = 12
RENAMED = TableName(NAME.catalog, NAME.database, "renamed")


@pytest.fixture
def servers(store: Store, tmp_path: Path) -> Iterator[list[Store]]:
    """Two servers' stores over one database with a table of a partition, and one for the changes."""
    make_table(store, tmp_path, [1])
    url = store._pools.writers.url.render_as_string(hide_password=False)
    opened = [store, Store.open(url), Store.open(url)]
    for each in opened:
        each.enable_log(lambda event, _seconds: Notification(type(event).__name__, "hive", "default", "t", "", "f"))
    yield opened
    for each in opened[1:]:
        each.close()


@pytest.mark.parametrize("alone_writes", [0, 1_000_000])
@pytest.mark.slow
def test_writers_and_changes_of_a_table(
    servers: list[Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone_writes: int
) -> None:
    """`alone_writes`: both always expect the table as they left it, or never."""
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", alone_writes)
    ended = Flag()

    def write(store: Store, first: int) -> int:
        plain, number = StatisticsWriter(store).plain, first
        while not ended.is_set():
            number += 2
            for partition in (None, "p=1"):
                plain.write(NAME, longs(partition, ndv=number), of_table=partition is None)
        return number

    with ThreadPoolExecutor(2) as threads:
        running = [threads.submit(write, each, first) for first, each in enumerate(servers[:2])]
        try:
            _change(servers[2], Warehouse(str(tmp_path)))
        finally:
            ended.set()
        last = {each.result() for each in running}
    _nothing_belongs_to_nobody(servers[2])
    for partition in (None, "p=1"):
        for number, each in zip(sorted(last), servers, strict=False):
            assert StatisticsWriter(each).plain.write(NAME, longs(partition, ndv=number), of_table=partition is None)
            assert stored(servers[2], partition) == {"l": number}
    with servers[2].read() as connection:
        logged = [each.id for each in notifications.read(connection, NotificationFilter(after=0), None)]
    assert logged == [*range(1, len(logged) + 1)]


def _change(store: Store, warehouse: Warehouse) -> None:
    """Rename the table and back, and make its partition again, some times; at the end there are both."""
    tables, alterations = Tables(store, warehouse), TableAlterations(store, warehouse)
    partitions = PartitionChanges(store, warehouse)
    for _ in range(TIMES):
        alterations.alter(NAME, replace(tables.get(NAME), name=RENAMED))
        _nothing_belongs_to_nobody(store)
        alterations.alter(RENAMED, replace(tables.get(RENAMED), name=NAME))
        partitions.drop(NAME, ["1"], delete_data=False)
        _nothing_belongs_to_nobody(store)
        partitions.add(NAME, [Partition(values=("1",), storage=Storage())])


def _nothing_belongs_to_nobody(store: Store) -> None:
    """Each row of statistics is of a table or partition that exists, under its present name."""
    with store.read() as connection:
        tables = {row.TBL_ID: row.TBL_NAME for row in connection.execute(select(TBLS))}
        parts = {row.PART_ID: tables[row.TBL_ID] for row in connection.execute(select(PARTITIONS))}
        for row in connection.execute(select(TAB_COL_STATS)):
            assert tables[row.TBL_ID] == row.TABLE_NAME
        for row in connection.execute(select(PART_COL_STATS)):
            assert parts[row.PART_ID] == row.TABLE_NAME
