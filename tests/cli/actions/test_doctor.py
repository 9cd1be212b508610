"""`hmstats doctor`: what is right, what is wrong and what to do, in lines and exit codes."""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.servers import serving
from typer.testing import CliRunner, Result

from hmstats.cli.diagnosis.server import _clock, _roots
from hmstats.cli.diagnosis.versions import versions
from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.client.connection.connection import Connection
from hmstats.client.metastore import Metastore
from hmstats.store.migration import migrate, schema_revision
from hmstats.version import __version__
from hmstats.wire.idl import hive_metastore as api


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doctor")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with serving(folder) as number:
        yield number


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


def lines(*arguments: str) -> dict[str, dict[str, Any]]:
    """What is said in JSON, by subject."""
    found = [json.loads(line) for line in run(*arguments, "--json").stdout.splitlines()]
    return {each["subject"]: each for each in found}


def of_server(folder: Path, port: int) -> list[str]:
    place = ("--database", f"sqlite:///{folder}/hmstats.sqlite", "--warehouse", f"{folder}/warehouse")
    return [*place, "--metastore", f"thrift://127.0.0.1:{port}"]


def test_all_is_well(folder: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    result = run(*of_server(folder, port))
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "0 problems, 0 warnings"
    found = lines(*of_server(folder, port))
    assert {each["level"] for each in found.values()} == {"ok"}
    assert list(found) == [
        *("hmstats", "Python", "PySpark", "Java", "PYSPARK_PYTHON", "database", "roots", "write rights"),
        *("metastore", "clock", "warehouse", "databases"),
    ]
    assert found["database"]["found"].endswith(f"at schema {schema_revision.head()}")
    assert found["warehouse"]["found"].endswith(f"{folder}/warehouse")
    assert not list((folder / "warehouse").glob(".hmstats-doctor-*"))


def test_a_server_that_is_away_is_a_problem_with_advice(folder: Path) -> None:
    result = run(*of_server(folder, 1))
    assert result.exit_code == 1
    assert "problem  metastore: no metastore can be reached at thrift://127.0.0.1:1" in result.stdout
    assert "         start `hmstats serve`, or name the metastore with --metastore" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("1 problem, ")


def test_each_address_has_a_line(folder: Path, port: int) -> None:
    result = run(*of_server(folder, port)[:-1], f"thrift://127.0.0.1:1,thrift://127.0.0.1:{port}")
    assert result.exit_code == 1
    assert "problem  metastore: no metastore can be reached at thrift://127.0.0.1:1" in result.stdout
    assert f"ok       metastore: hmstats {__version__} answers at thrift://127.0.0.1:{port}" in result.stdout
    assert "ok       warehouse: " in result.stdout


def test_a_database_of_another_schema(tmp_path: Path, port: int) -> None:
    url = f"sqlite:///{tmp_path}/old.sqlite"
    migrate.upgrade(url)
    migrate.downgrade(url, "0003")
    found = lines("--database", url, "--metastore", f"thrift://127.0.0.1:{port}")["database"]
    assert found["level"] == "problem"
    assert found["found"].endswith(f"/old.sqlite at schema 0003, this version needs {schema_revision.head()}")
    assert "hmstats migrate" in found["advice"]
    later = f"{int(schema_revision.head()) + 1:04}"
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as file:
        file.execute(f'UPDATE "{schema_revision.VERSION_TABLE}" SET version_num = {later!r}')
        file.commit()
    found = lines("--database", url, "--metastore", f"thrift://127.0.0.1:{port}")["database"]
    assert (found["level"], f"at schema {later}, one newer" in found["found"]) == ("ok", True)
    missing = lines("--database", f"sqlite:///{tmp_path}/none.sqlite")["database"]
    assert (missing["level"], missing["advice"]) == ("warning", "`hmstats serve` makes it")
    assert not (tmp_path / "none.sqlite").exists()
    away = lines("--database", "postgresql://127.0.0.1:1/x?user=nobody&password=secret")["database"]
    assert away["level"] == "problem"
    assert "secret" not in json.dumps(away)


def test_a_hives_database_is_to_be_adopted(hive_database: str) -> None:
    found = lines("--database", hive_database)["database"]
    assert (found["level"], found["advice"]) == ("problem", "run `hmstats adopt --write`")


@pytest.mark.slow
def test_roots_of_a_servers_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as number, connect(f"thrift://127.0.0.1:{number}") as service:
        database = api.Database(name="far", locationUri=f"file:{tmp_path}/elsewhere/far.db", parameters={})
        service._connection.call("create_database", database)
    given = ("--database", f"sqlite:///{tmp_path}/hmstats.sqlite", "--warehouse", f"{tmp_path}/warehouse")
    assert lines(*given)["roots"]["level"] == "ok", "on loopback directories are changed everywhere"
    monkeypatch.setenv("HMSTATS__HOST", "0.0.0.0")
    found = lines(*given)["roots"]
    assert (found["level"], found["advice"]) == (
        "warning",
        f"set warehouse_roots, as HMSTATS__WAREHOUSE_ROOTS=file:{tmp_path}/elsewhere",
    )
    monkeypatch.setenv("HMSTATS__WAREHOUSE_ROOTS", f"{tmp_path}/elsewhere")
    assert lines(*given)["roots"]["level"] == "ok"


def test_a_warehouse_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = lines("--warehouse", f"{tmp_path}/file")["write rights"]
    assert found["level"] == "problem"
    assert f"{tmp_path}/file cannot be written to" in found["found"]
    inside = lines("--warehouse", f"{tmp_path}/file/below/it")["write rights"]
    assert (inside["level"], f"{tmp_path}/file/below/it cannot be written to" in inside["found"]) == ("problem", True)
    assert lines("--warehouse", f"{tmp_path}/not/yet")["write rights"]["found"].endswith("the server makes it")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    unknown = lines("--warehouse", "nowhere://x/y")["write rights"]
    assert unknown["level"] == "problem"


def test_an_old_java_and_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def java(*, needed: bool) -> tuple[str, str]:
        found = {each.subject: each for each in versions(spark_is_needed=needed)}["Java"]
        return found.level, found.found

    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java(needed=True) == ("problem", f"11 at {program}, needed is 17 or newer")
    assert java(needed=False)[0] == "warning"
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert java(needed=True) == ("problem", "is not at /nowhere/bin/java, as JAVA_HOME says; Spark needs it")


def test_a_python_of_tasks_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def workers() -> tuple[str, str]:
        found = {each.subject: each for each in versions(spark_is_needed=True)}["PYSPARK_PYTHON"]
        return found.level, found.found

    monkeypatch.setenv("PYSPARK_PYTHON", "/nowhere/python")
    assert workers() == ("problem", "/nowhere/python is not there, or cannot be run")
    monkeypatch.setenv("PYSPARK_PYTHON", "/bin/true")
    assert workers()[0] == "problem"
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert workers() == ("ok", sys.executable)


class Answering(Metastore):
    """A metastore with a clock of its own."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(Connection((), timeout_seconds=1, retries=0))
        self._seconds = seconds

    @property
    def address(self) -> str:
        return "thrift://there:9083"

    def now_seconds(self) -> float | None:
        return self._seconds


def test_clocks_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000.0)
    assert _clock(Answering(1_000.4)).level == "ok"
    assert _clock(Answering(None)).level == "ok"
    late = _clock(Answering(940.0))
    assert (late.level, late.found) == ("warning", "that of thrift://there:9083 is 60.0 seconds behind this machine's")
    assert "ahead of" in _clock(Answering(1_060.0)).found


@pytest.mark.parametrize(
    ("roots", "level"),
    [(["s3://lake/w"], "warning"), (["s3a://lake/w", "*"], "ok"), (["s3n://lake/w", "s3://lake/x", "/data"], "ok")],
)
def test_roots_that_databases_need_are_proposed(roots: list[str], level: str) -> None:
    locations = {
        "default": "s3a://lake/w",
        "a": "s3://lake/w/a.db",
        "b": "s3a://lake/x/b.db",
        "c": "s3://lake/x/c.db",
        "d": "file:///data/place-of-d",
    }
    found = _roots(roots, locations)
    assert found.level == level
    if level == "warning":
        assert found.found == "3 lie where the server changes no directories: b, c, d"
        assert found.advice == "serve with HMSTATS__WAREHOUSE_ROOTS=file:/data/place-of-d,s3://lake/x"


@pytest.mark.slow
@pytest.mark.spark
def test_a_spark_session_is_looked_at(spark: Any, spark_metastore: str) -> None:
    found = lines("--spark", "--metastore", spark_metastore)
    assert found["Spark"]["found"] == f"{spark.version} at {spark.sparkContext.master}"
    assert found["Spark's metastore"]["level"] == "ok"
    warehouse = found["Spark's warehouse"]
    assert warehouse["level"] == "warning"
    assert " is not the metastore's, file:" in warehouse["found"]
    assert "start Spark with spark.sql.warehouse.dir=file:" in warehouse["advice"]
    assert found["Spark's tasks"]["level"] == "ok"
