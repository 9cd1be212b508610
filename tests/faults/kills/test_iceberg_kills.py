"""Analyses of an Iceberg table are killed (SIGKILL) while PyIceberg appends to it in a loop.

Whatever the moment: no append is lost, and every file that the metadata names is whole.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, WaitingForLockException
from pyiceberg.io import load_file_io
from tests.collector.lake.iceberg.iceberg_tables import ROWS, puffin_of
from tests.faults.harness.analyst import STEPS
from tests.fixtures.servers import finding_tests, serving

from hmstats import client
from hmstats.collector.lake.iceberg import table_files

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("HMSTATS_TEST_ANALYSIS_KILLS", "1"))
ANALYST = "tests.faults.harness.analyst"
TABLE = "lake.t"
LOCK_SECONDS = 8
"""How long a killed analysis keeps the metastore's lock."""
_LONGEST_SECONDS, _PAUSE_SECONDS = 1.5, 0.5


@pytest.fixture(params=["metastore", "sql"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str, Catalog]]:
    """The kind of catalog, its address, and PyIceberg on it."""
    warehouse = f"file://{tmp_path}/lake"
    if request.param == "sql":
        uri = f"sqlite:///{tmp_path}/catalog.db"
        with SqlCatalog("lake", uri=uri, warehouse=warehouse) as lake:
            yield "sql", uri, lake
        return
    with serving(tmp_path, settings={"lock_timeout_seconds": LOCK_SECONDS}) as port:
        uri = f"thrift://127.0.0.1:{port}"
        waits = {"lock-check-min-wait-time": "0.05", "lock-check-max-wait-time": "0.5", "lock-check-retries": "100"}
        yield "metastore", uri, HiveCatalog("lake", uri=uri, warehouse=warehouse, **waits)


def test_kills_lose_no_commit_and_leave_no_broken_entry(catalog: tuple[str, str, Catalog]) -> None:
    kind, uri, pyiceberg = catalog
    pyiceberg.create_namespace("lake")
    pyiceberg.create_table(TABLE, schema=ROWS.schema).append(ROWS)
    dice = random.Random(os.environ.get("PYTEST_RANDOMLY_SEED"))
    with _appending(pyiceberg) as appended:
        for step in STEPS:
            _let_it_die(kind, uri, step)
            _check_entries(_metadata(kind, uri, pyiceberg))
        for _ in range(KILLS):
            _kill_an_analysis(kind, uri, dice.uniform(0, _LONGEST_SECONDS))
            _check_entries(_metadata(kind, uri, pyiceberg))
    metadata = _metadata(kind, uri, pyiceberg)
    entries = len(metadata.get("statistics") or ())
    orphans = len([*Path(metadata["location"].removeprefix("file:")).glob("metadata/*.stats")]) - entries
    assert (entries >= 1, orphans >= 2) == (True, True)
    table = pyiceberg.load_table(TABLE)
    assert len(table.snapshots()) >= 1 + len(appended) > 1
    assert table.scan().to_arrow().num_rows == ROWS.num_rows * len(table.snapshots())
    _analyze_once(kind, uri)
    after = _metadata(kind, uri, pyiceberg)
    _check_entries(after)
    assert after["current-snapshot-id"] in {each["snapshot-id"] for each in after["statistics"]}
    print(f"{KILLS} kills, {len(appended)} appends, {entries} entries, {orphans} files that nobody names")


@contextmanager
def _appending(pyiceberg: Catalog) -> Iterator[list[int]]:
    """Append rows until the end; the list has an item for each append that has succeeded."""
    done, ended = list[int](), Event()

    def append() -> None:
        while not ended.is_set():
            try:
                pyiceberg.load_table(TABLE).append(ROWS)
            except (CommitFailedException, WaitingForLockException):
                continue
            done.append(1)
            ended.wait(_PAUSE_SECONDS)

    thread = Thread(target=append)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


def _let_it_die(kind: str, uri: str, step: str) -> None:
    command = [sys.executable, "-m", ANALYST, kind, uri, TABLE, step]
    done = subprocess.run(command, env=finding_tests(), capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def _kill_an_analysis(kind: str, uri: str, after_seconds: float) -> None:
    """Kill a process that analyses again and again, some time after its first analysis."""
    command = [sys.executable, "-m", ANALYST, kind, uri, TABLE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=finding_tests(), text=True) as analyst:
        assert analyst.stdout is not None
        assert analyst.stdout.readline() == "analysed\n"
        time.sleep(after_seconds)
        assert analyst.poll() is None
        analyst.kill()


def _analyze_once(kind: str, uri: str) -> None:
    command = ["analyze", TABLE, "--puffin-columns", "all"]
    where = ["--catalog", "lake"] if kind == "sql" else ["--metastore", uri]
    given = {"PYICEBERG_CATALOG__LAKE__TYPE": "sql", "PYICEBERG_CATALOG__LAKE__URI": uri}
    hmstats = str(Path(sys.executable).parent / "hmstats")
    done = subprocess.run(
        [hmstats, *command, *where], env=os.environ | given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _metadata(kind: str, uri: str, pyiceberg: Catalog) -> Any:
    if kind == "sql":
        location = pyiceberg.load_table(TABLE).metadata_location
    else:
        with client.connect(uri) as service:
            table = service.find_table(TABLE)
        assert table is not None
        location = table.parameters["metadata_location"]
    return table_files.read_metadata(load_file_io(location=location), location)


def _check_entries(metadata: Any) -> None:
    """Every entry is of a snapshot that there is, and its file is whole; there is one for each snapshot."""
    known = {each["snapshot-id"] for each in metadata["snapshots"]}
    entries = metadata.get("statistics") or ()
    assert {each["snapshot-id"] for each in entries} <= known
    assert len({each["snapshot-id"] for each in entries}) == len(entries)
    for entry in entries:
        fields = [field for blob in puffin_of(entry).blobs for field in blob.fields]
        assert len(set(fields)) == len(fields)
