"""Numbers of rows that Hive reads otherwise than Spark are not marked as accurate: Hive answers by marks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.client.tables.stored_statistics import own_statistics, stored_partitions
from hmstats.collector import analyze, writing

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "read_otherwise"
MODE = "hive.exec.dynamic.partition.mode"
MARK = "COLUMN_STATS_ACCURATE"
TEXT = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp('otherwise').as_uri()}'")
    before = spark.conf.get(MODE, None)
    spark.conf.set(MODE, "nonstrict")
    yield
    spark.conf.unset(MODE) if before is None else spark.conf.set(MODE, before)
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def stored(metastore: str, table: str) -> list[Mapping[str, str]]:
    """The parameters of a table, and of its partitions if it has any."""
    with connect(metastore) as service:
        name = named_table(table, "default")
        found = own_statistics(service, service.existing_table(name))
        names = service.partition_names(found.table.name) if found.table.partition_keys else []
        return [found.parameters, *(each.parameters for each in stored_partitions(service, found.table, names))]


@pytest.mark.parametrize(
    ("name", "clause", "is_marked"),
    [
        ("header", f"{TEXT} TBLPROPERTIES('skip.header.line.count' = '1')", False),
        ("footer", f"{TEXT} TBLPROPERTIES('skip.footer.line.count' = '2')", False),
        ("no_header", f"{TEXT} TBLPROPERTIES('skip.header.line.count' = '0')", True),
        ("by_place", "STORED AS PARQUET TBLPROPERTIES('parquet.column.index.access' = 'true')", False),
        ("by_name", "STORED AS PARQUET TBLPROPERTIES('parquet.column.index.access' = 'false')", True),
        ("of_spark", "USING csv OPTIONS(header 'true') TBLPROPERTIES('skip.header.line.count' = '1')", True),
    ],
)
def test_only_what_hive_reads_alike_is_marked(
    spark: Any, spark_metastore: str, tmp_path: Path, name: str, clause: str, is_marked: bool
) -> None:
    (tmp_path / "t").mkdir()
    if "PARQUET" in clause:
        pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), tmp_path / "t" / "f")
    else:
        (tmp_path / "t" / "f").write_text("a,b\n1,2\n3,4\n")
    table = f"{DATABASE}.{name}"
    spark.sql(f"CREATE TABLE {table} (a INT, b INT) {clause}")
    with connect(spark_metastore) as service:
        place = service.existing_table(named_table(table, "default")).storage
    assert place is not None
    folder = Path((place.location or "").removeprefix("file:"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "f").write_bytes((tmp_path / "t" / "f").read_bytes())
    analyze(spark, table)
    (parameters,) = stored(spark_metastore, table)
    assert parameters["numRows"] == str(spark.table(table).count())
    assert (MARK in parameters) is is_marked


def test_partitions_are_not_marked_either_nor_by_a_write(spark: Any, spark_metastore: str) -> None:
    table = f"{DATABASE}.parts"
    spark.sql(
        f"CREATE TABLE {table} (a INT) PARTITIONED BY (k INT) {TEXT} TBLPROPERTIES('skip.header.line.count' = '1')"
    )
    assert writing(spark.sql("SELECT 1 AS a, 2 AS k")).insert_into(table).gathered
    assert [MARK in each for each in stored(spark_metastore, table)] == [False, False]
    analyze(spark, table)
    assert [(each["numRows"], MARK in each) for each in stored(spark_metastore, table)] == [("1", False)] * 2
