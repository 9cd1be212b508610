"""`hmstats refresh` of tables with metadata of their own: what commits did to their health, and what is read then."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake import delta_tables
from tests.collector.lake.iceberg.equality_deletes import delete_where_equal
from tests.collector.lake.iceberg.iceberg_tables import ROWS, metadata_of
from tests.collector.lake.test_delta import stored
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.lake import reading
from hmstats.collector.request.statement import statement
from hmstats.model.health.health import Health


@pytest.fixture
def catalog(our_metastore: Metastore, tmp_path: Path) -> HiveCatalog:
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    return HiveCatalog("test", uri=address, warehouse=f"file://{tmp_path}/another place")


@pytest.fixture
def read_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each reading of a table's files has read."""
    found: list[int] = []
    accumulate = reading.accumulate

    def counted(read: Any, *others: Any) -> Any:
        found.append(0)

        def noted(names: Any) -> Iterator[Any]:
            for batch in read(names):
                found[-1] += batch.num_rows
                yield batch

        return accumulate(noted, *others)

    monkeypatch.setattr(reading, "accumulate", counted)
    return found


def refresh(metastore: Metastore, *flags: str) -> list[dict[str, Any]]:
    address = f"thrift://127.0.0.1:{metastore.port}"
    done = CliRunner().invoke(app, ["refresh", metastore.database, "--json", "--metastore", address, *flags])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def health_of(service: client.Metastore, name: str) -> Health:
    (found,) = service.health.tables(*name.split("."))
    return found.health


def test_an_append_to_an_iceberg_table_lowers_its_health_and_is_read_alone(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog, read_rows: list[int]
) -> None:
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    assert health_of(service, name).reason == "missing"
    assert [each["outcome"] for each in refresh(our_metastore)] == ["done"]
    assert health_of(service, name).health == 100
    catalog.load_table(name).append(ROWS.slice(0, 100))
    assert (health_of(service, name).health, health_of(service, name).reason) == (50, "unmarked")
    assert [each["table"] for each in refresh(our_metastore, "--dry-run")] == ["t"]
    assert [(each["outcome"], each["rows"]) for each in refresh(our_metastore)] == [("done", 1100)]
    assert read_rows == [1000, 100]
    assert health_of(service, name).health == 100
    assert refresh(our_metastore) == []
    assert service.table(name).count().count == 1100


@pytest.mark.slow
def test_the_numbers_of_a_snapshot_s_summary_are_health(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    """Java's writers give them to the metastore with each commit."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    refresh(our_metastore)
    catalog.load_table(name).append(ROWS.slice(0, 100))
    summary = metadata_of(service, name)["snapshots"][-1]["summary"]
    told = {"numRows": "total-records", "numFiles": "total-data-files", "totalSize": "total-files-size"}
    parameters = {each: summary[key] for each, key in told.items()}
    service.put_table_parameters(statement(name).table, parameters)
    found = health_of(service, name)
    assert (found.reason, found.now.rows, found.then.rows) == ("changed", 1100, 1000)
    assert 50 <= found.health <= 90


@pytest.mark.slow
def test_statistics_that_go_are_made_again_of_the_same_snapshot(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog, read_rows: list[int]
) -> None:
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    refresh(our_metastore)
    service.delete_statistics(statement(name).table, ["price"])
    assert health_of(service, name).reason == "incomplete"
    refresh(our_metastore)
    assert read_rows == [1000, 1000]
    assert health_of(service, name).health == 100


@pytest.mark.slow
def test_an_append_to_a_delta_table_is_found_by_a_look_at_its_log(
    our_metastore: Metastore, service: client.Metastore, tmp_path: Path, read_rows: list[int]
) -> None:
    """Nobody tells a metastore of it."""
    folder = tmp_path / "another place"
    write_deltalake(folder, delta_tables.ROWS)
    name = delta_tables.registered(our_metastore, folder)
    time.sleep(1.1)  # statistics of the very second in which a table was changed are not taken for newer
    refresh(our_metastore)
    assert health_of(service, name).health == 100
    write_deltalake(folder, delta_tables.ROWS.slice(0, 10), mode="append")
    assert health_of(service, name).health == 100
    assert refresh(our_metastore) == []
    assert [(each["outcome"], each["rows"]) for each in refresh(our_metastore, "--look-every", "0s")] == [
        ("done", 1010)
    ]
    assert read_rows == [1000, 10]
    assert service.table(name).count().count == 1010
    refresh(our_metastore, "--look-every", "0s")
    assert read_rows == [1000, 10]


@pytest.mark.slow
def test_the_guard_looks_at_what_a_refresh_writes(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS.slice(0, 10))
    refresh(our_metastore)
    before = stored(service, name, ["id"])
    for _ in range(2):
        catalog.load_table(name).append(ROWS)
    refresh(our_metastore)
    table = statement(name).table
    assert service.pending.listed(table.database, table.table)
    assert stored(service, name, ["id"]) == before


@pytest.mark.slow
def test_a_table_that_spark_alone_reads_is_read_by_spark(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    """`tests/engines/iceberg` gives Spark the runtime that is missing here."""
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    delete_where_equal(service, name, table, "name", pa.array(["n1"]))
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    done = CliRunner().invoke(app, ["refresh", name, "--json", "--metastore", address])
    assert "Spark has no runtime of Iceberg to read" in json.loads(done.stdout)["message"]
