"""Partition keys at the ends of their types have Spark's own counts: analysed, checked, named, appended to.

Spark writes the values, in a session of a zone three quarters of an hour from a full one; texts that others write are
in test_partition_texts.py. Texts are tried in all forms of tables, keys of one type of each other kind in one; with
HMSTATS_TEST_ALL_FORMS all are tried in all.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.collector import analyze, check, writing
from hmstats.collector.planning.plan import make_plan
from hmstats.collector.request.statement import Statement
from hmstats.model.catalog.names import NULL_PARTITION_VALUE

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KEYS = {
    "date": ["'0001-01-01'", "'1582-10-04'", "'1969-12-31'", "'9999-12-31'"],
    "timestamp": ["'1900-01-01 12:00:00'", "'1969-12-31 23:59:59.123456'", "'1986-01-01 00:20:00'", "'2024-01-01'"],
    "double": ["'NaN'", "'Infinity'", "'-Infinity'", "'-0.0'", "1e300", "0.1"],
    "float": ["'NaN'", "'Infinity'", "'-0.0'", "0.1", "1e10"],
    "decimal(38,0)": ["99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0"],
    "decimal(10,2)": ["1.50", "-0.01", "100.00"],
    "int": ["-2147483648", "0", "2147483647"],
    "boolean": ["true", "false"],
    "char(5)": ["'a'", "'ab   '", "'abcde'", "'ü%/='"],
    "varchar(5)": ["'a'", "'a b'", "'ü%/='", "' '"],
    "string": [
        *("''", "' '", "'a/b'", "'%'", "'%2F'", "'a  b '", "'x=y'", r"'\n'", "'\"'"),
        *("'__HIVE_DEFAULT_PARTITION__'", "'null'", "'ÄÖ'", "'äö'", "'日本'"),
    ],
}
"""By type of the key: the values that are written, besides a null."""
FORMS = [
    ("hive-parquet", True, "(n BIGINT) PARTITIONED BY (`Key` {type}) STORED AS PARQUET"),
    ("spark-parquet", True, "(n BIGINT, `Key` {type}) USING parquet PARTITIONED BY (`Key`)"),
    ("spark-orc", False, "(n BIGINT, `Key` {type}) USING orc PARTITIONED BY (`Key`)"),
]
"""How a table is made, whether the session has Spark's ANSI mode, and the rest of its CREATE TABLE."""
LIKE_OTHERS = {"float", "decimal(10,2)", "int", "varchar(5)"}
ALL_FORMS = "HMSTATS_TEST_ALL_FORMS" in os.environ
TRIED = [
    (key, *form)
    for place, key in enumerate(KEYS)
    for number, form in enumerate(FORMS)
    if key == "string" or (key not in LIKE_OTHERS and number == place % len(FORMS)) or ALL_FORMS
]
_numbers = count(1)


@pytest.fixture(scope="module", autouse=True)
def _session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    settings = {"spark.sql.session.timeZone": "Asia/Kathmandu", "hive.exec.dynamic.partition.mode": "nonstrict"}
    before = {name: spark.conf.get(name, None) for name in (*settings, "spark.sql.ansi.enabled")}
    for name, value in settings.items():
        spark.conf.set(name, value)
    spark.sql(f"CREATE DATABASE Odd_Keys LOCATION '{tmp_path_factory.mktemp('keys').as_uri()}'")
    yield
    for name, value in before.items():
        if value is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, value)


def rows(spark: Any, key_type: str) -> Any:
    """A row of the first value, two of the second and so on, and most of null.

    Each value has a task of its own: Spark cannot write two of one folder, such as '' and null, in one.
    """
    each = "SELECT explode(sequence(CAST(0 AS BIGINT), {place})) AS n, CAST({value} AS {type}) AS k"
    values = enumerate([*KEYS[key_type], "NULL"])
    return spark.sql(
        " UNION ALL ".join(each.format(place=place, value=value, type=key_type) for place, value in values)
    )


def hold(spark: Any, metastore: str, table: str) -> Mapping[str | None, int]:
    """Fail unless Spark's count of each value is stored of the partition that Spark's own text of it names."""
    spark.catalog.refreshTable(table)
    found = spark.sql(f"SELECT CAST(`Key` AS STRING) AS text, count(*) FROM {table} GROUP BY `Key`").collect()
    counted, stored, name = dict(found), {}, named_table(table, "default")
    with connect(metastore) as service:
        parameters = service.existing_table(name).parameters
        assert len(service.partition_names(name)) == len(counted) == len(found)
        for text in counted:
            spec = {"key": NULL_PARTITION_VALUE if text is None else text}
            (piece,) = make_plan(service, Statement(name, partitions=(spec,))).pieces
            stored[text] = int(piece.parameters["numRows"])
    assert stored == counted
    assert parameters["numRows"] == str(sum(counted.values()))
    result = check(spark, table, sample_fraction=1)
    assert (result.wrong, result.tally.rows) == ((), sum(counted.values()))
    return counted


@pytest.mark.parametrize(("key_type", "form", "ansi", "made"), TRIED, ids=[f"{key}-{form}" for key, form, *_ in TRIED])
def test_every_value_has_sparks_count(
    spark: Any, spark_metastore: str, key_type: str, form: str, ansi: bool, made: str
) -> None:
    table = f"Odd_Keys.T{next(_numbers)}"
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    spark.sql(f"CREATE TABLE {table} {made.format(type=key_type)}")
    new = rows(spark, key_type)
    new.write.insertInto(table)
    analyze(spark, table)
    first = hold(spark, spark_metastore, table)
    assert sum(first.values()) == new.count()
    assert analyze(spark, table, changed_only=True).partitions == 0
    for times, way in enumerate(("rows", "files") if "parquet" in form else ("rows",), start=2):
        written = writing(new, settings={"hmstats.autogather.reads": way}).insert_into(table)
        assert (written.gathered, written.partitions) == (True, len(first))
        assert hold(spark, spark_metastore, table) == {text: times * number for text, number in first.items()}
    new.where("n = 0").where("k IS NULL").write.insertInto(table)
    assert analyze(spark, table, changed_only=True).partitions == 1
    hold(spark, spark_metastore, table)
