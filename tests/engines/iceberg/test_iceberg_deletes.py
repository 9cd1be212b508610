"""Rows that Spark deletes by position deletes (v2) and deletion vectors (v3) are not in the statistics."""

import shutil
from pathlib import Path

import pytest
from tests.cli.commands.test_analyze import command
from tests.engines.iceberg.test_iceberg_in_spark import settings
from tests.engines.spark.sessions import older_spark
from tests.fixtures.servers import serving
from tests.peers.spark_jars.iceberg_spark import fetched

from hmstats import client
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]
STATEMENTS = Path(__file__).with_name("iceberg_deletes.sql")


def test_deleted_rows_are_not_counted(tmp_path: Path) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")
    parts, warehouse = fetched(), tmp_path / "warehouse"
    with serving(tmp_path) as port:
        answers = older_spark.session(
            port, warehouse, STATEMENTS, parts.packages, [parts.jar], settings(port, warehouse)
        )
        assert [each["error"] for each in answers] == [None] * len(answers)
        address, names = f"thrift://127.0.0.1:{port}", ["two", "three"]
        done = command("--metastore", address, *(f"formats.{name}" for name in names))
        assert done.returncode == 0, done.stderr
        with client.connect(address) as service:
            tables = [TableName("hive", "formats", name) for name in names]
            (two,), (three,) = (service.table_statistics(each, ["a"]) for each in tables)
            rows = [found.parameters["numRows"] for each in tables if (found := service.find_table(each))]
    assert rows == ["990", "980"]
    assert (two.data.low, three.data.low) == (10, 20)  # type: ignore[union-attr]
