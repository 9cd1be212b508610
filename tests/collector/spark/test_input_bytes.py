"""What Spark reads of files, held against the sizes of files that nothing else knows of."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hmstats.collector import Report, analyze
from hmstats.collector.spark.input_bytes import count_input_bytes
from hmstats.files.counted_reads import ReadCount

pytestmark = pytest.mark.spark

ROWS, FILES = 5_000, 3


@pytest.fixture(scope="module")
def database(spark: Any) -> Iterator[str]:
    spark.sql("CREATE DATABASE input_bytes")
    yield "input_bytes"
    spark.sql("DROP DATABASE input_bytes CASCADE")


def written(folder: Path, ending: str) -> int:
    """Files without checksums beside them, which Hadoop would read too; returns their bytes."""
    folder.mkdir(parents=True)
    for number in range(FILES):
        numbers = range(number * ROWS, number * ROWS + ROWS)
        lines = (f"{each},text {each % 7}" for each in numbers)
        if ending == "json":
            lines = (json.dumps({"id": each, "name": f"text {each % 7}"}) for each in numbers)
        (folder / f"part-{number}.{ending}").write_text("\n".join(lines) + "\n")
    return sum(each.stat().st_size for each in folder.iterdir())


def analyzed(spark: Any, database: str, name: str, using: str, folder: Path) -> Report:
    spark.sql(f"CREATE TABLE {database}.{name} (id BIGINT, name STRING) {using} LOCATION '{folder.as_uri()}'")
    return analyze(spark, f"{database}.{name}")


@pytest.mark.parametrize(
    ("ending", "using"),
    [
        ("json", "USING json"),
        pytest.param("csv", "USING csv", marks=pytest.mark.slow),
        pytest.param("txt", "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','", marks=pytest.mark.slow),
    ],
)
def test_all_bytes_of_files_that_spark_reads_are_known(
    spark: Any, database: str, tmp_path: Path, ending: str, using: str
) -> None:
    size = written(tmp_path / "t", ending)
    report = analyzed(spark, database, f"of_{ending}", using, tmp_path / "t")
    assert (report.rows, report.bytes) == (ROWS * FILES, size)
    assert report.reads == ReadCount(size, None)
    assert (report.as_json()["read_bytes"], report.as_json()["requests"]) == (size, None)
    assert f"read {size:,} bytes in an unknown number of requests" in repr(report)


@pytest.mark.slow
def test_avro_is_read_from_beginning_to_end(spark: Any, database: str) -> None:
    """Each task reads the header of its file too, and a block that begins in its part to the end."""
    name = f"{database}.of_avro"
    spark.sql(f"CREATE TABLE {name} STORED AS AVRO AS SELECT id, concat('text ', id % 7) AS name FROM range({ROWS})")
    (row,) = spark.sql(f"DESCRIBE EXTENDED {name}").where("col_name = 'Location'").collect()
    for checksum in Path(row.data_type.removeprefix("file:")).glob(".*.crc"):
        checksum.unlink()
    report = analyze(spark, name)
    assert report.rows == ROWS
    assert report.reads is not None
    assert report.bytes <= report.reads.bytes < report.bytes + 100_000
    assert report.reads.requests is None


@pytest.mark.slow
def test_bytes_of_partitions_elsewhere_are_known(spark: Any, database: str, tmp_path: Path) -> None:
    size = written(tmp_path / "t", "txt")
    name, form = f"{database}.parted", "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"
    spark.sql(f"CREATE TABLE {name} (id BIGINT, name STRING) PARTITIONED BY (k INT) {form}")
    spark.sql(f"ALTER TABLE {name} ADD PARTITION (k = 1) LOCATION '{(tmp_path / 't').as_uri()}'")
    assert analyze(spark, name).reads == ReadCount(size, None)


@pytest.mark.slow
def test_bytes_below_a_view_and_of_orc_are_unknown(spark: Any, database: str, tmp_path: Path) -> None:
    """Spark's metrics know a part of them alone."""
    spark.sql(f"CREATE TABLE {database}.old USING orc AS SELECT DATE'1500-01-01' AS day, id FROM range(1000)")
    report = analyze(spark, f"{database}.old")
    assert (report.rows, report.reads) == (1000, None)
    assert report.as_json()["read_bytes"] is None
    written(tmp_path / "t", "csv")
    analyzed(spark, database, "below", "USING csv", tmp_path / "t")
    spark.sql(f"CREATE VIEW {database}.above AS SELECT * FROM {database}.below")
    report = analyze(spark, f"{database}.above")
    assert (report.rows, report.reads) == (ROWS * FILES, None)


@pytest.mark.slow
def test_other_jobs_of_the_session_do_not_count(spark: Any, tmp_path: Path) -> None:
    size = written(tmp_path / "t", "csv")
    rows = spark.read.csv(str(tmp_path / "t"), schema="id BIGINT, name STRING")
    with count_input_bytes(spark) as read:
        assert read.total() is None
        rows.count()
    rows.count()
    assert read.total() == size
