"""One session of Iceberg in Spark on a real Hive Metastore and on ours: every statement answers the same."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.postgres import fresh_database
from tests.fixtures.servers import serving
from tests.peers.iceberg_spark import fetched

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

HERE = Path(__file__).parent
STATEMENTS = HERE / "iceberg_session.sql"
ICEBERG = "org.apache.iceberg.spark"

Answers = list[dict[str, Any]]


@pytest.fixture(scope="module", autouse=True)
def _maven() -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")


def session(port: int, warehouse: Path) -> Answers:
    """What each statement answers."""
    parts = fetched()
    conf = {
        "spark.jars": str(parts.jar),
        "spark.sql.extensions": f"{ICEBERG}.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": f"{ICEBERG}.SparkCatalog",
        "spark.sql.catalog.ice.type": "hive",
        "spark.sql.catalog.ice.uri": f"thrift://127.0.0.1:{port}",
        "spark.sql.catalog.ice.warehouse": f"file:{warehouse}",
    }
    given = [f"thrift://127.0.0.1:{port}", f"file:{warehouse}", str(STATEMENTS), "icetest"]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    done = subprocess.run(
        [sys.executable, HERE / "spark_session.py", *given, *(f"{name}={value}" for name, value in conf.items())],
        env={**environment, "PYTHONPATH": str(parts.packages)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=warehouse.parent,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


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
