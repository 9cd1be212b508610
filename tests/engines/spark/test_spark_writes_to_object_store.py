"""Statistics while a stock Spark writes to an object store, which it calls s3a and the server s3."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import fs
from tests.fixtures.object_stores.object_store import BUCKET, CHOSEN, MOTO, object_store
from tests.fixtures.servers import finding_tests, serving
from tests.peers.spark_jars import hadoop_s3

pytestmark = [
    pytest.mark.engines,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="S3A comes from Maven, not found on this machine"),
]

WAYS = ("through_thrift", "through_files", "from_files")
PARTED = {"k=0": 1533, "k=1": 10, "k=2": 1534, "": 3077}
ROWS = {
    **{f"writes.{way}": {"": 10} for way in WAYS},
    **{f"writes.{way}_parted": PARTED for way in WAYS},
    "writes.of_orc": {"": 10},
    "default.of_the_server": {"": 10},
}


def test_what_is_gathered_is_what_an_analysis_finds(tmp_path: Path) -> None:
    script = Path(__file__).parent / "sessions" / "spark_writes.py"
    with object_store(tmp_path) as store:
        # A table of a database that the server made lies behind s3, which Hadoop must be told of.
        named = {**store.hadoop, "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
        conf = [f"spark.hadoop.{name}={value}" for name, value in named.items()]
        conf.append("spark.jars=" + ",".join(map(str, hadoop_s3.jars())))
        env = {name: value for name, value in finding_tests().items() if not name.startswith("AWS_")}
        with serving(tmp_path, environment=store.environment, warehouse=f"s3://{BUCKET}/warehouse") as port:
            command = [sys.executable, str(script), f"thrift://127.0.0.1:{port}", f"s3a://{BUCKET}/warehouse", *conf]
            done = subprocess.run(
                command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=580, check=False
            )
        assert done.returncode == 0, done.stderr[-3000:]
        found = {line.pop("table"): line for line in map(json.loads, done.stdout.splitlines())}
        states = fs.FileSelector(f"{BUCKET}/warehouse/_hmstats_running_writes", recursive=True)
        left = [each.path for each in store.files().get_file_info(states) if each.is_file]
    assert {name: line["rows"] for name, line in found.items()} == ROWS
    assert all(line["written"] == [3000, 1600, 10] for line in found.values())
    assert [name for name, line in found.items() if not line["same"]] == []
    assert [name for name, line in found.items() if not line["unchanged"]] == []
    assert [line["files"] for line in found.values() if line["files"][0] != line["files"][1]] == []
    if CHOSEN == MOTO:  # S3Proxy logs no requests
        assert "PUT /lake/warehouse/_hmstats_running_writes/hmstats-run-" in (tmp_path / "object-store.log").read_text()
    assert left == []
