"""Whatever happens to tasks, files and the metastore: what is stored is right, or said not to be stored."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.collector.parted import NAMES, ROWS, parted, parts, stored
from tests.fixtures.ports import free_port
from tests.fixtures.servers import HMSTATS, serving

from hmstats.collector import check
from hmstats.collector.analysis import analyze
from hmstats.collector.report import Report
from hmstats.collector.scan import scan
from hmstats.collector.scan.files import splits
from hmstats.collector.scan.tasks import Job, Record, Task, read_tasks
from hmstats.errors import AnalysisIncomplete, StatementError, UnreadableFile
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = ("number", "price", "text", "flag", "moment")
PATIENCE_SECONDS = 60.0
Read = Callable[[Iterable[Task], Job], Iterator[Record]]


@dataclass
class Bench:
    """A table in a metastore of its own, which can be stopped and started again."""

    spark: Any
    folder: Path
    port: int
    name: TableName
    running: contextlib.ExitStack

    def analyze(self, **how: Any) -> Report:
        """Analyse the table; no spool folder but the one that is named."""
        table = f"{self.name.database}.{self.name.table}"
        how.setdefault("patience_seconds", PATIENCE_SECONDS)
        address = f"thrift://127.0.0.1:{self.port}"
        return analyze(self.spark, table, metastore=address, spool=str(self.folder / "spool"), **how)

    def stored(self) -> dict[str, Any]:
        """What the metastore has."""
        return stored(self.port, self.name)

    def says_empty(self, partition: str) -> None:
        """Have the metastore say that a partition has no files."""
        from tests.fixtures.metastores import Metastore

        found = Metastore("", self.port, 4.0, database=self.name.database)
        with found.clients:
            given = found.client().get_partition_by_name(self.name.database, "t", partition)
            given.parameters = {**given.parameters, "numFiles": "0", "totalSize": "0"}
            found.client().alter_partition(self.name.database, "t", given)

    def start(self) -> None:
        """Start the metastore on its port."""
        flags = ("--port", str(self.port))
        self.running.enter_context(serving(self.folder, *flags, settings={"send_sketches": True}))


@pytest.fixture
def bench(spark: Any, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(spark, tmp_path, free_port(), TableName("", "", ""), contextlib.ExitStack())
    with made.running:
        made.start()
        made.name = parted(made.port, tmp_path / "data", COLUMNS)
        yield made


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Read], None]]:
    """Puts something between Spark and the reading; each partition has a task of its own then."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(splits, "_LEAST_TASK_BYTES", 1)
    yield lambda instead: monkeypatch.setattr(scan, "read_tasks", instead)
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def once(folder: Path, event: str) -> bool:
    """Whether this happens for the first time, in whatever process."""
    try:
        os.close(os.open(folder / event, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


@pytest.mark.parametrize("fault", ["killed", "raised", "twice", "as a twin"])
def test_a_task_that_runs_again_changes_nothing(bench: Bench, faulty: Callable[[Read], None], fault: str) -> None:
    bench.analyze()
    expected = bench.stored()
    bench.analyze()
    assert bench.stored() == expected
    folder = bench.folder

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        mine = list(tasks)
        records = list(read_tasks(mine, job))  # all of it is delivered
        if fault == "killed" and once(folder, fault):
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "raised" and once(folder, fault):
            raise RuntimeError("by chance")
        if fault == "twice":
            records = list(read_tasks(mine, job))
        if fault == "as a twin":
            with ThreadPoolExecutor(2) as twins:
                records, _ = twins.map(lambda _: list(read_tasks(mine, job)), range(2))
        return iter(records)

    faulty(instead)
    report = bench.analyze()
    assert (folder / fault).exists() == (fault in ("killed", "raised"))
    assert bench.stored() == expected
    assert (report.rows, report.partitions, report.failed, report.spooled) == (len(NAMES) * ROWS, len(NAMES), {}, 0)
    assert {name: rows for name, (rows, _) in expected.items()} == {
        **dict.fromkeys(NAMES, str(ROWS)),
        "": str(len(NAMES) * ROWS),
    }


def test_a_file_that_cannot_be_read_is_named_and_all_else_is_stored(bench: Bench) -> None:
    broken = bench.folder / "data" / NAMES[3] / "0.parquet"
    broken.write_bytes(broken.read_bytes()[:-20])
    with pytest.raises(AnalysisIncomplete) as error:
        bench.analyze()
    assert f"{NAMES[3]}: file {broken} cannot be read: " in str(error.value)
    report: Any = error.value.report
    assert (set(report.failed), report.partitions, report.whole) == ({NAMES[3]}, 3, None)
    found = bench.stored()
    assert {name: rows for name, (rows, _) in found.items() if rows} == dict.fromkeys(NAMES[:3], str(ROWS))
    assert found[NAMES[3]] == (None, {})
    assert found[NAMES[0]][1]["number"]["nulls"] == parts()[NAMES[0]]["number"].null_count
    with pytest.raises(UnreadableFile, match=f"file {broken} cannot be read") as stopped:
        bench.analyze(reliable=True)
    assert "Traceback" not in str(stopped.value)


@pytest.mark.parametrize("how", [{}, {"noscan": True}], ids=["scan", "noscan"])
def test_a_partition_that_is_not_there_is_named_and_not_counted_as_empty(bench: Bench, how: dict[str, Any]) -> None:
    place = bench.folder / "data" / NAMES[1]
    shutil.move(place, bench.folder / "unmounted")
    with pytest.raises(AnalysisIncomplete, match=f"{NAMES[1]}: file:{place} does not exist") as error:
        bench.analyze(**how)
    report: Any = error.value.report
    assert (set(report.failed), report.partitions, report.whole) == ({NAMES[1]}, 3, None)
    others = [name for name in NAMES if name != NAMES[1]]
    rows = None if how else str(ROWS)
    assert {name: rows for name, (rows, _) in bench.stored().items()} == {
        **dict.fromkeys(others, rows),
        NAMES[1]: None,
        "": None,
    }
    bench.says_empty(NAMES[1])
    assert bench.analyze(**how).partitions == len(NAMES)
    assert bench.stored()[NAMES[1]][0] == (None if how else "0")


def test_a_table_of_which_nothing_is_there_is_refused_before_any_job(bench: Bench) -> None:
    bench.analyze()
    expected = bench.stored()
    shutil.move(bench.folder / "data", bench.folder / "unmounted")
    sentence = rf"partition {NAMES[0]} of .*\.t cannot be analysed: file:.* does not exist, .*; and 3 more"
    for how in ({}, {"noscan": True}, {"changed_only": True}, {"partitions": {"k": "0"}, "columns": ["number"]}):
        with pytest.raises(StatementError, match=sentence.removesuffix("; and 3 more" if "partitions" in how else "")):
            bench.analyze(**how)
    with pytest.raises(StatementError, match=sentence):
        check(bench.spark, f"{bench.name.database}.t", metastore=f"thrift://127.0.0.1:{bench.port}")
    assert bench.stored() == expected


def test_a_directory_that_may_not_be_listed_is_named_and_all_else_is_stored(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied, scandir = str(bench.folder / "data" / NAMES[2]), os.scandir

    def listed(path: str) -> Any:
        if path == denied:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listed)
    with pytest.raises(AnalysisIncomplete, match=f"{NAMES[2]}: file:{denied} cannot be listed: Permission denied"):
        bench.analyze()
    assert {name for name, (rows, _) in bench.stored().items() if rows} == {*NAMES} - {NAMES[2]}


def test_a_file_that_may_not_be_read_is_named_and_all_else_is_stored(
    bench: Bench, faulty: Callable[[Read], None]
) -> None:
    denied = bench.folder / "data" / NAMES[2] / "0.parquet"

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        def refused(location: str, settings: Any) -> Any:
            if location.endswith(NAMES[2]):
                raise PermissionError(errno.EACCES, "Permission denied")
            return open_location(location, settings)

        with patch("hmstats.collector.scan.files.opening.open_location", refused):
            return iter(list(read_tasks(tasks, job)))

    faulty(instead)
    with pytest.raises(AnalysisIncomplete, match=f"{NAMES[2]}: file {denied} cannot be read: .*Permission denied"):
        bench.analyze()
    assert {name for name, (rows, _) in bench.stored().items() if rows} == {*NAMES} - {NAMES[2]}


@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_vanishes_while_it_is_scanned_is_named_and_all_else_is_stored(
    bench: Bench, faulty: Callable[[Read], None], what: str
) -> None:
    """It was listed, and is gone when a task opens it; what was stored of it before stays."""
    bench.analyze()
    expected = bench.stored()
    place = bench.folder / "data" / NAMES[3]

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(place) if what == "directory" else (place / "0.parquet").unlink()
        return read_tasks(tasks, job)

    faulty(instead)
    with pytest.raises(AnalysisIncomplete, match=f"{NAMES[3]}: file {place}/0.parquet cannot be read: ") as error:
        bench.analyze()
    report: Any = error.value.report
    assert (set(report.failed), report.whole) == ({NAMES[3]}, None)
    assert bench.stored() == expected


def test_a_file_that_is_written_over_while_it_is_scanned_is_named_and_all_else_is_stored(
    bench: Bench, faulty: Callable[[Read], None]
) -> None:
    """It has other row groups than were listed; the next analysis reads it, whatever was stored before."""
    bench.analyze()
    expected = bench.stored()
    folder, place = bench.folder, bench.folder / "data" / NAMES[0] / "0.parquet"

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        mine = list(tasks)
        if any(split.path == str(place) for task in mine for split in task.splits) and once(folder, "written"):
            rows = pq.read_table(place)
            pq.write_table(pa.concat_tables([rows, rows]), place, row_group_size=10)
        return read_tasks(mine, job)

    faulty(instead)
    with pytest.raises(AnalysisIncomplete, match=f"{NAMES[0]}: file {place} was listed with .* analyze again") as error:
        bench.analyze()
    report: Any = error.value.report
    assert (set(report.failed), report.whole) == ({NAMES[0]}, None)
    assert bench.stored() == expected
    again = bench.analyze(changed_only=True)
    assert (again.partitions, again.rows, again.unchanged) == (1, 2 * ROWS, len(NAMES) - 1)
    assert bench.stored()[""][0] == str((len(NAMES) + 1) * ROWS)


def test_a_metastore_that_stops_in_the_middle_and_comes_back_gets_everything(
    bench: Bench, faulty: Callable[[Read], None]
) -> None:
    bench.analyze()
    expected = bench.stored()
    faulty(waiting(bench.folder))
    with ThreadPoolExecutor(1) as thread:
        analysis = thread.submit(bench.analyze)
        stop_in_the_middle(bench)
        time.sleep(1)
        bench.start()
        report = analysis.result(PATIENCE_SECONDS)
    assert (report.spooled, report.failed) == (0, {})
    assert not (bench.folder / "spool").exists()
    assert bench.stored() == expected


def test_a_metastore_that_stays_away_gets_the_same_from_the_spool_folder(
    bench: Bench, faulty: Callable[[Read], None]
) -> None:
    bench.analyze()
    expected = bench.stored()
    time.sleep(1.1)  # what was written in the second in which it was made is no newer
    faulty(waiting(bench.folder))
    with ThreadPoolExecutor(1) as thread:
        analysis = thread.submit(bench.analyze, patience_seconds=1.0)
        stop_in_the_middle(bench)
        report = analysis.result(PATIENCE_SECONDS)
    assert report.spooled > 1
    assert (report.rows, report.failed) == (len(NAMES) * ROWS, {})
    bench.start()
    forget(bench)
    assert bench.stored() != expected
    pushed = push(bench)
    assert pushed.returncode == 0, pushed.stderr
    assert f"statistics of {report.spooled} tables and partitions" in pushed.stdout
    assert bench.stored() == expected
    assert list((bench.folder / "spool").iterdir()) == []


def waiting(folder: Path) -> Read:
    """A task that waits, before it delivers anything, until the metastore is stopped."""

    def instead(tasks: Iterable[Task], job: Job) -> Iterator[Record]:
        (folder / "reached").touch()
        end = time.monotonic() + PATIENCE_SECONDS
        while not (folder / "stopped").exists() and time.monotonic() < end:
            time.sleep(0.05)
        return read_tasks(tasks, job)

    return instead


def stop_in_the_middle(bench: Bench) -> None:
    """Stop the metastore once tasks run."""
    reached = threading.Event()
    end = time.monotonic() + PATIENCE_SECONDS
    while not (bench.folder / "reached").exists():
        assert time.monotonic() < end, "no task began"
        reached.wait(0.05)
    bench.running.close()
    (bench.folder / "stopped").touch()


def forget(bench: Bench) -> None:
    """Delete the statistics of the first analysis of all partitions."""
    from tests.fixtures.metastores import Metastore

    found = Metastore("", bench.port, 4.0, database=bench.name.database)
    with found.clients:
        for name in NAMES:
            for column in COLUMNS:
                found.client().delete_partition_column_statistics(bench.name.database, "t", name, column, "hive")


def push(bench: Bench) -> subprocess.CompletedProcess[str]:
    """`hmstats push`, as a user runs it."""
    command = [HMSTATS, "push", str(bench.folder / "spool"), "--metastore", f"thrift://127.0.0.1:{bench.port}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
