"""Sizes that a partitioned table has from its partitions, and what Spark makes of them: DDL, alters and copies."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hmstats import collector
from hmstats.client import Metastore, connect
from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import hive_metastore as api

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "computed"
FORMS = {
    "spark": "CREATE TABLE {table} (n INT, k INT) USING parquet PARTITIONED BY (k)",
    "stub": "CREATE TABLE {table} (n INT, t TIMESTAMP_NTZ, k INT) USING json PARTITIONED BY (k)",
    "hive": "CREATE TABLE {table} (n INT) PARTITIONED BY (k INT) STORED AS PARQUET",
}
_numbers = count(1)


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    place: Path = tmp_path_factory.mktemp(DATABASE)
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{place.as_uri()}'")


@pytest.fixture(params=list(FORMS.values()), ids=list(FORMS))
def table(request: pytest.FixtureRequest, spark: Any, spark_metastore: str) -> str:
    """A table that says nothing of its size itself; its partitions do."""
    name = f"{DATABASE}.t{next(_numbers)}"
    spark.sql(request.param.format(table=name))
    columns = [each for each in spark.table(name).columns if each != "k"]
    values = ", ".join("TIMESTAMP_NTZ'2024-01-01 00:00:00'" if each == "t" else "CAST(id AS INT)" for each in columns)
    for key in (1, 2):
        spark.sql(f"INSERT INTO {name} PARTITION (k = {key}) SELECT {values} FROM range({10 * key})")
        collector.analyze(spark, f"ANALYZE TABLE {name} PARTITION (k = {key}) COMPUTE STATISTICS FOR COLUMNS n")
    assert rows(spark_metastore, name) == "30"
    return name


def rows(uris: str, table: str) -> str | None:
    """What any client is answered of the table's rows."""
    with connect(uris) as service:
        found: dict[str, str] = service._table(named(table)).parameters
    return found.get("numRows")


def named(table: str) -> TableName:
    return TableName("hive", *table.split("."))


def change_partition(service: Metastore, table: str) -> None:
    """Give the first partition 100 rows instead of 10."""
    service.put_partition_parameters(named(table), ["k"], {"k=1": {"numRows": "100"}})


def test_no_ddl_says_what_was_computed(spark: Any, spark_metastore: str, table: str) -> None:
    shown = spark.sql(f"SHOW CREATE TABLE {table}").first()[0]
    properties = [row.key for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()]
    described = [str(row) for row in spark.sql(f"DESCRIBE EXTENDED {table}").collect()]
    assert "hmstats" not in shown
    assert not [each for each in (*properties, *described) if "hmstats" in each]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'ops')",
        "ALTER TABLE {table} ADD COLUMNS (more INT)",
        "COMMENT ON TABLE {table} IS 'of the team'",
    ],
)
def test_what_spark_writes_back_is_not_stored(spark: Any, spark_metastore: str, table: str, statement: str) -> None:
    spark.sql(f"REFRESH TABLE {table}")
    spark.table(table).schema  # noqa: B018 - Spark reads the table
    spark.sql(statement.format(table=table))
    with connect(spark_metastore) as service:
        change_partition(service, table)
    assert rows(spark_metastore, table) == "120"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('again' = 'yes')")
    assert rows(spark_metastore, table) == "120"


def test_a_copy_has_none(spark: Any, spark_metastore: str, table: str) -> None:
    copy = f"{table}_copy"
    spark.sql(f"CREATE TABLE {copy} LIKE {table}")
    assert rows(spark_metastore, copy) is None
    again = f"{table}_again"
    spark.sql(spark.sql(f"SHOW CREATE TABLE {table}").first()[0].replace(table, again, 1))
    assert rows(spark_metastore, again) is None
    with connect(spark_metastore) as service:
        struct = service._table(named(table))
        struct.tableName, struct.sd.location = f"{table.split('.')[1]}_third", None
        service._connection.call("create_table", struct)
        assert isinstance(struct, api.Table)
    assert rows(spark_metastore, f"{table}_third") is None
