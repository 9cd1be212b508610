"""Numbers of a partition that are pending do not get into those of its table, nor do the older ones that are stored."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLE = "pending_numbers.t"


@pytest.fixture
def table(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table of two partitions, 2,000 and 1,000 rows, both analysed."""
    spark.sql(f"CREATE DATABASE pending_numbers LOCATION '{tmp_path_factory.mktemp('held').as_uri()}'")
    spark.sql(f"CREATE TABLE {TABLE} (a INT, k INT) USING parquet PARTITIONED BY (k)")
    spark.sql(f"INSERT INTO {TABLE} SELECT id, 1 FROM range(2000)")
    spark.sql(f"INSERT INTO {TABLE} SELECT id, 2 FROM range(1000)")
    analyze(spark, TABLE)
    yield TABLE
    spark.sql("DROP DATABASE pending_numbers CASCADE")


def rows(metastore: str) -> str | None:
    """What the table itself says of its rows, if it says anything."""
    with connect(metastore) as service:
        found = service.existing_table(named_table(TABLE, "default")).parameters
    return found.get("numRows") if "BASIC_STATS" in found.get("COLUMN_STATS_ACCURATE", "") else None


def test_they_count_once_they_are_published(spark: Any, spark_metastore: str, table: str) -> None:
    assert rows(spark_metastore) == "3000"
    spark.sql(f"INSERT OVERWRITE {table} PARTITION (k = 1) SELECT 1 FROM range(0)")
    assert [*analyze(spark, table, changed_only=True).waiting] == ["k=1"]
    spark.sql(f"INSERT INTO {table} SELECT id, 3 FROM range(500)")
    analyze(spark, table, changed_only=True)
    assert rows(spark_metastore) in (None, "1500")
    with connect(spark_metastore) as service:
        service.pending.publish(named_table(table, "default"))
    analyze(spark, table, changed_only=True)
    assert rows(spark_metastore) == "1500"
