"""One session of Iceberg in Spark on a real Hive Metastore and on ours: every statement answers the same."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.engines.spark.sessions import older_spark
from tests.engines.spark.sessions.older_spark import Answers
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import CHECKOUT, hive
from tests.fixtures.servers import serving
from tests.peers.spark_jars.iceberg_spark import fetched

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).with_name("iceberg_session.sql")
ICEBERG = "org.apache.iceberg.spark"


@pytest.fixture(scope="module", autouse=True)
def _maven() -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")


def session(port: int, warehouse: Path) -> Answers:
    """What each statement answers."""
    parts = fetched()
    return older_spark.session(port, warehouse, STATEMENTS, parts.packages, [parts.jar], settings(port, warehouse))


def settings(port: int, warehouse: Path) -> dict[str, str]:
    """Those of Spark, whose catalog `ice` is Iceberg's on this metastore."""
    return {
        "spark.sql.extensions": f"{ICEBERG}.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": f"{ICEBERG}.SparkCatalog",
        "spark.sql.catalog.ice.type": "hive",
        "spark.sql.catalog.ice.uri": f"thrift://127.0.0.1:{port}",
        "spark.sql.catalog.ice.warehouse": f"file:{warehouse}",
    }


def test_every_statement_answers_as_on_hive(tmp_path: Path, postgres_server: str) -> None:
    """Hive is over PostgreSQL: Iceberg locks its tables, and over Derby Hive has no tables for locks."""
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    with fresh_database(postgres_server) as url, hive("2.3", tmp_path / "hive", database=url) as port:
        expected = session(port, tmp_path / "hive" / "warehouse")
    with serving(tmp_path / "ours") as port:
        found = session(port, tmp_path / "ours" / "warehouse")
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    refused = [each["sql"].split()[0] for each in expected if each["error"]]
    assert refused == ["SELECT", "CREATE", "DROP", "DROP"]
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_of_commits_of_two_sparks_each_happens_once(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """One table is committed to under a lock of the metastore, the other on the condition that nothing changed."""
    url = request.getfixturevalue("postgres_url") if database == "postgres" else None
    with serving(tmp_path, database=url) as port:
        at = HiveCatalog("test", uri=f"thrift://127.0.0.1:{port}", warehouse=f"file://{tmp_path}/warehouse")
        at.create_namespace("race")
        for name, locked in (("locked", "true"), ("free", "false")):
            patient = {"commit.retry.num-retries": "100", "engine.hive.lock-enabled": locked}
            at.create_table(f"race.{name}", pa.schema([("a", pa.int64())]), properties=patient)
        writers = [_writer(port, tmp_path / "warehouse") for _ in range(2)]
        ended = [writer.communicate(timeout=600) for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0], ended
        commits = sum(int(out) for out, _ in ended)
        tables = [at.load_table(f"race.{name}") for name in ("locked", "free")]
        assert [table.scan().to_arrow().num_rows for table in tables] == [commits, commits]
        assert [len(table.snapshots()) for table in tables] == [commits, commits]


def _writer(port: int, warehouse: Path) -> "subprocess.Popen[str]":
    """A Spark that inserts into both tables."""
    parts = fetched()
    conf = {"spark.jars": str(parts.jar), **settings(port, warehouse)}
    given = [f"thrift://127.0.0.1:{port}", f"file:{warehouse}", "ice.race.locked,ice.race.free"]
    given += [f"{name}={value}" for name, value in conf.items()]
    command = [sys.executable, "-m", "tests.engines.iceberg.iceberg_writer", *given]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    return subprocess.Popen(
        command,
        env=environment | {"PYTHONPATH": f"{parts.packages}{os.pathsep}{CHECKOUT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=warehouse.parent,
    )
