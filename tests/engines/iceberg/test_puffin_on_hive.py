"""Distinct counts are registered in a real Hive Metastore too, under its lock."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.iceberg.iceberg_tables import ROWS, counts_of, entry_of
from tests.collector.lake.test_delta import analyzed
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive

from hmstats import client
from hmstats.collector.options import Options

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]


def test_counts_are_registered_and_appends_go_on(tmp_path: Path, postgres_server: str) -> None:
    """Over PostgreSQL: over Derby Hive has no tables for locks. PyIceberg, which appends here, calls no Hive 4."""
    folder = tmp_path / "hive"
    folder.mkdir()
    where = f"hive.metastore.warehouse.dir=file:{folder}/warehouse"
    with fresh_database(postgres_server) as url, hive("2.3", folder, where, database=url) as port:
        address = f"thrift://127.0.0.1:{port}"
        catalog = HiveCatalog("test", uri=address, warehouse=f"file://{folder}/warehouse")
        catalog.create_namespace("lake")
        table = catalog.create_table("lake.t", schema=pa.schema([("id", pa.int64()), ("name", pa.string())]))
        table.append(ROWS.select(["Id", "name"]).rename_columns(["id", "name"]))
        with client.connect(address) as service:
            report = analyzed(service, "lake.t", options=Options(puffin_columns="all"))
            assert report.puffin is not None
            assert counts_of(entry_of(service, "lake.t")) == {1: 1000, 2: 45}
            (name,) = service.table_statistics("lake.t", ["name"])
            assert name.data.nulls == 100
        again = catalog.load_table("lake.t")
        again.append(again.scan().to_arrow())
        assert catalog.load_table("lake.t").scan().to_arrow().num_rows == 2000
        assert len(catalog.load_table("lake.t").metadata.statistics) == 1
