"""Tables in an emulator of Google's store, which server and commands reach by the same variable."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.iceberg.iceberg_tables import ROWS
from tests.collector.lake.iceberg.places import EnvironmentFileIO
from tests.fixtures.metastores import Metastore
from tests.fixtures.object_stores.google import BUCKET, GoogleStore, google_store
from tests.fixtures.servers import HMSTATS, serving

from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoogleStore]:
    with google_store(tmp_path_factory.mktemp("google")) as found:
        yield found


@pytest.fixture(scope="module")
def metastore(store: GoogleStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A server whose warehouse lies in the bucket."""
    folder, root = tmp_path_factory.mktemp("server"), f"gs://{BUCKET}/warehouse"
    with serving(folder, warehouse=root, environment=store.environment) as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(found.database, "", f"{root}/d.db", {}))
            yield found


def analyzed(metastore: Metastore, environment: Mapping[str, str], folder: Path, *arguments: str) -> dict[str, object]:
    """The rows and files that an analysis reports."""
    command = [HMSTATS, "analyze", "--metastore", f"thrift://127.0.0.1:{metastore.port}", "--json", *arguments]
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    return {each: report[each] for each in ("rows", "files")}


@pytest.mark.spark
def test_a_managed_table_is_analysed_renamed_and_dropped(
    metastore: Metastore, store: GoogleStore, tmp_path: Path
) -> None:
    metastore.table("t", {"id": "bigint", "name": "string"})
    files, place = store.files(), f"{BUCKET}/warehouse/d.db"
    assert files.get_file_info(f"{place}/t").type is fs.FileType.Directory
    rows = pa.table({"id": pa.array(range(1000), pa.int64()), "name": [f"n{each % 50}" for each in range(1000)]})
    for number in range(3):
        pq.write_table(rows, f"{place}/t/part {number}#.parquet", filesystem=files)
    name = f"{metastore.database}.t"
    assert analyzed(metastore, store.environment, tmp_path, name) == {"rows": 3000, "files": 3}
    ask = metastore.client()
    table = ask.get_table(metastore.database, "t")
    table.tableName = "u"
    ask.alter_table(metastore.database, "t", table)
    assert files.get_file_info(f"{place}/t").type is fs.FileType.NotFound
    assert metastore.parameters("u")["numRows"] == "3000"
    hadoop = [f"--conf=spark.hadoop.{name}={value}" for name, value in store.hadoop.items()]
    assert analyzed(metastore, {}, tmp_path, *hadoop, f"{metastore.database}.u") == {"rows": 3000, "files": 3}
    ask.drop_table(metastore.database, "u", True)
    assert files.get_file_info(f"{place}/u").type is fs.FileType.NotFound


def test_iceberg(metastore: Metastore, store: GoogleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    given = {"py-io-impl": f"{EnvironmentFileIO.__module__}.{EnvironmentFileIO.__name__}"}
    catalog = HiveCatalog("test", uri=f"thrift://127.0.0.1:{metastore.port}", **given)
    table = catalog.create_table(f"{metastore.database}.ice", schema=ROWS.schema, location=f"gs://{BUCKET}/ice")
    table.append(ROWS)
    assert analyzed(metastore, store.environment, tmp_path, f"{metastore.database}.ice") == {"rows": 1000, "files": 1}
    table.refresh()
    (entry,) = table.metadata.statistics
    path = entry.statistics_path.removeprefix("gs://")
    assert store.files().get_file_info(path).size == entry.file_size_in_bytes
