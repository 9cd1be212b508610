"""A check on Spark: of tables, partitions and views, of all rows and of samples."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.collector.data import ROWS, TYPES, rows

from hmstats import client, collector
from hmstats.errors import StatementError, UnreadableFile
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet

pytestmark = pytest.mark.spark

DATABASE = "checked"
GROUP_ROWS = 100
Tamper = Callable[..., None]


@pytest.fixture(scope="module")
def folder(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a database: `plain` of 40 row groups, `parted` with partitions of 10 each, a view; all analysed."""
    place: Path = tmp_path_factory.mktemp("checked")
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{place.as_uri()}'")
    columns = ", ".join(f"{column} {type_}" for column, type_ in TYPES.items())
    spark.sql(f"CREATE TABLE {DATABASE}.plain ({columns}, list ARRAY<INT>) STORED AS PARQUET")
    spark.sql(f"CREATE TABLE {DATABASE}.parted ({columns}) PARTITIONED BY (p INT) STORED AS PARQUET")
    written(rows(), place / "plain")
    for number in (1, 2, 3):
        written(rows().slice(number * 1000, 1000), place / "parted" / f"p={number}")
    partitions = " ".join(f"PARTITION (p={number})" for number in (1, 2, 3, 4))
    spark.sql(f"ALTER TABLE {DATABASE}.parted ADD {partitions}")
    spark.sql(f"CREATE VIEW {DATABASE}.seen AS SELECT number, text FROM {DATABASE}.plain")
    for table in ("plain", "parted", "seen"):
        collector.analyze(spark, f"{DATABASE}.{table}")
    yield place
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def written(table: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "part-0", row_group_size=GROUP_ROWS)


@pytest.fixture
def tamper(folder: Path, spark_metastore: str) -> Iterator[Tamper]:
    """Stores other numbers of a column, whose sketches and other numbers stay; afterwards it is as it was."""
    undone: list[Callable[[], None]] = []
    with client.connect(spark_metastore) as service:

        def put(table: str, stored: StatisticsSet) -> None:
            name = TableName("hive", DATABASE, table)
            if stored.partition is None:
                service.put_table_statistics(name, stored)
            else:
                service.put_partition_statistics(name, [stored])

        def change(table: str, column: str, partition: str | None = None, **fields: Any) -> None:
            name = TableName("hive", DATABASE, table)
            (found,) = service.statistics(name, [column], None if partition is None else [partition])
            (old,) = found.columns
            put(table, replace(found, columns=(replace(old, data=replace(old.data, **fields)),)))
            undone.append(lambda: put(table, found))

        yield change
        for undo in reversed(undone):
            undo()


def wrong(report: collector.CheckReport) -> list[tuple[str | None, str | None, str]]:
    return [(each.partition, each.column, each.statistic) for each in report.wrong]


@pytest.mark.parametrize(
    ("table", "targets", "count"),
    [("plain", 1, ROWS), pytest.param("parted", 4, 3000, marks=pytest.mark.slow), ("seen", 1, ROWS)],
)
def test_what_is_right_passes(spark: Any, folder: Path, table: str, targets: int, count: int) -> None:
    whole = collector.check(spark, f"{DATABASE}.{table}", sample_fraction=1)
    assert whole.wrong == ()
    assert (whole.tally.targets, whole.tally.without_statistics, whole.tally.undecided) == (targets, 0, 0)
    assert (whole.tally.rows, whole.tally.rows_read) == (count, count)
    assert whole.tally.checked > (10 if table == "seen" else 100)
    assert list(whole.skipped) == (["list"] if table == "plain" else [])
    sample = collector.check(spark, f"{DATABASE}.{table}", sample_fraction=0.6)
    assert sample.wrong == ()
    assert sample.tally.undecided > 0
    assert count * 0.5 < sample.tally.rows_read < count * 0.7
    assert sample.tally.rows == count


def test_wrong_numbers_are_found(spark: Any, tamper: Tamper) -> None:
    tamper("plain", "number", low=1, nulls=799)
    tamper("plain", "text", max_length=10)
    tamper("seen", "text", nulls=1)
    report = collector.check(spark, f"{DATABASE}.plain", sample_fraction=1)
    assert wrong(report) == [(None, "number", "nulls"), (None, "number", "low"), (None, "text", "max_length")]
    assert report.as_json() == {
        "table": f"{DATABASE}.plain",
        "checked": report.tally.checked,
        "undecided": 0,
        "targets": 1,
        "without_statistics": 0,
        "rows": ROWS,
        "rows_read": ROWS,
        "wrong": 3,
    }
    only = collector.check(spark, f"{DATABASE}.plain", columns=["text"], sample_fraction=1)
    assert wrong(only) == [(None, "text", "max_length")]
    assert wrong(collector.check(spark, f"{DATABASE}.seen", sample_fraction=0.5)) == [(None, "text", "nulls")]


@pytest.mark.slow
def test_half_of_the_row_groups_tell_what_no_row_proves(spark: Any, tamper: Tamper) -> None:
    tamper("plain", "number", nulls=1_200)
    tamper("plain", "flag", trues=850)
    tamper("plain", "day", high=2_000_000)
    report = collector.check(spark, f"{DATABASE}.plain", sample_fraction=0.6)
    assert wrong(report) == [(None, "flag", "trues"), (None, "number", "nulls")]
    assert [each.limits.certain for each in report.wrong] == [False, False]
    whole = collector.check(spark, f"{DATABASE}.plain", columns=["number", "day"], sample_fraction=1)
    assert wrong(whole) == [(None, "number", "nulls"), (None, "day", "high")]
    assert all(each.limits.certain for each in whole.wrong)


@pytest.mark.slow
def test_partitions_and_the_table_itself(spark: Any, spark_metastore: str, tamper: Tamper) -> None:
    tamper("parted", "number", "p=2", high=9_999)
    tamper("parted", "word", "p=3", ndv=500)
    with client.connect(spark_metastore) as service:
        # A metastore that knows the number of rows refuses nulls of an empty partition.
        service.put_partition_parameters(TableName("hive", DATABASE, "parted"), ["p"], {"p=4": {"numRows": None}})
    tamper("parted", "word", "p=4", nulls=1)
    tamper("parted", "day", None, low=0)
    table = f"{DATABASE}.parted"
    found = collector.check(spark, table, sample_fraction=1)
    assert wrong(found) == [
        (None, "day", "low"),
        ("p=2", "number", "high"),
        ("p=3", "word", "ndv"),
        ("p=4", "word", "nulls"),
    ]
    some = collector.check(spark, table, partitions={"p": 2}, sample_fraction=1)
    assert wrong(some) == [("p=2", "number", "high")]
    assert (some.tally.targets, some.tally.rows) == (1, 1000)
    # A sample proves that day 0 is above what it saw, and that an empty partition has no nulls.
    assert wrong(collector.check(spark, table, sample_fraction=0.2))[0] == (None, "day", "low")
    with client.connect(spark_metastore) as service:
        service.put_partition_parameters(TableName("hive", DATABASE, "parted"), ["p"], {"p=4": {"numRows": "0"}})


@pytest.mark.slow
def test_rows_and_files(spark: Any, spark_metastore: str, folder: Path) -> None:
    name = TableName("hive", DATABASE, "parted")
    with client.connect(spark_metastore) as service:
        before = {each.values: each.parameters for each in service.partitions(name, ["p=1"])}[("1",)]
        changed = {"numRows": "1001", "numFiles": "2", "totalSize": "7"}
        service.put_partition_parameters(name, ["p"], {"p=1": changed})
        found = collector.check(spark, f"{DATABASE}.parted", sample_fraction=0.2)
        service.put_partition_parameters(name, ["p"], {"p=1": {key: before[key] for key in changed}})
    size = (folder / "parted" / "p=1" / "part-0").stat().st_size
    assert {(each.partition, each.statistic, each.stored, each.nearest) for each in found.wrong} == {
        ("p=1", "rows", 1001, 1000),
        ("p=1", "files", 2, 1),
        ("p=1", "bytes", 7, size),
    }


@pytest.mark.slow
def test_a_partition_without_statistics_is_bare(spark: Any, spark_metastore: str, folder: Path) -> None:
    spark.sql(f"CREATE TABLE IF NOT EXISTS {DATABASE}.fresh (n INT) PARTITIONED BY (p INT) STORED AS TEXTFILE")
    spark.sql(f"INSERT INTO {DATABASE}.fresh PARTITION (p=1) VALUES (1), (2)")
    spark.sql(f"ALTER TABLE {DATABASE}.fresh ADD PARTITION (p=2)")
    report = collector.check(spark, f"{DATABASE}.fresh")
    assert wrong(report) == [("p=1", None, "rows")]  # Spark leaves 0 there
    assert (report.tally.targets, report.tally.without_statistics, report.tally.rows) == (2, 2, 2)


def test_bad_input_is_said_before_anything_is_read(spark: Any, folder: Path) -> None:
    problems: dict[str, dict[str, Any]] = {
        "a sample must be more than 0 and at most 1": {"sample_fraction": 0},
        "a tolerance must be 0 or more, found -1": {"tolerance": -1.0},
        "a tolerance must be 0 or more, found nan": {"tolerance": float("nan")},
        "has no column nope": {"columns": ["nope"]},
        "has no partitions, so none with a key p": {"partitions": {"p": 1}},
    }
    for problem, arguments in problems.items():
        with pytest.raises(StatementError, match=problem):
            collector.check(spark, f"{DATABASE}.plain", **arguments)
    with pytest.raises(StatementError, match="is not in the metastore"):
        collector.check(spark, "nowhere.nothing")


@pytest.mark.slow
def test_files_that_cannot_be_read_are_named(spark: Any, folder: Path) -> None:
    spark.sql(f"CREATE TABLE {DATABASE}.broken (n INT) STORED AS PARQUET")
    place = folder / "broken"
    place.mkdir(exist_ok=True)
    (place / "part-0").write_bytes(b"PAR1 no file PAR1")
    with pytest.raises(UnreadableFile, match="part-0 cannot be read"):
        collector.check(spark, f"{DATABASE}.broken")
    shutil.rmtree(place)
    spark.sql(f"CREATE TABLE {DATABASE}.gone (n INT) PARTITIONED BY (p INT) STORED AS TEXTFILE")
    spark.sql(f"ALTER TABLE {DATABASE}.gone ADD PARTITION (p=3)")
    (folder / "gone" / "p=3").rmdir()
    with pytest.raises(StatementError, match=r"/gone/p=3 does not exist"):
        collector.check(spark, f"{DATABASE}.gone")
