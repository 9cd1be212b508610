"""Tables that a stream has written have the rows that Spark reads by the stream's log."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze, check
from hmstats.errors import StatementError

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "streamed"


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp(DATABASE).as_uri()}'")
    yield
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def stream(spark: Any, folder: Path, table: str, *keys: str) -> None:
    """Let a stream write ten rows, of two values of k."""
    spark.range(10).selectExpr("id", "id % 2 AS k").write.mode("append").parquet(str(folder / "from"))
    rows = spark.readStream.schema("id BIGINT, k BIGINT").parquet(str(folder / "from"))
    writer = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.partitionBy(*keys).toTable(table).awaitTermination()


def test_files_of_an_interrupted_batch_are_not_counted(spark: Any, spark_metastore: str, tmp_path: Path) -> None:
    table = f"{DATABASE}.t"
    stream(spark, tmp_path, table)
    with connect(spark_metastore) as service:
        storage = service.existing_table(named_table(table, "default")).storage
    assert storage is not None
    file = next(Path((storage.location or "").removeprefix("file:")).glob("part-*"))
    shutil.copy(file, file.with_name(file.name.replace("part-0", "part-9")))
    assert spark.table(table).count() == 10
    assert analyze(spark, table).rows == 10
    assert check(spark, table, sample_fraction=1).wrong == ()


def test_partitions_that_the_metastore_lacks_are_not_taken_for_no_rows(
    spark: Any, spark_metastore: str, tmp_path: Path
) -> None:
    table = f"{DATABASE}.parted"
    stream(spark, tmp_path, table, "k")
    assert spark.table(table).count() == 10
    for noscan in (False, True):
        with pytest.raises(StatementError, match=f"MSCK REPAIR TABLE {table} in Spark"):
            analyze(spark, table, noscan=noscan)
    with connect(spark_metastore) as service:
        assert "numRows" not in service.existing_table(named_table(table, "default")).parameters
    spark.sql(f"MSCK REPAIR TABLE {table}")
    report = analyze(spark, table)
    assert (report.rows, report.partitions, report.skipped) == (10, 2, {})
