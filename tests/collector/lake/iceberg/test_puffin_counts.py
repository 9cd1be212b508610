"""Distinct counts that other engines have registered, in the metastore."""

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.iceberg.iceberg_tables import ROWS, metadata_of, registered_by_another
from tests.collector.lake.test_delta import analyzed, stored, table_of
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.lake.iceberg.puffin_counts import puffin_counts
from hmstats.collector.options import Options
from hmstats.errors import StatementError
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.snapshot import THETA
from hmstats.version import __version__

ID, NAME, PRICE = 1, 2, 3
PARTLY_DONE = 3


@pytest.fixture
def name(our_metastore: Metastore, catalog: HiveCatalog) -> str:
    """A table with one snapshot."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    return name


def counted(field: int, ndv: str) -> Blob:
    return Blob(THETA, (field,), 7, 1, b"theirs", properties={"ndv": ndv})


def test_counts_are_stored_and_all_else_stays(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    analyzed(service, name, options=Options.bounds_only())
    registered_by_another(service, name, counted(NAME, "44"), counted(PRICE, "999"), counted(9, "5"))
    snapshot = metadata_of(service, name)["current-snapshot-id"]
    catalog.load_table(name).append(ROWS)
    done = CliRunner().invoke(app, ["import", "--metastore", service.address, "--from-puffin", name])
    assert done.exit_code == 0, done.output
    found = stored(service, name, ["id", "name", "price"])
    assert [getattr(found[each].data, "ndv", None) for each in ("id", "name", "price")] == [0, 44, 999]
    assert (found["name"].data.nulls, found["name"].data.max_length) == (100, 3)  # type: ignore[union-attr]
    parameters = table_of(service, name).parameters
    assert parameters["impala.computeStatsSnapshotIds"] == f"1-3:{snapshot}"


def test_what_has_a_sketch_here_is_left_out(service: client.Metastore, name: str) -> None:
    analyzed(service, name, columns=["name"])
    registered_by_another(service, name, counted(NAME, "44"), counted(PRICE, "999"))
    done = CliRunner().invoke(app, ["import", "--metastore", service.address, "--from-puffin", name])
    assert (done.exit_code, "column name" in done.output) == (PARTLY_DONE, True)
    found = stored(service, name, ["name", "price"])
    assert [each.data.ndv for each in found.values()] == [45, 999]  # type: ignore[union-attr]
    snapshot = metadata_of(service, name)["current-snapshot-id"]
    shown = CliRunner().invoke(app, ["show", "--metastore", service.address, name]).stdout
    assert f"from hmstats {__version__}, Iceberg snapshot {snapshot}: name\n" in shown
    assert f"from Puffin file theirs.stats, Iceberg snapshot {snapshot}: price\n" in shown


def test_tables_of_another_format_are_refused(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("plain")
    with pytest.raises(StatementError, match="plain is not of the format Iceberg"):
        puffin_counts(service, table_of(service, f"{our_metastore.database}.plain"))


def test_tables_without_counts_are_refused(service: client.Metastore, name: str) -> None:
    with pytest.raises(StatementError, match="has no Puffin file of its current snapshot"):
        puffin_counts(service, table_of(service, name))
