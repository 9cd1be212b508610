"""One session of Delta's tables in Spark on a real Hive Metastore and on ours: every statement answers the same."""

import shutil
from pathlib import Path

import pytest
from tests.engines.spark.sessions import older_spark
from tests.engines.spark.sessions.older_spark import Answers
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers.spark_jars import delta_spark, iceberg_spark

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

STATEMENTS = Path(__file__).parent / "sessions" / "delta_session.sql"
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",  # of the few files here; 50 would take minutes
}


def session(port: int, warehouse: Path) -> Answers:
    """What each statement answers."""
    packages = iceberg_spark.fetched().packages
    return older_spark.session(port, warehouse, STATEMENTS, packages, delta_spark.jars(), CONF)


def test_every_statement_answers_as_on_hive(tmp_path: Path) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Delta's jars come from Maven, not found on this machine")
    (tmp_path / "hive").mkdir()
    (tmp_path / "ours").mkdir()
    where = f"hive.metastore.warehouse.dir=file:{tmp_path}/hive/warehouse"
    with hive("2.3", tmp_path / "hive", where) as port:
        expected = session(port, tmp_path / "hive" / "warehouse")
    with serving(tmp_path / "ours") as port:
        found = session(port, tmp_path / "ours" / "warehouse")
    assert len(expected) == len(STATEMENTS.read_text().splitlines())
    assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []
