"""`hmstats analyze --reliable` when files, tasks or the metastore fail: one sentence for each table, and no traceback.

One process with a Spark of its own analyses all the tables, since Spark's own log and its workers' errors appear there.
"""

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
from tests.collector.parted import NAMES, parted
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import finding_tests, serving

from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import hive_metastore as api

_FAILING = """
import os, signal, sys, time
from pathlib import Path
from hmstats.cli.main import main
from hmstats.collector.scan import scan, tasks
read, folder, faults = scan.read_tasks, Path(sys.argv.pop(1)), dict(zip(*[iter(sys.argv.pop(1).split())] * 2))

def failing(mine, job):
    fault = faults.get(job.delivery.table.database)
    if fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "away":
        (folder / "stop").touch()
        while not (folder / "stopped").exists():
            time.sleep(0.05)
    return read(mine, job)

scan.read_tasks = failing
main()
"""
"""The command with faults in its tasks: arguments are a folder, and pairs of a database and its fault."""


@pytest.mark.spark
@pytest.mark.slow
def test_whatever_fails_is_one_sentence_for_each_table(tmp_path: Path) -> None:
    with ExitStack() as running:
        port = running.enter_context(serving(tmp_path))
        tables = {fault: parted(port, tmp_path / fault, ("number",)) for fault in ("broken", "gone", "killed")}
        tables |= {"classless": _without_serde(port), "away": parted(port, tmp_path / "away", ("number",))}
        (tmp_path / "broken" / NAMES[2] / "0.parquet").write_bytes(b"PAR1 nothing")
        shutil.rmtree(tmp_path / "gone")
        stopping = Thread(target=_stop_when_asked, args=[tmp_path, running])
        stopping.start()
        done = subprocess.run(
            [
                *(sys.executable, "-c", _FAILING, str(tmp_path)),
                " ".join(f"{name.database} {fault}" for fault, name in tables.items()),
                *("analyze", *(f"{name.database}.t" for name in tables.values()), "--reliable"),
                *("--metastore", f"thrift://127.0.0.1:{port}", "--master", "local[1]", "--spool", "/proc/nowhere"),
            ],
            env=finding_tests() | {"HMSTATS__PATIENCE_SECONDS": "0.5"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        (tmp_path / "stop").touch()
        stopping.join()
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    said = [each for each in done.stderr.splitlines() if not each.startswith("WARNING: Using incubator modules")]
    beginnings = {
        "broken": f"file {tmp_path}/broken/{NAMES[2]}/0.parquet cannot be read: ",
        "gone": f"partition k=0 of {tables['gone'].database}.t cannot be analysed: file:{tmp_path}/gone/k=0 does not ",
        "killed": "a task of Spark was lost in the middle of the job (Python worker exited unexpectedly: killed",
        "classless": "table classless.t cannot be read by Spark, which finds none of its columns: the class ",
        "away": "spool folder /proc/nowhere cannot be written: ",
    }
    assert len(said) == len(beginnings), done.stderr
    for sentence, beginning in zip(said, beginnings.values(), strict=True):
        assert sentence.startswith(f"hmstats: {beginning}"), done.stderr


def _without_serde(port: int) -> TableName:
    """A table whose SerDe no jar has."""
    metastore = Metastore("hmstats-sqlite", port, 4.0, database="classless")
    with metastore.clients:
        metastore.client().create_database(api.Database(name=metastore.database, description="", parameters={}))
        storage = metastore.storage({"a": "int"})
        storage.inputFormat = "org.apache.hadoop.mapred.TextInputFormat"
        storage.serdeInfo.serializationLib = "com.example.SerDe"
        table = api.Table(dbName=metastore.database, tableName="t", sd=storage, partitionKeys=[], parameters={})
        metastore.client().create_table(table)
    return TableName("hive", metastore.database, "t")


def _stop_when_asked(folder: Path, running: ExitStack) -> None:
    while not (folder / "stop").exists():
        sleep(0.05)
    running.close()
    (folder / "stopped").touch()
