"""Dates and timestamps that Spark wrote in its old calendar are those that Spark reads."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.client.tables.stored_statistics import own_statistics
from hmstats.collector import analyze, check

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLE = "old_calendar.t"
DAYS = ("0001-01-01", "0200-03-01", "1000-06-01", "1500-03-01", "1582-10-04", "1582-10-15", "1700-02-28", "2024-02-29")
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
}


@pytest.fixture(params=["INT96", "TIMESTAMP_MICROS"])
def table(request: pytest.FixtureRequest, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table with a row for each day, in Spark's legacy mode."""
    spark.sql(f"CREATE DATABASE old_calendar LOCATION '{tmp_path_factory.mktemp('old').as_uri()}'")
    before = {name: spark.conf.get(name) for name in SETTINGS}
    for name, value in {**SETTINGS, "spark.sql.parquet.outputTimestampType": request.param}.items():
        spark.conf.set(name, value)
    spark.sql(f"CREATE TABLE {TABLE} (d DATE, t TIMESTAMP, i INT) USING parquet")
    rows = ", ".join(f"(DATE '{day}', TIMESTAMP '{day} 12:00:00', 7)" for day in DAYS)
    spark.sql(f"INSERT INTO {TABLE} VALUES {rows}, (NULL, NULL, NULL)")
    yield TABLE
    spark.sql("DROP DATABASE old_calendar CASCADE")
    spark.conf.unset("spark.sql.parquet.outputTimestampType")
    for name, value in before.items():
        spark.conf.set(name, value)


def test_bounds_are_those_that_spark_reads(spark: Any, spark_metastore: str, table: str) -> None:
    analyze(spark, table)
    with connect(spark_metastore) as service:
        found = own_statistics(service, service.existing_table(named_table(table, "default")))
    data: dict[str, Any] = {each.column: each.data for each in found.statistics.columns}
    ((low, high, first, last),) = spark.sql(
        f"SELECT unix_date(min(d)), unix_date(max(d)), unix_seconds(min(t)), unix_seconds(max(t)) FROM {table}"
    ).collect()
    assert (data["d"].low, data["d"].high, data["d"].nulls, data["d"].ndv) == (low, high, 1, len(DAYS))
    assert (data["t"].low, data["t"].high, data["t"].nulls, data["t"].ndv) == (first, last, 1, len(DAYS))
    assert low < -719_000
    assert check(spark, table, sample_fraction=1).wrong == ()
