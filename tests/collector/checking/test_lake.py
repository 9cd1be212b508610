"""Checks of Iceberg and Delta Lake tables: wrong numbers are found by the live rows, without Spark."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import registered, written
from tests.collector.lake.iceberg.conftest import catalog
from tests.collector.lake.iceberg.iceberg_tables import ROWS, registered_by_another
from tests.collector.lake.test_delta import analyzed, stored
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.collector.options import Options
from hmstats.errors import StatementError
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.snapshot import THETA

__all__ = ["catalog"]

NAME, WRONG = 2, 1


@pytest.fixture
def name(our_metastore: Metastore, catalog: HiveCatalog) -> str:
    """A table with one snapshot."""
    name = f"{our_metastore.database}.t"
    catalog.create_table(name, schema=ROWS.schema).append(ROWS)
    return name


def wrong(service: client.Metastore, name: str, *options: str) -> list[dict[str, Any]]:
    """The wrong numbers that the command prints."""
    done = CliRunner().invoke(app, ["check", "--metastore", service.address, "--json", *options, name])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == (WRONG if found else 0), done.output
    return found


def test_right_numbers_are_right(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=Options(puffin_columns="all"))
    assert wrong(service, name, "--sample", "1") == []
    assert wrong(service, name, "--sample", "0.3") == []


def test_wrong_numbers_are_found(service: client.Metastore, name: str) -> None:
    analyzed(service, name)
    column = stored(service, name, ["name"])["name"]
    changed = replace(column, data=replace(column.data, nulls=7))
    service.put_table_statistics(name, StatisticsSet((changed,)))
    (found,) = wrong(service, name, "--sample", "1")
    assert (found["column"], found["statistic"], found["stored"]) == ("name", "nulls", 7)


def test_wrong_registered_counts_are_found(service: client.Metastore, name: str) -> None:
    analyzed(service, name, options=Options(puffin_columns="none"))
    registered_by_another(service, name, Blob(THETA, (NAME,), 7, 1, b"theirs", properties={"ndv": "30"}))
    (found,) = wrong(service, name, "--sample", "1")
    assert (found["column"], found["statistic"], found["stored"]) == ("name", "registered ndv", 30)


def test_deleted_rows_are_not_counted(service: client.Metastore, catalog: HiveCatalog, name: str) -> None:
    analyzed(service, name)
    assert wrong(service, name, "--sample", "1") == []
    catalog.load_table(name).delete("Id < 400")
    found = {(each.get("column"), each["statistic"]) for each in wrong(service, name, "--sample", "1")}
    assert {("id", "low"), ("id", "ndv"), ("name", "nulls"), ("price", "low")} <= found


def test_partitions_of_a_delta_lake_table_are_refused(
    our_metastore: Metastore, service: client.Metastore, tmp_path: Path
) -> None:
    table = registered(our_metastore, written(tmp_path / "t"))
    analyzed(service, table)
    assert wrong(service, table, "--sample", "1") == []
    done = CliRunner().invoke(app, ["check", "--metastore", service.address, "--partition", "a=1", table])
    assert isinstance(done.exception, StatementError)
    assert "is analysed as a whole" in str(done.exception)
