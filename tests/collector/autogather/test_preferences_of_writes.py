"""Writes gather what the table's preferences say, as analyses do, so that appends are merged into what is stored."""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812
from tests.collector.checks import comparable

import hmstats
from hmstats.client import Metastore
from hmstats.collector import analyze
from hmstats.collector.autogather.writer import writing
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.sketch.distinct.hive_hll import HiveHll

pytestmark = pytest.mark.spark

FINE = {"precision": "14", "histogram": "false", "top_k": "false"}
_numbers = count(1)


@pytest.fixture
def database(spark: Any) -> Iterator[str]:
    name = f"preferring_{next(_numbers)}"
    spark.sql(f"CREATE DATABASE {name}")
    yield name
    spark.sql(f"DROP DATABASE {name} CASCADE")


both = pytest.mark.usefixtures("_reads")


def rows(spark: Any, begin: int, end: int) -> Any:
    ids = spark.range(begin, end, 1, 2)
    return ids.select("id", F.concat(F.lit("text "), F.col("id") % 100).alias("text"), (F.col("id") % 3).alias("k"))


def prefer(service: Metastore, database: str, put: Mapping[str, str], **of: str) -> None:
    service.preferences.change(Subject(DatabaseName("hive", database), **of), put)


def stored(service: Metastore, name: TableName) -> dict[str, ColumnStatistics]:
    """A table's own statistics by column."""
    found = service.statistics(name, ["id", "text", "k"], None)
    return {column.column: column for each in found for column in each.columns}


def counted(service: Metastore, name: TableName) -> tuple[str | None, str | None]:
    """The rows of a table, and its mark."""
    parameters = service.existing_table(name).parameters
    return parameters.get("numRows"), parameters.get("COLUMN_STATS_ACCURATE")


def assert_as_analysed(spark: Any, service: Metastore, name: TableName) -> None:
    """An analysis finds that nothing has changed, and one of all the same numbers."""
    gathered, marked = stored(service, name), counted(service, name)
    assert analyze(spark, name.short, changed_only=True).partitions == 0
    analyze(spark, name.short)
    assert counted(service, name) == marked
    found = stored(service, name)
    assert {each: comparable(column) for each, column in gathered.items()} == {
        each: comparable(column) for each, column in found.items()
    }


def precision_of(column: ColumnStatistics) -> int:
    return HiveHll.from_bytes(getattr(column.data, "bit_vector", b"")).p


@both
@pytest.mark.parametrize("keys", [(), ("k",)])
def test_an_append_goes_on_with_the_sketches_that_are_preferred(
    spark: Any, service: Metastore, database: str, keys: tuple[str, ...]
) -> None:
    prefer(service, database, FINE)
    name = TableName("hive", database, "t")
    for begin, end in ((0, 3000), (2000, 5000)):
        written = writing(rows(spark, begin, end)).save_table(name.short, mode="append", partition_by=keys)
        assert (written.gathered, written.rows) == (True, 3000)
    found = stored(service, name)
    assert counted(service, name)[0] == "6000"
    assert [precision_of(found[each]) for each in ("id", "text")] == [14, 14]
    assert (getattr(found["id"].data, "histogram", None), found["text"].top_k) == (None, None)
    assert getattr(found["id"].data, "ndv", 0) == pytest.approx(5000, rel=0.03)
    if not keys:
        assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_an_append_goes_on_from_an_analysis(spark: Any, service: Metastore, database: str) -> None:
    name = TableName("hive", database, "t")
    rows(spark, 0, 3000).write.saveAsTable(name.short)
    prefer(service, database, {"precision": "14"}, table="t")
    prefer(service, database, {"histogram": "false"}, table="t", column="id")
    prefer(service, database, {"statistics": "none"}, table="t", column="text")
    analyze(spark, name.short)
    assert writing(rows(spark, 2000, 5000)).insert_into(name.short).gathered
    found = stored(service, name)
    assert found.keys() == {"id", "k"}
    assert [getattr(found[each].data, "histogram", None) is None for each in ("id", "k")] == [True, False]
    assert counted(service, name) == ("6000", '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true","k":"true"}}')
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_partitions_of_a_table_elsewhere_go_on_too(
    spark: Any, service: Metastore, database: str, tmp_path: Path
) -> None:
    prefer(service, database, FINE)
    name = TableName("hive", database, "t")
    place = f"STORED AS parquet LOCATION '{tmp_path}/else where'"
    spark.sql(f"CREATE TABLE {name.short} (id BIGINT, text STRING) PARTITIONED BY (k STRING) {place}")
    for begin, end in ((0, 3000), (2000, 5000)):
        padded = rows(spark, begin, end).withColumn("k", F.lpad(F.col("k").cast("string"), 2, "0"))
        assert writing(padded).insert_into(name.short).gathered
    assert counted(service, name)[0] == "6000"
    (of_partition,) = service.statistics(name, ["id"], ["k=01"])
    assert precision_of(of_partition.columns[0]) == 14
    assert analyze(spark, name.short, changed_only=True).partitions == 0


@pytest.mark.slow
@both
@pytest.mark.parametrize("keys", [(), ("k",)])
def test_rows_alone_are_counted_if_they_are_preferred(
    spark: Any, service: Metastore, database: str, keys: tuple[str, ...]
) -> None:
    prefer(service, database, {"statistics": "rows"})
    name = TableName("hive", database, "t")
    for begin, end in ((0, 3000), (2000, 5000)):
        written = writing(rows(spark, begin, end)).save_table(name.short, mode="append", partition_by=keys)
        assert (written.gathered, written.rows) == (True, 3000)
    assert counted(service, name)[0] == "6000"
    assert not stored(service, name)


def test_a_followed_append_goes_on_with_the_sketches_that_are_preferred(
    spark: Any, service: Metastore, database: str
) -> None:
    prefer(service, database, FINE)
    name = TableName("hive", database, "t")
    with hmstats.autogather(spark) as following:
        rows(spark, 0, 3000).write.saveAsTable(name.short)
        rows(spark, 2000, 5000).write.insertInto(name.short)
        assert [each.gathered for each in following.wait()] == [True]
    assert counted(service, name)[0] == "6000"
    assert precision_of(stored(service, name)["id"]) == 14
    assert_as_analysed(spark, service, name)


def test_a_write_survives_preferences_that_cannot_be_read(
    spark: Any, service: Metastore, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmstats.collector.autogather import writer
    from hmstats.errors import ServiceUnavailable

    def fail(*_: Any) -> None:
        raise ServiceUnavailable("the metastore is away")

    monkeypatch.setattr(writer, "preferred_of_writes", fail)
    name = TableName("hive", database, "t")
    assert writing(rows(spark, 0, 3000)).save_table(name.short).gathered
    assert counted(service, name)[0] == "3000"
