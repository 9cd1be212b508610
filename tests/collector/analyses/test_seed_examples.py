"""The examples of Hive's documentation: Table1 with four partitions of four files, 500 rows and 4096 bytes each."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats import client, collector
from hmstats.collector.request.partition_spec import PartitionSpec
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NAMES = [f"ds={ds}/hr={hr}" for ds in ("2008-04-08", "2008-04-09") for hr in (11, 12)]
FILES, ROWS, FILE_BYTES = 4, 125, 1024
ONE = {"numFiles": "4", "numRows": "500", "totalSize": "4096"}
ADDED = {"numFiles": "4", "totalSize": "4096"}
"""What the metastore itself counts of a partition when it is added."""
ALL = {"numPartitions": "4", "numFiles": "16", "numRows": "2000", "totalSize": "16384"}
COUNTS = ("numPartitions", "numFiles", "numRows", "totalSize")


@pytest.fixture(params=["PARQUET", "TEXTFILE"])
def table(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Iterator[str]:
    """Table1, whose data nobody has looked at yet."""
    name = f"seed_{request.param.lower()}.table1"
    spark.sql(f"CREATE DATABASE {name.partition('.')[0]}")
    spark.sql(
        f"CREATE TABLE {name} (word STRING, list ARRAY<INT>) PARTITIONED BY (ds STRING, hr INT) "
        f"STORED AS {request.param} LOCATION '{tmp_path.as_uri()}'"
    )
    for partition in NAMES:
        folder = tmp_path / partition
        folder.mkdir(parents=True)
        for number in range(FILES):
            write = parquet_of if request.param == "PARQUET" else text_of
            write(folder / f"part-{number}", words(partition, number))
        ds, hr = (part.partition("=")[2] for part in partition.split("/"))
        spark.sql(f"ALTER TABLE {name} ADD PARTITION (ds='{ds}', hr={hr})")
    yield name
    spark.sql(f"DROP DATABASE {name.partition('.')[0]} CASCADE")


def words(partition: str, number: int) -> list[str]:
    """Seven letters, so that a line has eight bytes; each partition has words of its own."""
    return [f"{NAMES.index(partition)}{number}{row:05}" for row in range(ROWS)]


def text_of(path: Path, lines: list[str]) -> None:
    """A text file of 1024 bytes: the last line is longer."""
    text = "".join(f"{line}\n" for line in lines)
    path.write_text(text[:-1] + "x" * (FILE_BYTES - len(text)) + "\n")


def parquet_of(path: Path, lines: list[str]) -> None:
    """A Parquet file of 1024 bytes, filled up with a note in its footer."""
    table = pa.table({"word": lines, "list": pa.nulls(len(lines), pa.list_(pa.int32()))})
    note = 0
    while not path.exists() or path.stat().st_size != FILE_BYTES:
        with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"note": "x" * note})
        note += FILE_BYTES - path.stat().st_size
        assert note >= 0, f"{path} has {path.stat().st_size} bytes"


def counts(parameters: Mapping[str, str]) -> dict[str, str]:
    return {name: parameters[name] for name in COUNTS if name in parameters}


def stored(metastore: str, table: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The counts of the table and of each partition."""
    database, _, bare = table.partition(".")
    name = TableName("hive", database, bare)
    with client.connect(metastore) as service:
        whole = service.find_table(name)
        assert whole is not None
        found = service.partitions(name, NAMES)
        partitions = {f"ds={each.values[0]}/hr={each.values[1]}": counts(each.parameters) for each in found}
    return counts(whole.parameters), partitions


@pytest.mark.parametrize(
    ("clause", "spec", "expected"),
    [
        ("PARTITION(ds='2008-04-09', hr=11)", {"ds": "2008-04-09", "hr": 11}, NAMES[2:3]),
        ("PARTITION(ds='2008-04-09', hr)", {"ds": "2008-04-09", "hr": None}, NAMES[2:]),
        ("PARTITION(ds, hr)", {"ds": None, "hr": None}, NAMES),
        ("PARTITION(ds='2008-04-09')", {"ds": "2008-04-09"}, NAMES[2:]),
        ("", None, NAMES),
    ],
)
def test_statistics_are_gathered_for_the_named_partitions(
    spark: Any, spark_metastore: str, table: str, clause: str, spec: PartitionSpec | None, expected: list[str]
) -> None:
    report = collector.analyze(spark, f"ANALYZE TABLE {table} {clause} COMPUTE STATISTICS")
    whole, partitions = stored(spark_metastore, table)
    assert partitions == {name: ONE if name in expected else ADDED for name in NAMES}
    assert whole == (ALL if expected == NAMES else {})
    assert (report.partitions, report.rows, report.files) == (len(expected), 500 * len(expected), 4 * len(expected))
    assert report.bytes == 4096 * len(expected)
    again = collector.analyze(spark, table, partitions=spec, columns=[])
    assert (again.partitions, again.rows, again.bytes) == (report.partitions, report.rows, report.bytes)
    assert stored(spark_metastore, table) == (whole, partitions)


def test_noscan_gathers_files_and_bytes_only(spark: Any, spark_metastore: str, table: str, tmp_path: Path) -> None:
    for name in NAMES:
        shutil.copyfile(tmp_path / name / "part-0", tmp_path / name / f"part-{FILES}")
    five = {"numFiles": "5", "totalSize": "5120"}
    report = collector.analyze(spark, f"ANALYZE TABLE {table} PARTITION(ds='2008-04-09', hr) COMPUTE STATISTICS noscan")
    whole, partitions = stored(spark_metastore, table)
    assert partitions == {name: five if name in NAMES[2:] else ADDED for name in NAMES}
    assert whole == {}
    assert (report.partitions, report.rows, report.columns) == (2, None, ())
    collector.analyze(spark, table, noscan=True)
    whole, partitions = stored(spark_metastore, table)
    assert whole == {"numPartitions": "4", "numFiles": "20", "totalSize": "20480"}
    assert partitions == dict.fromkeys(NAMES, five)


def test_the_columns_of_the_named_partitions(spark: Any, spark_metastore: str, table: str) -> None:
    collector.analyze(spark, f"ANALYZE TABLE {table} PARTITION(ds='2008-04-09', hr) COMPUTE STATISTICS FOR COLUMNS")
    database, _, bare = table.partition(".")
    with client.connect(spark_metastore) as service:
        found = {
            each.partition: each.columns
            for each in service.partition_statistics(TableName("hive", database, bare), ["word", "list"], NAMES)
        }
    assert sorted(name or "" for name in found) == NAMES[2:]
    assert {(column.column, column.data.nulls) for each in found.values() for column in each} == {("word", 0)}
