"""Health of an Iceberg table warns of distinct counts by which Spark's optimizer plans wrong."""

from pathlib import Path

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.iceberg.iceberg_tables import ROWS, location_of
from tests.collector.lake.test_delta import analyzed
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.options import Options

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def name(our_metastore: Metastore, catalog: HiveCatalog) -> str:
    """A table with one snapshot."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    return name


def health(service: client.Metastore, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["health", "--metastore", service.address, *arguments])


def test_counts_of_numbers_are_warned_of(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=Options(puffin_columns="all"))
    found = health(service, name)
    assert (found.exit_code, len(found.stderr.splitlines())) == (0, 1)
    assert (
        f"warning: table {name}: Spark with spark.sql.cbo.enabled=true plans = as 0 rows on Id, price" in found.stderr
    )
    assert "warning" not in found.stdout
    assert health(service, name.replace(".t", ".*")).stderr == "", "a list computes nothing"
    analyzed(service, name, options=Options(puffin_columns="text"))
    assert health(service, name).stderr == ""


def test_a_dropped_column_is_warned_of(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    analyzed(service, name)
    with catalog.load_table(name).update_schema() as changed:
        changed.delete_column("name")
    assert "fails in planning joins, since a Puffin file counts a dropped column" in health(service, name).stderr
    analyzed(service, name)
    assert health(service, name, "--json").stderr == ""


def test_metadata_that_cannot_be_read_hide_no_health(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=Options(puffin_columns="all"))
    Path("/" + location_of(service, name).removeprefix("file:").lstrip("/")).unlink()
    found = health(service, name)
    assert (found.exit_code, found.stderr) == (0, "")
    assert name in found.stdout
