"""Spark Connect: what cannot be done there is refused in a sentence, and commands start a classic Spark."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.collector.parted import NAMES, ROWS, parted
from tests.fixtures.servers import HMSTATS, serving
from tests.fixtures.spark.spark_connect import connect_server

from hmstats.client import connect
from hmstats.collector.spark.session import local_session, spark_session
from hmstats.errors import SettingsError

NOWHERE = "thrift://127.0.0.1:1"


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_of_spark_connect_is_refused_in_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    with connect_server(tmp_path) as address:
        command = [sys.executable, "-m", "tests.collector.spark.connect_session", address]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for name, error in json.loads(run.stdout.splitlines()[-1]).items():
        sentence = f"the session is one of Spark Connect, and {name} needs a classic one: make it with a master, "
        assert error == ["StatementError", f"{sentence}or run the program by spark-submit"]


@pytest.mark.parametrize("variable", ["SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"])
def test_a_variable_for_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "sc://h:15002")
    with pytest.raises(SettingsError, match=f"^{variable}=sc://h:15002 asks for Spark Connect"):
        local_session(NOWHERE)


@pytest.mark.parametrize(("name", "value"), [("spark.remote", "sc://h:15002"), ("spark.api.mode", "connect")])
def test_a_setting_for_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    for submitted in (False, True):
        if submitted:
            monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
        with (
            pytest.raises(
                SettingsError, match=f"^{name}={value} asks for Spark Connect, and statistics need a classic"
            ),
            spark_session(NOWHERE, master=None, conf={name: value}),
        ):
            pass


@pytest.mark.spark
@pytest.mark.slow
def test_a_command_starts_a_classic_spark_where_connect_is_the_usual_one(tmp_path: Path) -> None:
    with serving(tmp_path) as port, connect(f"thrift://127.0.0.1:{port}") as service:
        name = parted(port, tmp_path / "data", ("number",))
        command = [HMSTATS, "analyze", f"{name.database}.t", "--metastore", f"thrift://127.0.0.1:{port}"]
        environment = {**os.environ, "SPARK_API_MODE": "connect"}
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        found = service.find_table(name)
    assert found is not None
    assert found.parameters["numRows"] == str(ROWS * len(NAMES))
