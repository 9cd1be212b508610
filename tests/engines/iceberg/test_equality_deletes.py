"""Rows that equality deletes have taken are not in the statistics: Spark reads such tables, without a further flag."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.cli.commands.test_analyze import command
from tests.collector.lake.iceberg.equality_deletes import delete_where_equal
from tests.collector.lake.iceberg.iceberg_tables import ROWS, counts_of, entry_of
from tests.fixtures.servers import serving
from tests.peers.spark_jars.iceberg_spark import fetched

from hmstats import client

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

ID, NAME, PRICE = 1, 2, 3


def test_deleted_values_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("mvn") is None:
        pytest.skip("Iceberg's runtime comes from Maven, not found on this machine")
    parts = fetched()
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with serving(tmp_path) as port, client.connect(f"thrift://127.0.0.1:{port}") as service:
        catalog = HiveCatalog("test", uri=service.address, warehouse=f"file://{tmp_path}/warehouse")
        catalog.create_namespace("lake")
        table = catalog.create_table("lake.t", schema=ROWS.schema)
        table.append(ROWS)
        gone = pa.array([f"n{each}" for each in range(1, 10)])
        delete_where_equal(service, "lake.t", table, "name", gone)
        kept = ROWS.to_pandas()
        kept = kept[~kept["name"].isin(gone.to_pylist())]
        done = command(
            "--metastore", service.address, "--conf", f"spark.jars={parts.jar}", "--puffin-columns", "all", "--json",
            "lake.t", PYTHONPATH=str(parts.packages),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == len(kept)
        counts = {ID: len(kept), NAME: kept["name"].nunique(), PRICE: len(kept)}
        assert counts_of(entry_of(service, "lake.t")) == counts
        (name,) = service.table_statistics("lake.t", ["name"])
        assert name.data.nulls == int(kept["name"].isna().sum())
