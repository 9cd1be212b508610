"""Ctrl-C as a terminal sends it, to all processes of a command: a line, and no process of Spark's is left.

While Spark starts there is a line at once too, since the end comes when it has started.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE_SECONDS = 120.0
ROWS = 3_000_000
STARTING, READING = "_PYSPARK_DRIVER_CONN_INFO_PATH", "pyspark.daemon"
"""What tells that Java is being started, in the environment of a process, and that tasks run, in a command line."""


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[str]:
    """The address of a metastore with a table default.t whose analysis takes some seconds."""
    rows = np.random.default_rng(1).integers(0, 2**60, ROWS)
    pq.write_table(pa.table({"a": rows}), tmp_path / "part.parquet")
    with serving(tmp_path) as port:
        made = Metastore("", port, 4.0, database="default")
        with made.clients:
            made.table("t", {"a": "bigint"})
            found = made.client().get_table("default", "t")
            found.sd.location = f"{tmp_path.as_uri()}/part.parquet"
            found.sd.inputFormat = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
            made.client().alter_table("default", "t", found)
        yield f"thrift://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("seen", "number"),
    [
        pytest.param(STARTING, signal.SIGINT, id="starting"),
        pytest.param(READING, signal.SIGINT, id="reading"),
        pytest.param(READING, signal.SIGTERM, id="terminated"),
    ],
)
def test_an_analysis_is_ended_by_a_signal(metastore: str, tmp_path: Path, seen: str, number: signal.Signals) -> None:
    command = [HMSTATS, "analyze", "t", "--metastore", metastore]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    # Spark's daemon takes itself out of the reach of Ctrl-C before it makes workers: one of them is waited for too.
    least = 2 if seen == READING else 1
    wait_until(lambda: sum(seen in each for each in texts(running.pid)) >= least)
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)
    out, said = running.communicate(timeout=PATIENCE_SECONDS)  # as long as a process of Spark's has them open
    assert (running.returncode, out) == (128 + number, ""), said
    lines = [each for each in said.splitlines() if not each.startswith("WARNING: ")]
    at_once = [f"hmstats: {number.name} came: the command ends as soon as Spark has started"]
    assert lines == [
        *(at_once if seen == STARTING else []),
        f"hmstats: ended by {number.name}: what was stored of partitions and tables stays, the others are as before",
    ]
    wait_until(lambda: not list(texts(running.pid)))


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def texts(session: int) -> Iterator[str]:
    """The command lines and the environments of the processes of a session."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((process / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                yield "\n".join((process / name).read_text("utf-8", "replace") for name in ("cmdline", "environ"))
