"""An analysis says what it found, also where nothing is left of what was stored before."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.client.tables.stored_statistics import own_statistics
from hmstats.collector import analyze, check
from hmstats.collector.options import Options

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "values_that_are_gone"


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp('gone').as_uri()}'")
    yield
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def stored(metastore: str, table: str) -> dict[str, Any]:
    """The numbers of each column of a table."""
    with connect(metastore) as service:
        found = own_statistics(service, service.existing_table(named_table(table, "default")))
    return {each.column: each.data for each in found.statistics.columns}


@pytest.mark.parametrize("left", ["TRUNCATE TABLE {}", "INSERT OVERWRITE {} SELECT NULL, NULL, NULL"])
def test_bounds_go_with_the_values(spark: Any, spark_metastore: str, left: str) -> None:
    table = f"{DATABASE}.values_{left[:1]}"
    spark.sql(f"CREATE TABLE {table} (i INT, d DATE, s STRING) USING parquet")
    spark.sql(f"INSERT INTO {table} VALUES (5, DATE '2020-01-01', 'a'), (6, DATE '2021-01-01', 'b')")
    analyze(spark, table)
    assert stored(spark_metastore, table)["i"].low == 5
    spark.sql(left.format(table))
    analyze(spark, table)
    for each in stored(spark_metastore, table).values():
        assert (getattr(each, "low", None), getattr(each, "high", None)) == (None, None)
    assert check(spark, table, sample_fraction=1).wrong == ()


def test_sketches_go_when_none_are_made(spark: Any, spark_metastore: str) -> None:
    table = f"{DATABASE}.sketched"
    spark.sql(f"CREATE TABLE {table} (i INT) USING parquet")
    spark.sql(f"INSERT INTO {table} SELECT CAST(id AS INT) FROM range(5000)")
    analyze(spark, table)
    spark.sql(f"INSERT OVERWRITE {table} SELECT 7 FROM range(10)")
    analyze(spark, table, options=Options.bounds_only())
    data = stored(spark_metastore, table)["i"]
    assert (data.low, data.high, data.histogram, data.bit_vector) == (7, 7, None, None)
