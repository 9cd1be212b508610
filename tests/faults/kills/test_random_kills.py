"""A process is killed at random moments while its threads rename, exchange, truncate, drop and write in bulk.

Two others settle together what it left. Half of the processes take their disk for an object store, on which a rename is
made of slow copies. HMSTATS_TEST_CHANGE_KILLS says how many are killed over each kind of database.
"""

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.faults.harness.changers import BULK, FIRST_OF_BULK, NAMES
from tests.faults.harness.killing import killing
from tests.faults.harness.lake import Lake
from tests.fixtures.databases.postgres import DURABLE, cluster

from hmstats.model.catalog.objects import DatabaseName
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.tables.file_changes import FileChanges
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.store.storage import file_changes

KILLS = int(os.environ.get("HMSTATS_TEST_CHANGE_KILLS", "10"))
SEED = int(os.environ.get("HMSTATS_TEST_SEED", "1"))
THREADS = 3
MOST_SECONDS = 0.5


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database whose commits are on the disk before they are answered, as far as it can."""
    if request.param == "sqlite":
        found = f"sqlite:///{tmp_path}/hmstats.sqlite"
        migrate.upgrade(found)
        yield found
        return
    with cluster() as files:
        files.start(DURABLE)
        try:
            migrate.upgrade(files.url)
            yield files.url
        finally:
            files.control("-m", "immediate", "stop")


@pytest.mark.slow
def test_kills_at_random_moments_leave_the_old_or_the_new(url: str, tmp_path: Path) -> None:
    dice, met = random.Random(SEED), Counter[str]()
    warehouse = Warehouse(f"file:{tmp_path}/warehouse")
    with ExitStack() as stack:
        stores = [Store.open(url) for _ in range(2)]
        for store in stores:
            stack.callback(store.close)
        lake = Lake(stores[0], warehouse)
        killed = stack.enter_context(killing(url, warehouse.root))
        settling = stack.enter_context(ThreadPoolExecutor(len(stores)))
        for number in range(KILLS):
            databases = [f"d{number}x{thread}" for thread in range(THREADS)]
            for each in databases:
                lake.make(each)
            after_seconds = dice.random() * MOST_SECONDS
            killed.change_until_killed(databases, dice.randrange(2**32), after_seconds, copies=bool(number % 2))
            with stores[0].read() as connection:
                met.update(str(each.kind) for each in file_changes.pending(connection))
            while lake.under_way():  # PostgreSQL may take a moment to notice that the process is gone
                list(settling.map(lambda store: FileChanges(store, warehouse).recover(), stores))
            for each in databases:
                assert lake.faults(each) == [], f"{each} after kill {number}"
                _check_bulk(lake, each)
                Databases(stores[0], warehouse).drop(DatabaseName("hive", each), delete_data=True, cascade=True)
    print(f"{KILLS} kills; changes that were under way: {dict(met)}")


def _check_bulk(lake: Lake, database: str) -> None:
    """Partitions that were added together are there together, and have their statistics together."""
    catalog = lake.seen(database)["catalog"]
    assert catalog.keys() <= set(NAMES)
    for table in catalog.values():
        groups: dict[int, list[bool]] = {}
        for name, (_, said) in table["partitions"].items():
            value = int(name.removeprefix("k="))
            if value >= FIRST_OF_BULK:
                groups.setdefault((value - FIRST_OF_BULK) // BULK, []).append(said["analyzed"])
        assert all(len(each) == BULK and len(set(each)) == 1 for each in groups.values())
