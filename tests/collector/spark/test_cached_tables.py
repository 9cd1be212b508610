"""A session that knew a table before its statistics were stored tells the metastore of what it inserts afterwards."""

from collections.abc import Callable
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.collector import analyze, writing
from hmstats.model.catalog.names import table_name
from hmstats.model.parameters.accurate import PARAMETER

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FORMS = {
    "spark": "(a BIGINT) USING parquet",
    "stub": "(a BIGINT) USING csv",
    "keyed": "(a BIGINT, k INT) USING parquet PARTITIONED BY (k)",
    "hive": "(a BIGINT) STORED AS PARQUET",
}
WAYS: dict[str, Callable[[Any, str, Any], object]] = {
    "analyze": lambda spark, table, _: analyze(spark, table),
    "writing": lambda _, table, rows: writing(rows).insert_into(table, overwrite=True),
    "writing from files": lambda _, table, rows: writing(
        rows, settings={"hmstats.autogather.reads": "files"}
    ).insert_into(table, overwrite=True),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_inserted_after_statistics_is_not_counted_as_accurate(
    spark: Any, spark_metastore: str, form: str, way: str
) -> None:
    if form == "stub" and way == "writing from files":
        pytest.skip("new files are read of Parquet only")
    name = f"known_{form}_{way.replace(' ', '_')}"
    table, values = f"default.{name}", "1, 1" if form == "keyed" else "1"
    spark.sql(f"CREATE TABLE {table} {FORMS[form]}")
    spark.sql(f"INSERT INTO {table} VALUES ({values})")
    assert spark.table(table).cache().count() == 1
    WAYS[way](spark, table, spark.sql(f"SELECT {values}").toDF(*spark.table(table).columns))
    if way == "analyze":
        assert spark.catalog.isCached(table), "rows that the session caches were forgotten"
    with connect(spark_metastore) as service:
        before = parameters(service, name)
        assert (before["numRows"], PARAMETER in before) == ("1", True)
        spark.sql(f"INSERT INTO {table} VALUES ({values})")
        assert PARAMETER not in parameters(service, name)
    spark.sql(f"DROP TABLE {table}")


def parameters(service: Any, name: str) -> Any:
    return service.find_table(table_name("default", name)).parameters
