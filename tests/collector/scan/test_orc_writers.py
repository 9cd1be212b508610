"""ORC files of other writers: of JVMs in other time zones, and of Hives before 2015. Their values are Spark's."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.collector.checks import check_all

from hmstats import collector
from hmstats.client import connect

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXAMPLES = Path(pa.__file__).parent / "tests" / "data" / "orc"
"""Files of the ORC project, as pyarrow brings them."""
OLD = {
    "TestOrcFile.test1.orc": "boolean1 BOOLEAN, byte1 TINYINT, short1 SMALLINT, int1 INT, long1 BIGINT, float1 FLOAT,"
    " double1 DOUBLE, bytes1 BINARY, string1 STRING",
    "TestOrcFile.testDate1900.orc": "time TIMESTAMP, date DATE",
    "decimal.orc": "_col0 DECIMAL(10,5)",
}
"""Files of Hive 0.11 to 0.13 with their columns."""
ZONES = ("America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Europe/Lisbon", "Pacific/Apia")
TIMES = (
    "1970-01-02 03:04:05.678901Z",
    "1986-03-30 01:30:00Z",
    "2011-12-30 12:00:00Z",  # Apia has left this day out
    "2014-12-31 23:59:59.999999Z",
    "2021-03-14 06:59:59Z",
    "2021-03-14 07:30:00Z",
    "2021-11-07 05:30:00Z",  # New York has this hour twice
    "2021-11-07 06:30:00Z",
    "2150-07-01 00:00:00Z",
)


@contextmanager
def in_zone(spark: Any, zone: str) -> Iterator[None]:
    """Spark's JVM in another time zone than that of its start."""
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone))
    try:
        yield
    finally:
        zones.setDefault(before)


def check_table(spark: Any, metastore: str, name: str, columns: str) -> Any:
    """Analyse a table; its statistics are those of the rows that Spark reads. Returns the report."""
    report = collector.analyze(spark, name)
    found = spark.table(name).toArrow()
    types = {column: type_.lower() for column, type_ in (each.split(" ") for each in columns.split(", "))}
    with connect(metastore) as service:
        (stored,) = service.statistics(service.existing_table(name).name, list(types))
    assert (report.rows, report.failed) == (found.num_rows, {})
    assert {each.column for each in stored.columns} == types.keys()
    check_all(sorted(stored.columns, key=lambda each: list(types).index(each.column)), found, types)
    return report


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("time", TIMES)
def test_times_of_a_writer_in_another_zone(
    spark: Any, spark_metastore: str, tmp_path: Path, zone: str, time: str
) -> None:
    name = "default.orc_of_a_zone"
    place = (tmp_path / "t").as_uri()
    with in_zone(spark, zone):
        spark.sql(f"SELECT TIMESTAMP'{time}' AS t").coalesce(1).write.orc(place)
    spark.sql(f"CREATE TABLE {name} (t TIMESTAMP) USING orc LOCATION '{place}'")
    try:
        with in_zone(spark, "UTC"):
            report = check_table(spark, spark_metastore, name, "t TIMESTAMP")
        assert report.reads is not None  # without Spark
    finally:
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("example", OLD)
def test_files_of_old_hives(spark: Any, spark_metastore: str, tmp_path: Path, example: str) -> None:
    (tmp_path / "t").mkdir()
    shutil.copy(EXAMPLES / example, tmp_path / "t" / "part-0.orc")
    name = "default.orc_of_old_hive"
    spark.sql(f"CREATE TABLE {name} ({OLD[example]}) USING orc LOCATION '{(tmp_path / 't').as_uri()}'")
    try:
        with in_zone(spark, "UTC"):
            check_table(spark, spark_metastore, name, OLD[example])
    finally:
        spark.sql(f"DROP TABLE {name}")
