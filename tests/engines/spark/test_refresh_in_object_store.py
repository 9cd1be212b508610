"""What a stock Spark writes to an object store is refreshed and exported; Hadoop's settings alone say how to reach it.

The engine says s3a, the server s3, and the environment of the commands nothing. Each kind of store is tried.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from tests.engines.spark.test_spark import session
from tests.fixtures.object_stores.object_store import BUCKET, MOTO, S3PROXY, object_store
from tests.fixtures.servers import HMSTATS, serving
from tests.peers.spark_jars import hadoop_s3

pytestmark = [
    pytest.mark.engines,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="S3A comes from Maven, not found on this machine"),
]

SESSIONS = Path(__file__).parent / "sessions"
NULL = "k=__HIVE_DEFAULT_PARTITION__"
ROWS = {
    ("plain", None): 1000,
    ("parted", "k=a b"): 100,
    ("parted", "k=100%25"): 100,
    ("parted", NULL): 100,
    ("texts", None): 50,
    ("renamed", None): 70,
}
"""The rows of each table or partition after the first session."""
AGAIN = {("moved", None): 1000, ("parted", "k=100%25"): 140, ("renamed", None): 20}
"""Those that the second session changed."""


@dataclass(frozen=True)
class Lake:
    """A server whose warehouse lies in a store, and how Spark reaches both."""

    folder: Path
    address: str
    conf: dict[str, str]
    files: fs.FileSystem

    def run(self, statements: str) -> list[dict[str, Any]]:
        """What a stock Spark answers to the statements of a file."""
        place = f"s3a://{BUCKET}/warehouse"
        given = {"hive.exec.dynamic.partition.mode": "nonstrict", **self.conf}
        found = session(self.address, place, "lake_db", SESSIONS / statements, folder=self.folder, conf=given)
        return [*found.values()]

    def command(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command without the store's settings in its environment prints as JSON."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        command = [HMSTATS, *arguments, "--metastore", self.address, "--json"]
        done = subprocess.run(
            command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=580, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refreshed(self) -> set[tuple[str, str]]:
        """The tables that a round takes, with how their analysis ended."""
        conf = [flag for name, value in self.conf.items() for flag in ("--conf", f"{name}={value}")]
        done = self.command("refresh", "lake_db.*", "--master", "local[2]", *conf)
        return {(each["table"], each["outcome"]) for each in done if "outcome" in each}

    def exported(self) -> list[dict[str, Any]]:
        """The rows of a file with all statistics of the database."""
        self.command("export", str(self.folder / "lake.parquet"), "lake_db.*")
        rows: list[dict[str, Any]] = pq.read_table(self.folder / "lake.parquet").to_pylist()
        return rows


@pytest.fixture(params=[MOTO, S3PROXY])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    with object_store(tmp_path, request.param) as store:
        conf = {f"spark.hadoop.{name}": value for name, value in store.hadoop.items()}
        # A managed table that the server has placed lies behind s3, which Hadoop must be told of.
        conf["spark.hadoop.fs.s3.impl"] = "org.apache.hadoop.fs.s3a.S3AFileSystem"
        conf["spark.jars"] = ",".join(map(str, hadoop_s3.jars()))
        with serving(tmp_path, environment=store.environment, warehouse=f"s3://{BUCKET}/warehouse") as port:
            yield Lake(tmp_path, f"thrift://127.0.0.1:{port}", conf, store.files())


def rows_of(exported: Sequence[dict[str, Any]]) -> dict[tuple[str, str | None], int]:
    """The exported rows by table and partition; what has none is left out."""
    targets = [each for each in exported if each["column_name"] is None]
    counts = {(each["table_name"], each["partition_name"]): dict(each["parameters"]) for each in targets}
    return {target: int(found["numRows"]) for target, found in counts.items() if "numRows" in found}


def test_a_session_is_refreshed_and_exported(lake: Lake) -> None:
    answers = lake.run("refreshed_session.sql")
    assert [each["error"] for each in answers] == [None] * len(answers)
    assert answers[-1]["rows"] == [[70]]
    names = {name for name, _ in ROWS}
    assert lake.refreshed() == {(name, "done") for name in names}
    assert lake.refreshed() == set()
    first = lake.exported()
    assert rows_of(first).items() >= ROWS.items()
    ids = {
        (each["table_name"], each["partition_name"]): (each["low"], each["high"], each["nulls"])
        for each in first
        if each["column_name"] == "id"
    }
    assert ids["plain", None] == ("0", "999", 0)
    assert ids["renamed", None] == ("0", "69", 0)
    assert ids["parted", "k=100%25"] == ("1", "298", 0)
    assert lake.files.get_file_info(f"{BUCKET}/warehouse/lake_db.db/gone").type is fs.FileType.NotFound

    answers = lake.run("refreshed_again.sql")
    assert [each["error"] for each in answers] == [None] * len(answers)
    assert answers[-1]["rows"] == [[1000]]
    changed = lake.refreshed()
    assert {("parted", "done"), ("renamed", "done")} <= changed
    assert ("texts", "done") not in changed
    left = {target: rows for target, rows in ROWS.items() if target[0] != "plain"}
    assert rows_of(lake.exported()).items() >= {**left, **AGAIN}.items()
