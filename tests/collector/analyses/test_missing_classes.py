"""Tables of storage handlers, formats and SerDes that are in no jar of the session."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import collector
from hmstats.errors import UnreadableFile

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TEXT = "org.apache.hadoop.mapred.TextInputFormat"
SIMPLE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
HANDLER = "org.apache.hadoop.hive.hbase.HBaseStorageHandler"


@pytest.mark.parametrize(
    ("name", "parameters", "form", "serde", "reason"),
    [
        ("handler", {"storage_handler": HANDLER}, TEXT, SIMPLE, f"java.lang.ClassNotFoundException: {HANDLER}$"),
        ("form", {}, "com.example.LzoFormat", SIMPLE, "java.lang.ClassNotFoundException: com.example.LzoFormat$"),
        ("serde", {}, TEXT, "com.example.SerDe", "none of its columns: the class of its SerDe is in no jar"),
    ],
)
@pytest.mark.parametrize("act", [collector.analyze, collector.check])
def test_a_table_that_spark_cannot_read_is_one_sentence(
    spark: Any,
    spark_metastore: str,
    act: Callable[..., Any],
    name: str,
    parameters: dict[str, str],
    form: str,
    serde: str,
    reason: str,
) -> None:
    metastore = Metastore("hmstats-sqlite", int(spark_metastore.rpartition(":")[2]), 4.0)
    with metastore.clients:
        table = f"{name}_{act.__name__}"
        spark.sql(f"CREATE TABLE default.{table} (id BIGINT) STORED AS TEXTFILE")
        spark.sql(f"INSERT INTO default.{table} VALUES (1)")
        ask = metastore.client()
        found = ask.get_table("default", table)
        found.parameters.update(parameters)
        found.sd.inputFormat, found.sd.serdeInfo.serializationLib = form, serde
        ask.alter_table("default", table, found)
        with pytest.raises(UnreadableFile, match=f"^table default.{table} cannot be read by Spark.*{reason}"):
            act(spark, f"default.{table}")
        ask.drop_table("default", table, True)
