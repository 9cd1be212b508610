"""Only what changed since its statistics is analysed again, and the table's own are those of a whole analysis."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats import client, collector
from hmstats.collector.options import Options
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.sketch.distinct.hive_hll import HiveHll

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = "(n INT, d DOUBLE, s STRING, f BOOLEAN, x BINARY, t DECIMAL(9,2))"
_numbers = count(1)


@pytest.fixture
def table(spark: Any, tmp_path: Path) -> Iterator[str]:
    """A table of three partitions, nowhere analysed."""
    database = f"changes_{next(_numbers)}"
    spark.sql(f"CREATE DATABASE {database} LOCATION '{tmp_path.as_uri()}'")
    spark.sql(f"CREATE TABLE {database}.t {COLUMNS} PARTITIONED BY (p INT) STORED AS PARQUET")
    for partition in range(3):
        write(tmp_path, partition, 0, 100 * (partition + 1))
    spark.sql(f"ALTER TABLE {database}.t ADD PARTITION (p=0) PARTITION (p=1) PARTITION (p=2)")
    yield f"{database}.t"
    spark.sql(f"DROP DATABASE {database} CASCADE")


def write(folder: Path, partition: int, file: int, rows: int) -> None:
    numbers = [None if i % 5 == 0 else 1000 * partition + 7 * file + i for i in range(rows)]
    known = [0 if number is None else number for number in numbers]
    place = folder / "t" / f"p={partition}"
    place.mkdir(parents=True, exist_ok=True)
    columns = {
        "n": pa.array(numbers, pa.int32()),
        "d": pa.array([number / 3 for number in known]),
        "s": pa.array(["x" * (number % 11) for number in known]),
        "f": pa.array([number % 3 == 0 for number in known]),
        "x": pa.array([bytes(number % 5) for number in known]),
        "t": pa.array([Decimal(number).scaleb(-2) for number in known], pa.decimal128(9, 2)),
    }
    pq.write_table(pa.table(columns), place / f"part-{file}")


def stored(metastore: str, table: str) -> tuple[Mapping[str, str], dict[str, ColumnStatistics]]:
    """The table's own parameters and statistics."""
    name = TableName("hive", *table.split("."))
    with client.connect(metastore) as service:
        found = service.find_table(name)
        assert found is not None
        (statistics,) = service.statistics(name)
    return found.parameters, {column.column: column for column in statistics.columns}


def comparable(column: ColumnStatistics) -> dict[str, object]:
    """What does not depend on how the rows were cut."""
    found = {field.name: getattr(column.data, field.name) for field in fields(column.data) if field.name != "histogram"}
    vector = found.pop("bit_vector", None)
    return {**found, "registers": HiveHll.from_bytes(vector) if vector else None}


def check_as_if_whole(spark: Any, metastore: str, table: str) -> None:
    """Fail unless the stored statistics of the table are those of an analysis of all of it."""
    before, columns = stored(metastore, table)
    collector.analyze(spark, table)
    after, expected = stored(metastore, table)
    counts = ("numRows", "numFiles", "totalSize", "numPartitions")
    assert {name: before[name] for name in counts} == {name: after[name] for name in counts}
    assert {name: comparable(each) for name, each in columns.items()} == {
        name: comparable(each) for name, each in expected.items()
    }


def test_nothing_changed(spark: Any, spark_metastore: str, table: str) -> None:
    first = collector.analyze(spark, table, changed_only=True)
    assert (first.partitions, first.unchanged, first.rows) == (3, 0, 600)
    before = stored(spark_metastore, table)
    second = collector.analyze(spark, table, changed_only=True)
    assert (second.partitions, second.unchanged, second.rows, second.whole) == (0, 3, 0, None)
    assert stored(spark_metastore, table) == before


def test_a_partition_with_another_file(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    collector.analyze(spark, table)
    write(tmp_path, 1, 1, 50)
    report = collector.analyze(spark, table, changed_only=True)
    assert (report.partitions, report.unchanged, report.rows, report.files) == (1, 2, 250, 2)
    assert stored(spark_metastore, table)[0]["numRows"] == "650"
    check_as_if_whole(spark, spark_metastore, table)


def test_a_file_that_was_written_over(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    collector.analyze(spark, table)
    write(tmp_path, 2, 0, 300)
    report = collector.analyze(spark, table, changed_only=True)
    assert (report.partitions, report.unchanged) == (1, 2)


def test_partitions_that_came_and_went(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    collector.analyze(spark, table)
    spark.sql(f"ALTER TABLE {table} DROP PARTITION (p=0)")
    gone = collector.analyze(spark, table, changed_only=True)
    assert (gone.partitions, gone.unchanged) == (0, 2)
    assert stored(spark_metastore, table)[0]["numRows"] == "500"
    write(tmp_path, 7, 0, 70)
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (p=7)")
    came = collector.analyze(spark, table, changed_only=True)
    assert (came.partitions, came.unchanged, came.rows) == (1, 2, 70)
    check_as_if_whole(spark, spark_metastore, table)


def test_another_choice_is_a_change(spark: Any, spark_metastore: str, table: str) -> None:
    collector.analyze(spark, table, columns=["n"])
    assert collector.analyze(spark, table, columns=["n"], changed_only=True).unchanged == 3
    assert collector.analyze(spark, table, columns=["n", "s"], changed_only=True).unchanged == 0
    finer = Options(precision=13)
    assert collector.analyze(spark, table, columns=["n", "s"], options=finer, changed_only=True).unchanged == 0
    assert collector.analyze(spark, table, columns=["n", "s"], options=finer, changed_only=True).unchanged == 3


def test_only_some_partitions(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    collector.analyze(spark, table)
    write(tmp_path, 1, 1, 50)
    write(tmp_path, 2, 1, 50)
    report = collector.analyze(spark, table, partitions={"p": 2}, changed_only=True)
    assert (report.partitions, report.unchanged, report.whole) == (1, 0, None)
    assert collector.analyze(spark, table, changed_only=True).partitions == 1
    check_as_if_whole(spark, spark_metastore, table)


def test_a_table_without_partitions(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE {table}_flat {COLUMNS} STORED AS PARQUET LOCATION 'file:{tmp_path}/t/p=0'")
    assert collector.analyze(spark, f"{table}_flat").rows == 100
    again = collector.analyze(spark, f"{table}_flat", changed_only=True)
    assert (again.unchanged, again.rows, again.whole) == (1, 0, None)
    write(tmp_path, 0, 1, 10)
    assert collector.analyze(spark, f"{table}_flat", changed_only=True).rows == 110


def test_files_that_spark_reads(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE {table}_text (a INT) PARTITIONED BY (k STRING, l INT) STORED AS TEXTFILE")
    for value, number in (("a/b", 1), ("a", 1), ("__HIVE_DEFAULT_PARTITION__", 2)):
        folder = tmp_path / "text" / str(len(value))
        folder.mkdir(parents=True)
        (folder / "x").write_text("1\n2\n")
        shown = "NULL" if value.startswith("__") else f"'{value}'"
        spark.sql(f"ALTER TABLE {table}_text ADD PARTITION (k={shown}, l={number}) LOCATION '{folder.as_uri()}'")
    assert collector.analyze(spark, f"{table}_text").rows == 6
    (tmp_path / "text" / "3" / "y").write_text("3\n")
    (tmp_path / "text" / "26" / "y").write_text("4\n")
    report = collector.analyze(spark, f"{table}_text", changed_only=True)
    assert (report.partitions, report.unchanged, report.rows) == (2, 1, 6)
    check_as_if_whole(spark, spark_metastore, f"{table}_text")


def test_noscan_forgets_what_may_be_untrue(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    collector.analyze(spark, table)
    collector.analyze(spark, table, noscan=True)
    assert stored(spark_metastore, table)[0]["numRows"] == "600"
    write(tmp_path, 1, 1, 50)
    collector.analyze(spark, table, noscan=True)
    parameters, _ = stored(spark_metastore, table)
    assert ("numRows" in parameters, parameters["numFiles"]) == (False, "4")
    assert collector.analyze(spark, table, changed_only=True).partitions == 1
    check_as_if_whole(spark, spark_metastore, table)
