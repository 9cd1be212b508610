"""Statistics while a stock Spark writes to HDFS, with its own client, and ours reads it with another."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engines.spark.test_spark_writes_to_object_store import ROWS
from tests.fixtures.hdfs import NEEDS_MAVEN, hdfs
from tests.fixtures.servers import finding_tests, serving

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow, NEEDS_MAVEN]


def test_what_is_gathered_is_what_an_analysis_finds(tmp_path: Path) -> None:
    script = Path(__file__).parent / "sessions" / "spark_writes.py"
    with hdfs(tmp_path) as name_node:
        root = f"hdfs://127.0.0.1:{name_node}/warehouse"
        with serving(tmp_path, warehouse=root) as port:
            command = [sys.executable, str(script), f"thrift://127.0.0.1:{port}", root]
            done = subprocess.run(
                command, cwd=tmp_path, env=finding_tests(), capture_output=True, text=True, timeout=580, check=False
            )
        assert done.returncode == 0, done.stderr[-3000:]
        found = {line.pop("table"): line for line in map(json.loads, done.stdout.splitlines())}
    assert {name: line["rows"] for name, line in found.items()} == ROWS
    assert all(line["written"] == [3000, 1600, 10] for line in found.values())
    assert [name for name, line in found.items() if not line["same"]] == []
    assert [name for name, line in found.items() if not line["unchanged"]] == []
    assert [line["files"] for line in found.values() if line["files"][0] != line["files"][1]] == []
