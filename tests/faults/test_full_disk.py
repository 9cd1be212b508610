"""A disk that is full, under SQLite and under a spool folder.

Writes are refused with a sentence, reads go on, nothing is half written, and all is well once there is room.

HMSTATS_TEST_FULL_DISKS says how often. The limit of a process's largest file stands for the disk: it can be set for a
running process, and lifted. What is logged finds no room either.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, text
from tests.faults.harness.leaks import THREADS, check_leaks, open_files
from tests.faults.harness.worker_processes import Workers, metastore_of, wait_until, workers
from tests.faults.harness.writers import Writer, go_on, summary, writing

from hmstats.client.sending.parcel import Parcel
from hmstats.client.sending.spool import Spool
from hmstats.collector.delivery.deliver import Delivery, DeliveryResult, deliver, new_run
from hmstats.collector.delivery.items import item
from hmstats.collector.report import Finding
from hmstats.errors import SpoolError, StoreUnavailable
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics
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


def test_a_spool_folder_without_room_keeps_whole_files_only(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    to = Delivery(TableName("hive", "d", "t"), ("k",), "thrift://127.0.0.1:1", new_run(), str(folder), 0.0)
    assert deliver(to, [("k=0", _finding(b"small"))]) == DeliveryResult(spooled=1)
    whole = _parcels(folder)
    large = [(f"k={number}", _finding(os.urandom(2_000))) for number in range(1, 5)]
    with _no_larger_files(_SMALL_BYTES), pytest.raises(SpoolError, match=rf"spool folder {folder} cannot be written: "):
        deliver(to, large)
    assert _parcels(folder) == whole
    assert len(list(folder.iterdir())) == 1
    assert deliver(to, large) == DeliveryResult(spooled=len(large))
    found = {item.partition for parcel in _parcels(folder).values() for item in parcel.items}
    assert found == {f"k={number}" for number in range(5)}


def test_a_file_of_a_spool_folder_stays_when_there_is_no_room_for_its_successor(tmp_path: Path) -> None:
    folder = Spool(str(tmp_path))
    old, new = (
        Parcel(TableName("hive", "d", "t"), ("k",), (item(_finding(content), "k=0", 1.0),), 1)
        for content in (b"old", os.urandom(9_000))
    )
    folder.put("a.hmstats", old)
    with _no_larger_files(_SMALL_BYTES), pytest.raises(SpoolError, match="cannot be written"):
        folder.put("a.hmstats", new)
    assert _parcels(tmp_path) == {"a.hmstats": old}
    folder.put("a.hmstats", new)
    assert _parcels(tmp_path) == {"a.hmstats": new}


def _finding(sketch: bytes) -> Finding:
    return Finding(1, 10, 1, (ColumnStatistics("c", "bigint", LongStatistics(nulls=0, ndv=1), sketch),))


def _parcels(folder: Path) -> dict[str, Parcel]:
    """Every file of a spool folder by name; hidden ones too would be half of one."""
    assert not list(folder.glob(".*"))
    spool = Spool(str(folder))
    return {name: spool.get(name) for name in spool.names()}


@contextmanager
def _no_larger_files(size_bytes: int) -> Iterator[None]:
    """Let this process write no file beyond a size: what fits is written, as on a disk that becomes full."""
    old, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (old, hard))


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
