"""Tables that are one file, and empty tables whose folder nobody has made."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from hmstats import collector
from hmstats.client import connect
from hmstats.model.catalog.objects import TableName

pytestmark = pytest.mark.spark

DATABASE = "unusual"
ROWS = pa.table({"n": pa.array([1, 2, 2, None], pa.int64()), "s": ["a", "b", "b", "c"]})


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp(DATABASE).as_uri()}'")


def parameters(uris: str, table: str) -> dict[str, str]:
    with connect(uris) as service:
        found = service.find_table(TableName("hive", DATABASE, table))
    assert found is not None
    return dict(found.parameters)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_table_that_is_one_file(spark: Any, spark_metastore: str, tmp_path: Path, form: str) -> None:
    path, table = tmp_path / f"x.{form}", f"one_{form}"
    if form == "parquet":
        pq.write_table(ROWS, path)
    else:
        csv.write_csv(ROWS, path, csv.WriteOptions(include_header=False))
    spark.sql(f"CREATE TABLE {DATABASE}.{table} (n BIGINT, s STRING) USING {form} LOCATION '{path.as_uri()}'")
    report = collector.analyze(spark, f"{DATABASE}.{table}")
    assert (report.rows, report.files, report.bytes) == (4, 1, path.stat().st_size)
    assert report.whole is not None
    columns: Any = report.whole.columns
    assert {each.column: (each.data.nulls, each.data.ndv) for each in columns} == {"n": (1, 2), "s": (0, 3)}
    found = parameters(spark_metastore, table)
    assert (found["numRows"], found["numFiles"], found["totalSize"]) == ("4", "1", str(path.stat().st_size))
    assert collector.check(spark, f"{DATABASE}.{table}", sample_fraction=1).wrong == ()
    assert collector.analyze(spark, f"{DATABASE}.{table}", changed_only=True).unchanged == 1
    assert collector.analyze(spark, f"{DATABASE}.{table}", noscan=True).files == 1
    spark.sql(f"DROP TABLE {DATABASE}.{table}")
    assert path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["STORED AS PARQUET", "STORED AS ORC", "STORED AS TEXTFILE", "USING json"])
@pytest.mark.parametrize("folder", [True, False], ids=["folder", "no-folder"])
def test_a_new_table_that_is_empty_has_no_rows(spark: Any, spark_metastore: str, form: str, folder: bool) -> None:
    """Some metastores make no folder for a new table; what they say of its files is that there are none."""
    table = f"empty_{form.rsplit(maxsplit=1)[-1].lower()}_{folder}"
    spark.sql(f"CREATE TABLE {DATABASE}.{table} (n BIGINT) {form}")
    with connect(spark_metastore) as service:
        name = TableName("hive", DATABASE, table)
        found = service.find_table(name)
        assert found is not None
        assert found.storage is not None
        service.put_table_parameters(name, {"numFiles": "0", "totalSize": "0"})
    if not folder:
        Path((found.storage.location or "").removeprefix("file:")).rmdir()
    report = collector.analyze(spark, f"{DATABASE}.{table}")
    assert (report.rows, report.files, report.failed) == (0, 0, {})
    assert parameters(spark_metastore, table)["numRows"] == "0"
    assert collector.check(spark, f"{DATABASE}.{table}", sample_fraction=1).wrong == ()
