"""Tables in a store that Spark's Hadoop has a client for, and nothing else: viewfs, mounted over a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.collector.checks import comparable
from tests.fixtures.hdfs import NEEDS_MAVEN, hdfs

from hmstats import collector
from hmstats.client import connect
from hmstats.errors import StatementError
from hmstats.files import file_systems
from hmstats.files import hdfs as hdfs_files
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "mounted"
VALUES = "timestamp_seconds(1e9 + id), date '2024-03-01' + cast(id AS INT), cast(id / 3 AS DECIMAL(9, 2))"
FORMS = ("parquet", "orc", "textfile")


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp(DATABASE).as_uri()}'")


@pytest.fixture
def place(spark: Any, tmp_path: Path) -> Callable[[str], str]:
    """Makes the location of a table in the store, whose folder is below `tmp_path`."""
    store = tmp_path.name.replace("_", "-")
    spark.conf.set(f"fs.viewfs.mounttable.{store}.link./w", tmp_path.as_uri())
    return lambda table: f"viewfs://{store}/w/{table}"


def stored(uris: str, table: str, partitions: list[str]) -> list[object]:
    """The statistics of a table and of its partitions, and their counts."""
    name, columns = TableName("hive", DATABASE, table), ["n", "s", "at", "day", "price"]
    with connect(uris) as service:
        found = [StatisticsSet(service.table_statistics(name, columns), None)]
        found += sorted(service.partition_statistics(name, columns, partitions), key=lambda each: str(each.partition))
        counted = [service.existing_table(name).parameters]
        counted += [each.parameters for each in service.partitions(name, partitions)]
    sizes = [{key: each.get(key) for key in ("numRows", "numFiles", "totalSize")} for each in counted]
    return [*([comparable(column) for column in each.columns] for each in found), *sizes]


@pytest.mark.parametrize("form", FORMS)
def test_its_statistics_are_those_of_the_folder(
    spark: Any, spark_metastore: str, place: Callable[[str], str], tmp_path: Path, form: str
) -> None:
    there, here = f"there_{form}", f"here_{form}"
    columns = (
        f"(n BIGINT, s STRING, at TIMESTAMP, day DATE, price DECIMAL(9, 2)) PARTITIONED BY (k STRING) STORED AS {form}"
    )
    spark.sql(f"CREATE EXTERNAL TABLE {DATABASE}.{there} {columns} LOCATION '{place('t')}'")
    for key in ("a", "b c"):
        rows = f"SELECT IF(id % 7 = 0, NULL, id), concat('{key}', id % 5), {VALUES} FROM range(100)"
        spark.sql(f"INSERT INTO {DATABASE}.{there} PARTITION (k = '{key}') {rows}")
    names = ["k=a", "k=b c"]
    for hidden in (tmp_path / "t" / "k=a" / "_temporary" / "x", tmp_path / "t" / "k=a" / ".x"):
        hidden.parent.mkdir(exist_ok=True)
        hidden.write_bytes(b"no data")
    (tmp_path / "t" / "k=a" / "nothing").touch()
    spark.sql(f"CREATE EXTERNAL TABLE {DATABASE}.{here} {columns} LOCATION '{(tmp_path / 't').as_uri()}'")
    spark.sql(f"MSCK REPAIR TABLE {DATABASE}.{here}")
    reports = [collector.analyze(spark, f"{DATABASE}.{each}") for each in (there, here)]
    assert [(each.rows, each.files, each.bytes) for each in reports] == [(200, reports[1].files, reports[1].bytes)] * 2
    assert stored(spark_metastore, there, names) == stored(spark_metastore, here, names)
    assert collector.check(spark, f"{DATABASE}.{there}", sample_fraction=1).wrong == ()
    assert collector.analyze(spark, f"{DATABASE}.{there}", changed_only=True).unchanged == 2
    spark.sql(f"INSERT INTO {DATABASE}.{there} PARTITION (k = 'a') SELECT 1, 'x', {VALUES} FROM range(1)")
    again = collector.analyze(spark, f"{DATABASE}.{there}", changed_only=True)
    assert (again.unchanged, again.rows) == (1, 101)
    assert collector.analyze(spark, f"{DATABASE}.{there}", noscan=True).files == reports[0].files + 1


def test_a_table_without_partitions(spark: Any, place: Callable[[str], str]) -> None:
    location = place("plain")
    spark.sql(f"CREATE TABLE {DATABASE}.plain USING parquet LOCATION '{location}' AS SELECT id FROM range(10)")
    report = collector.analyze(spark, f"{DATABASE}.plain")
    assert (report.rows, report.reads) == (10, None)


def test_what_cannot_be_listed_is_one_sentence(spark: Any, place: Callable[[str], str], tmp_path: Path) -> None:
    location = place("gone")
    spark.sql(f"CREATE TABLE {DATABASE}.gone USING parquet LOCATION '{location}' AS SELECT id FROM range(10)")
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    with pytest.raises(StatementError, match=f"{location} does not exist, and the metastore does not say"):
        collector.analyze(spark, f"{DATABASE}.gone")


@NEEDS_MAVEN
def test_hdfs_without_a_client_of_ours(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hdfs(tmp_path) as name_node:  # before JAVA_HOME is changed, by which Maven finds Java
        monkeypatch.setattr(hdfs_files, "is_installed", lambda: False)
        for variable in ("JAVA_HOME", "HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
            monkeypatch.setenv(variable, "/none")
        file_systems.open_root.cache_clear()
        location = f"hdfs://127.0.0.1:{name_node}/t"
        spark.sql(f"CREATE TABLE {DATABASE}.far USING parquet LOCATION '{location}' AS SELECT id FROM range(10)")
        report = collector.analyze(spark, f"{DATABASE}.far")
        assert report.rows == 10
        assert collector.check(spark, f"{DATABASE}.far", sample_fraction=1).wrong == ()
    file_systems.open_root.cache_clear()
