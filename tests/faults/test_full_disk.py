"""A disk that is full, for SQLite: writes are refused with a sentence, reads go on, and all is well once there is room.

HMSTATS_TEST_FULL_DISKS says how often. The limit of a process's largest file stands for the disk: it can be set for a
running process, and lifted. What is logged finds no room either.
"""

import os
import resource
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, text
from tests.faults.harness.leaks import THREADS, check_leaks, open_files
from tests.faults.harness.worker_processes import Workers, metastore_of, wait_until, workers
from tests.faults.harness.writers import Writer, go_on, summary, writing

from hmstats.errors import StoreUnavailable
from hmstats.store.database.store import Store
from hmstats.store.schema import CTLGS
from hmstats.store.unit.unit import Unit

TIMES = int(os.environ.get("HMSTATS_TEST_FULL_DISKS", "2"))
WRITERS = 4
_SMALL_BYTES = 4_096


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_of_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/hmstats.sqlite"
    with workers(tmp_path, url, threads=THREADS) as server, metastore_of(server.port) as metastore:
        files = {pid: open_files(pid) for pid in server.alive()}
        with writing(metastore, WRITERS) as writers:
            for _ in range(TIMES):
                go_on(writers)
                _limit(server, _SMALL_BYTES)
                _wait_for_refusals(writers)
                for writer in writers:
                    writer.check()
                _limit(server, resource.RLIM_INFINITY)
                go_on(writers)
                for writer in writers:
                    writer.check()
        metastore.clients.close()
        held = check_leaks(server, url, files)
        assert server.metric("hmstats_worker_deaths") == 0
    refusals = [each for writer in writers for each in writer.refusals]
    assert all("does not answer" in each for each in refusals), set(refusals)
    print(f"{TIMES} times the disk was full; {summary(writers)}; no worker lost; {held}")


def test_a_database_that_may_not_grow(sqlite_url: str) -> None:
    """What SQLite says of a full disk; the limit holds for the store's only writing connection."""
    store = Store.open(sqlite_url, pool_size=1)
    rows = [{"CTLG_ID": 10 + number, "NAME": f"c{number}", "LOCATION_URI": "x" * 3_000} for number in range(200)]

    def fill(unit: Unit) -> None:
        unit.connection.execute(insert(CTLGS), rows)

    _allow(store, 1)  # SQLite takes the pages that there are
    with pytest.raises(StoreUnavailable, match=r"does not answer: database or disk is full"):
        store.write(fill)
    assert _catalogs(store) == 1
    _allow(store, 2**31)
    store.write(fill)
    assert _catalogs(store) == 1 + len(rows)
    store.close()


def _limit(server: Workers, size_bytes: int) -> None:
    """Let no file of the workers grow beyond a size; SIGXFSZ is ignored by Python, so writing fails instead."""
    for pid in server.alive():
        hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size_bytes, hard))


def _wait_for_refusals(writers: list[Writer]) -> None:
    before = [len(writer.refusals) for writer in writers]
    wait_until(lambda: all(len(writer.refusals) > count for writer, count in zip(writers, before, strict=True)))


def _allow(store: Store, pages: int) -> None:
    store.write(lambda unit: unit.connection.execute(text(f"PRAGMA max_page_count = {pages}")))


def _catalogs(store: Store) -> int:
    with store.read() as connection:
        return int(connection.execute(select(func.count()).select_from(CTLGS)).scalar_one())
