"""Partitions that Spark takes from a table's folder, and does not tell the metastore, are not taken for no rows."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze
from hmstats.errors import StatementError

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLE = "in_folder.t"


@pytest.fixture
def table(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table of two rows in two partitions, of which the metastore has none."""
    spark.sql(f"CREATE DATABASE in_folder LOCATION '{tmp_path_factory.mktemp('in_folder').as_uri()}'")
    spark.conf.set("spark.sql.hive.manageFilesourcePartitions", "false")
    spark.sql(f"CREATE TABLE {TABLE} (id BIGINT, day INT) USING parquet PARTITIONED BY (day)")
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 1), (2, 2)")
    spark.conf.unset("spark.sql.hive.manageFilesourcePartitions")
    yield TABLE
    spark.sql("DROP DATABASE in_folder CASCADE")


def test_they_are_analysed_once_spark_has_stored_them(spark: Any, spark_metastore: str, table: str) -> None:
    assert spark.table(table).count() == 2
    with connect(spark_metastore) as service:
        assert service.partition_names(named_table(table, "default")) == []
        with pytest.raises(StatementError, match=f"MSCK REPAIR TABLE {table} in Spark"):
            analyze(spark, table)
        assert "numRows" not in service.existing_table(named_table(table, "default")).parameters
        spark.sql(f"MSCK REPAIR TABLE {table}")
        report = analyze(spark, table)
    assert (report.rows, report.partitions) == (2, 2)
