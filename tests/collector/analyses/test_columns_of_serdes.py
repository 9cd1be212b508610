"""Tables whose SerDe tells Spark other columns than the metastore has: of Avro by a schema, of CSV texts alone."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hmstats import collector
from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.errors import UnreadableFile

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' STORED AS TEXTFILE"
BOTH = pytest.mark.parametrize("act", [collector.analyze, collector.check])


def avro_schema(fields: dict[str, str]) -> str:
    each = [{"name": name, "type": ["null", type_], "default": None} for name, type_ in fields.items()]
    return json.dumps({"type": "record", "name": "line", "fields": each})


def make_avro_table(spark: Any, name: str, fields: dict[str, str], values: str) -> None:
    """A table of Avro with the columns n INT and s STRING in the metastore, and these fields in its schema."""
    spark.sql(f"CREATE TABLE default.{name} (n INT, s STRING) STORED AS AVRO")
    spark.sql(f"ALTER TABLE default.{name} SET TBLPROPERTIES ('avro.schema.literal'='{avro_schema(fields)}')")
    spark.sql(f"INSERT INTO default.{name} VALUES {values}")


@BOTH
def test_numbers_that_are_texts_for_spark_are_refused(spark: Any, act: Callable[..., Any]) -> None:
    table = f"default.texts_{act.__name__}"
    spark.sql(f"CREATE TABLE {table} (n INT, s STRING) {CSV}")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (NULL, 'b')")
    with pytest.raises(UnreadableFile) as caught:
        act(spark, table)
    assert str(caught.value) == (
        f"table {table} has a column n of type int in the metastore, but Spark finds one of type string, as the table's"
        " SerDe says: change the metastore's column, or name the other columns"
    )
    act(spark, table, columns=["s"])


def test_texts_with_a_collation_are_texts(spark: Any) -> None:
    spark.sql("CREATE TABLE default.collated (s STRING COLLATE UTF8_LCASE) USING json")
    spark.sql("INSERT INTO default.collated VALUES ('a'), ('bb')")
    report = collector.analyze(spark, "default.collated")
    assert (report.rows, report.columns, report.skipped) == (2, ("s",), {})


@BOTH
def test_a_column_that_the_schema_has_no_more_is_refused(spark: Any, act: Callable[..., Any]) -> None:
    name = f"renamed_{act.__name__}"
    make_avro_table(spark, name, {"n": "int", "t": "string"}, "(1, 'a')")
    with pytest.raises(UnreadableFile, match=r"has a column s .* Spark finds none, only n, t, as the"):
        act(spark, f"default.{name}")
    act(spark, f"default.{name}", columns=["n"])


def test_numbers_of_a_wider_type_count_if_they_fit(spark: Any, spark_metastore: str) -> None:
    make_avro_table(spark, "wider", {"n": "long", "s": "string"}, "(1, 'a'), (7, NULL)")
    collector.analyze(spark, "default.wider")
    with connect(spark_metastore) as service:
        found = service.table_statistics(named_table("default.wider", "default"), ["n"])
    assert [(each.data.low, each.data.high) for each in found] == [(1, 7)]  # type: ignore[union-attr]


def test_numbers_of_a_wider_type_that_do_not_fit_are_named(spark: Any) -> None:
    make_avro_table(spark, "too_wide", {"n": "long", "s": "string"}, "(9999999999, 'a')")
    with pytest.raises(UnreadableFile, match=r"^column n is of type int in the metastore, which its values do not fit"):
        collector.analyze(spark, "default.too_wide")
