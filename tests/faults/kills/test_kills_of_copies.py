"""A server is killed while a rename copies a table on an object store, which takes seconds, and started again."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.faults.harness.lake import Lake
from tests.faults.harness.server_process import ServerProcess
from tests.faults.harness.worker_processes import metastore_of, wait_until
from tests.faults.harness.writers import BROKEN
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store

from hmstats.files import file_systems
from hmstats.files.file_systems import open_location
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate

KILLS = 2
FILES = 60
MOST_SECONDS = 1.5


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    with object_store(tmp_path) as found:
        for name, value in found.environment.items():
            monkeypatch.setenv(name, value)
        file_systems.open_root.cache_clear()
        yield found
        file_systems.open_root.cache_clear()


@pytest.mark.slow
def test_a_rename_on_an_object_store_is_done_or_undone(url: str, bucket: ObjectStore, tmp_path: Path) -> None:
    migrate.upgrade(url)
    lake = Lake(Store.open(url), Warehouse(f"s3a://{BUCKET}/w"))
    databases = [f"d{number}" for number in range(KILLS)]
    for each in databases:
        lake.make(each)
        _write_files(lake, f"{each}.db/t/k=1")
    environment = {**bucket.environment, "HMSTATS__EXCLUSIVE": "false"}
    server = ServerProcess(tmp_path, url, warehouse=lake.warehouse.root, environment=environment)
    dice, outcomes = random.Random(1), []
    try:
        server.start()
        for each in databases:
            old = lake.seen(each)["files"]
            renaming = threading.Thread(target=_rename, args=(server.port, each))
            renaming.start()
            wait_until(partial(_is_under_way, lake, renaming))
            time.sleep(dice.random() * MOST_SECONDS)
            server.kill()
            renaming.join()
            server.start()
            wait_until(lambda: not lake.under_way())
            seen = lake.seen(each)
            (name,) = seen["catalog"].keys() - {"other"}
            assert [file.replace("t/", f"{name}/", 1) for file in old] == seen["files"]
            outcomes.append(name)
    finally:
        server.kill()
        lake.store.close()
    print(f"{KILLS} kills of a rename that copies {FILES} files: {outcomes}")


def _is_under_way(lake: Lake, renaming: threading.Thread) -> bool:
    return lake.under_way() > 0 or not renaming.is_alive()


def _write_files(lake: Lake, place: str) -> None:
    files, path = open_location(f"{lake.warehouse.root}/{place}")
    for number in range(FILES):
        with files.open_output_stream(f"{path}/file-{number:03}") as out:
            out.write(b"rows")


def _rename(port: int, database: str) -> None:
    with suppress(*BROKEN), metastore_of(port) as metastore:
        client = metastore.client()
        table = client.get_table(database, "t")
        table.tableName = "u"
        client.alter_table(database, "t", table)
