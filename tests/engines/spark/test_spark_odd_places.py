"""A stock Spark's tables in places that look odd: values, folders and file systems that no other test has."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engines.spark.sessions.spark_odd_places import places
from tests.fixtures.object_stores.object_store import BUCKET, object_store
from tests.fixtures.servers import finding_tests, serving
from tests.peers.spark_jars import hadoop_s3

pytestmark = [
    pytest.mark.engines,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="S3A comes from Maven, not found on this machine"),
]

PLACES = {each.name: each for each in places("", "")}
STEPS = (
    "analysed",
    "appended by rows",
    "appended by files",
    "overwritten",
    "analysed what changed",
    "renamed",
    "partition dropped",
    "dropped",
)
MARKED = {"analysed", "analysed what changed", "renamed"}
"""Steps after which the table's own numbers are known and marked as accurate, not only its partitions'."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """What happened, by place and step."""
    folder = tmp_path_factory.mktemp("odd")
    script = Path(__file__).parent / "sessions" / "spark_odd_places.py"
    with object_store(folder) as store:
        named = {**store.hadoop, "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
        conf = [f"spark.hadoop.{name}={value}" for name, value in named.items()]
        conf.append("spark.jars=" + ",".join(map(str, hadoop_s3.jars())))
        env = {name: value for name, value in finding_tests().items() if not name.startswith("AWS_")}
        with serving(folder, environment=store.environment, settings={"send_sketches": True}) as port:
            arguments = [f"thrift://127.0.0.1:{port}", str(folder / "disk"), f"s3a://{BUCKET}", *conf]
            command = [sys.executable, str(script), *arguments]
            done = subprocess.run(
                command, cwd=folder, env=env, capture_output=True, text=True, timeout=1500, check=False
            )
        assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    lines = map(json.loads, done.stdout.splitlines())
    return {(line["table"], line["step"]): line for line in lines}


@pytest.mark.parametrize("place", PLACES)
def test_every_number_is_right_and_a_drop_leaves_nothing(
    found: dict[tuple[str, str], dict[str, Any]], place: str
) -> None:
    left_out = {f"appended by {way}" for way in {"rows", "files"}.difference(PLACES[place].ways)}
    steps = [step for step in STEPS if step not in left_out]
    assert [step for name, step in found if name == place] == steps
    for step in steps[:-1]:
        line = found[place, step]
        left = step == "partition dropped"  # Spark leaves the table's own numbers then; their mark must go
        assert line["marked"] or step not in MARKED, step
        assert not (left and line["marked"])
        assert [text for partition, text in line["wrong"] if partition is not None or not left] == [], step
        stored = {value: rows for value, rows in line["stored"].items() if rows is not None and (value or not left)}
        assert stored == {value: line["counted"].get(value, 0) for value in stored}, step
        assert line["counted"].keys() <= line["stored"].keys(), step
    assert found[place, "analysed"]["stored"] == found[place, "analysed"]["counted"]
    assert found[place, "analysed what changed"]["stored"] == found[place, "analysed what changed"]["counted"]
    assert found[place, "dropped"]["left"] == []
