"""Tables in Azure's emulator, which server and commands reach by the same connection string in their environment."""

import json
import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pyarrow import fs
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import registered
from tests.collector.lake.iceberg.iceberg_tables import ROWS
from tests.collector.lake.iceberg.places import EnvironmentFileIO
from tests.fixtures.metastores import Metastore
from tests.fixtures.object_stores.azure import CONTAINER, NEEDS_NPM, Account, azure_account
from tests.fixtures.servers import HMSTATS, serving

from hmstats import client
from hmstats.collector.lake.delta import storage_options
from hmstats.collector.lake.opened import no_settings
from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.slow, NEEDS_NPM]

OTHERS = ("abfs", "wasbs", "wasb")
"""Schemes of the same files, which `make test-engines` tries."""


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with azure_account(tmp_path_factory.mktemp("azure")) as found:
        yield found


@pytest.fixture(scope="module")
def metastore(account: Account, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A server whose warehouse lies in the container."""
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, warehouse=f"{account.root}/warehouse", environment=account.environment) as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(found.database, "", f"{account.root}/warehouse/d.db", {}))
            yield found


def analyzed(metastore: Metastore, account: Account, folder: Path, name: str) -> dict[str, int]:
    """The rows and files that an analysis reports."""
    report = json.loads(answered(metastore, account, folder, "analyze", "--json", name))
    return {each: report[each] for each in ("rows", "files")}


def answered(metastore: Metastore, account: Account, folder: Path, command: str, *arguments: str) -> str:
    """The output of a command about the metastore, which finds the account by its environment."""
    given = [HMSTATS, command, "--metastore", f"thrift://127.0.0.1:{metastore.port}", *arguments]
    env = {**os.environ, **account.environment}
    done = subprocess.run(given, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.spark
def test_a_managed_table_is_analysed_renamed_and_dropped(
    metastore: Metastore, account: Account, tmp_path: Path
) -> None:
    columns = {"id": "bigint", "name": "string"}
    metastore.table("t", columns)
    files, place = account.files(), f"{CONTAINER}/warehouse/d.db"
    assert files.get_file_info(f"{place}/t").type is fs.FileType.Directory
    rows = pa.table({"id": pa.array(range(1000), pa.int64()), "name": [f"n{each % 50}" for each in range(1000)]})
    for number in range(3):
        pq.write_table(rows, f"{place}/t/part {number}#.parquet", filesystem=files)
    assert analyzed(metastore, account, tmp_path, f"{metastore.database}.t") == {"rows": 3000, "files": 3}
    ask = metastore.client()
    table = ask.get_table(metastore.database, "t")
    table.tableName = "u"
    ask.alter_table(metastore.database, "t", table)
    assert files.get_file_info(f"{place}/t").type is fs.FileType.NotFound
    assert metastore.parameters("u")["numRows"] == "3000"
    assert analyzed(metastore, account, tmp_path, f"{metastore.database}.u") == {"rows": 3000, "files": 3}
    ask.drop_table(metastore.database, "u", True)
    assert files.get_file_info(f"{place}/u").type is fs.FileType.NotFound


def test_delta(metastore: Metastore, account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in account.environment.items():
        monkeypatch.setenv(name, value)
    place = f"{account.root}/delta/t"
    write_deltalake(place, ROWS, storage_options=storage_options(place, no_settings))
    name = registered(metastore, place, "delta_table")
    assert analyzed(metastore, account, tmp_path, name) == {"rows": 1000, "files": 1}
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        assert service.table(name).count().count == 1000


@pytest.mark.parametrize("scheme", ["abfss", *(pytest.param(each, marks=pytest.mark.engines) for each in OTHERS)])
def test_iceberg(
    metastore: Metastore, account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """The table is made by our own access: PyIceberg's by Arrow takes an account for a part of the path."""
    for name, value in account.environment.items():
        monkeypatch.setenv(name, value)
    given = {"py-io-impl": f"{EnvironmentFileIO.__module__}.{EnvironmentFileIO.__name__}"}
    catalog = HiveCatalog("test", uri=f"thrift://127.0.0.1:{metastore.port}", **given)
    root = account.root.replace("abfss", scheme)
    if scheme.startswith("wasb"):
        root = root.replace(".dfs.", ".blob.")
    name, place = f"{metastore.database}.ice_{scheme}", f"{root}/ice/{scheme}"
    table = catalog.create_table(name, schema=ROWS.schema, location=place)
    table.append(ROWS)
    ask = partial(answered, metastore, account, tmp_path)
    report = json.loads(ask("analyze", "--json", name))
    assert (report["rows"], report["puffin_columns"], report["puffin_file"].startswith(place)) == (1000, ["name"], True)
    assert report["read_bytes"] > 0
    table.refresh()
    (entry,) = table.metadata.statistics
    files, path = account.files(), f"{CONTAINER}/{entry.statistics_path.removeprefix(root + '/')}"
    assert files.get_file_info(path).size == entry.file_size_in_bytes
    shown = ask("show", name)
    assert "1,000 rows" in shown
    assert "Iceberg snapshot" in shown
    ask("check", name)
    table.append(ROWS)
    again = json.loads(ask("analyze", "--json", "--changed-only", name))
    assert (again["rows"], again["files"]) == (2000, 1)
