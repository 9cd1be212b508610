"""Tables in a real HDFS, which server and commands reach without Java and without Hadoop's libraries."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import fs
from pyiceberg.catalog.hive import HiveCatalog
from tests.collector.lake.delta_tables import registered
from tests.collector.lake.iceberg.iceberg_tables import ROWS
from tests.collector.lake.iceberg.places import EnvironmentFileIO
from tests.fixtures.hdfs import NEEDS_MAVEN, hdfs
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving

from hmstats.files.file_systems import open_location
from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.slow, NEEDS_MAVEN]
TAKEN = pa.table({"id": pa.array(range(1000), pa.int64()), "name": [f"n{each % 50}" for each in range(1000)]})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The location of a cluster."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as name_node:
        yield f"hdfs://127.0.0.1:{name_node}"


@pytest.fixture(scope="module")
def metastore(root: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A server whose warehouse lies in the cluster."""
    with serving(tmp_path_factory.mktemp("server"), warehouse=f"{root}/warehouse") as port:
        found = Metastore("hmstats-sqlite", port, 4.0)
        with found.clients:
            found.client().create_database(api.Database(found.database, "", f"{root}/warehouse/d.db", {}))
            yield found


@pytest.fixture
def files(root: str) -> fs.FileSystem:
    return open_location(root)[0]


def run(metastore: Metastore, folder: Path, *arguments: str) -> dict[str, object]:
    """What a command reports of rows and files."""
    command = [HMSTATS, *arguments, "--metastore", f"thrift://127.0.0.1:{metastore.port}", "--json"]
    done = subprocess.run(
        command, cwd=folder, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    return {each: report[each] for each in ("rows", "files")}


def name_service(root: str) -> list[str]:
    """Options by which Spark calls the cluster `lake`."""
    given = {
        "dfs.nameservices": "lake",
        "dfs.ha.namenodes.lake": "a",
        "dfs.namenode.rpc-address.lake.a": root.removeprefix("hdfs://"),
    }
    return [f"--conf=spark.hadoop.{name}={value}" for name, value in given.items()]


@pytest.mark.spark
def test_a_managed_table_is_analysed_renamed_and_dropped(
    metastore: Metastore, files: fs.FileSystem, tmp_path: Path
) -> None:
    metastore.table("t", {"id": "bigint", "name": "string"})
    place = "/warehouse/d.db"
    assert files.get_file_info(f"{place}/t").type is fs.FileType.Directory
    for number in range(3):
        pq.write_table(TAKEN, f"{place}/t/part {number}#.parquet", filesystem=files)
    pq.write_table(TAKEN, f"{place}/t/_temporary.parquet", filesystem=files)
    name = f"{metastore.database}.t"
    assert run(metastore, tmp_path, "analyze", name) == {"rows": 3000, "files": 3}
    assert metastore.parameters("t")["totalSize"] == str(
        sum(each.size for each in files.get_file_info(fs.FileSelector(f"{place}/t")) if "part" in each.path)
    )
    ask = metastore.client()
    table = ask.get_table(metastore.database, "t")
    table.tableName = "u"
    ask.alter_table(metastore.database, "t", table)
    assert files.get_file_info(f"{place}/t").type is fs.FileType.NotFound
    assert run(metastore, tmp_path, "analyze", f"{metastore.database}.u") == {"rows": 3000, "files": 3}
    ask.drop_table(metastore.database, "u", True)
    assert files.get_file_info(f"{place}/u").type is fs.FileType.NotFound


def test_iceberg(metastore: Metastore, files: fs.FileSystem, root: str, tmp_path: Path) -> None:
    given = {"py-io-impl": f"{EnvironmentFileIO.__module__}.{EnvironmentFileIO.__name__}"}
    catalog = HiveCatalog("test", uri=f"thrift://127.0.0.1:{metastore.port}", **given)
    table = catalog.create_table(f"{metastore.database}.ice", schema=ROWS.schema, location=f"{root}/ice")
    table.append(ROWS)
    assert run(metastore, tmp_path, "analyze", f"{metastore.database}.ice") == {"rows": 1000, "files": 1}
    table.refresh()
    (entry,) = table.metadata.statistics
    assert files.get_file_info(entry.statistics_path.removeprefix(root)).size == entry.file_size_in_bytes


def test_delta(metastore: Metastore, root: str, tmp_path: Path) -> None:
    place = f"{root}/delta"
    write_deltalake(place, TAKEN)
    write_deltalake(place, TAKEN, mode="append")
    DeltaTable(place).delete("id < 100")
    for number, location in enumerate((place, "hdfs://lake/delta")):
        name = registered(metastore, location, f"delta_{number}")
        assert run(metastore, tmp_path, "analyze", name, *name_service(root))["rows"] == 1800


@pytest.mark.spark
def test_a_name_service_that_spark_knows(metastore: Metastore, files: fs.FileSystem, root: str, tmp_path: Path) -> None:
    files.create_dir("/far")
    pq.write_table(TAKEN, "/far/1.parquet", filesystem=files)
    storage = metastore.storage({"id": "bigint", "name": "string"})
    storage.location = "hdfs://lake/far"
    table = api.Table(
        "far", metastore.database, "tester", sd=storage, partitionKeys=[], parameters={"EXTERNAL": "TRUE"}
    )
    table.tableType = "EXTERNAL_TABLE"
    # The server does not know the name: it leaves the directory to others, as of a store that it has no client for.
    metastore.client().create_table(table)
    name = f"{metastore.database}.far"
    assert run(metastore, tmp_path, "analyze", name, *name_service(root)) == {"rows": 1000, "files": 1}
