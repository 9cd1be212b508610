"""Whoever wants to know is told how far an analysis is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats import collector
from hmstats.collector.scan.progress import JobProgress

pytestmark = pytest.mark.spark


@pytest.fixture
def database(spark: Any, tmp_path: Path) -> Iterator[str]:
    spark.sql(f"CREATE DATABASE watched LOCATION '{tmp_path.as_uri()}'")
    spark.sql("CREATE TABLE watched.t (n BIGINT) PARTITIONED BY (p INT) STORED AS PARQUET")
    for partition in range(4):
        folder = tmp_path / "t" / f"p={partition}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"n": range(10 * (partition + 1))}), folder / "x")
    spark.sql("ALTER TABLE watched.t ADD PARTITION (p=0) PARTITION (p=1) PARTITION (p=2) PARTITION (p=3)")
    spark.sql("CREATE VIEW watched.v AS SELECT * FROM watched.t")
    yield "watched"
    spark.sql("DROP DATABASE watched CASCADE")


def test_partitions_and_rows_are_told(spark: Any, database: str) -> None:
    told: list[JobProgress] = []
    collector.analyze(spark, f"{database}.t", progress=told.append)
    last = told[-1]
    assert (last.partitions, last.partitions_in_all, last.rows) == (4, 4, 100)
    assert last.tasks == last.tasks_in_all > 0
    assert [done.rows for done in told] == sorted(done.rows for done in told)
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


@pytest.mark.slow
def test_a_view_has_rows_and_no_partitions(spark: Any, database: str) -> None:
    told: list[JobProgress] = []
    collector.analyze(spark, f"{database}.v", progress=told.append)
    assert (told[-1].partitions_in_all, told[-1].rows) == (0, 100)
