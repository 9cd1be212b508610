"""Every format, kind of table, type, layout and statement, held against DuckDB's answers about the rows that went in.

Spark makes the tables: of its own (USING), of which the metastore has a stub where Hive could not read them, and Hive's
(STORED AS). The rows are those of one view, so what is expected does not depend on how a table is read back.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.collector.checks import check_all

from hmstats import collector
from hmstats.client import connect
from hmstats.client.tables.stored_statistics import own_statistics, stored_partitions
from hmstats.collector.spark.session_settings import session_metastore
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import Table
from hmstats.model.statistics.column_types import kind_of

pytestmark = pytest.mark.spark

ROWS = 300
MONTHS = 3
DATABASE = "matrix"
VALUES = {
    "flag BOOLEAN": "IF(id % 7 = 0, NULL, id % 3 = 0)",
    "tiny TINYINT": "id % 256 - 128",
    "small SMALLINT": "id % 1000 - 500",
    "number INT": "IF(id % 5 = 0, NULL, id * 7 % 3001)",
    "Big BIGINT": "id * 30000000000000 - 4000000000000000",
    "single FLOAT": "IF(id % 11 = 0, NULL, id / 4)",
    "dbl DOUBLE": "IF(id % 13 = 0, NULL, id * 1.5e100)",
    "price DECIMAL(12,2)": "id * 37 % 1999 / 100",
    "huge DECIMAL(38,10)": "CAST(id AS DECIMAL(38,10)) * 123456789012345.0123456789",
    "day DATE": "date_add(DATE'1999-12-30', CAST(id AS INT))",
    "moment TIMESTAMP": "IF(id % 4 = 0, NULL, timestamp_seconds(id * 12345.25 + 946684799))",
    "text STRING": "IF(id % 3 = 0, NULL, concat('ü', repeat('x', CAST(id % 50 AS INT)), id))",
    "code CHAR(5)": "concat('c', id % 20)",
    "word VARCHAR(7)": "concat('w', id % 30)",
    "raw BINARY": "IF(id % 4 = 0, NULL, CAST(concat('b', id % 30) AS BINARY))",
    "nothing INT": "CAST(NULL AS INT)",
}
"""Columns of types that have statistics, and what they are of the numbers from 0."""
NTZ = {"local TIMESTAMP_NTZ": "TIMESTAMP_NTZ'2001-02-03 04:05:06' + make_dt_interval(0, 0, CAST(id AS INT), 7.5)"}
NESTED = {
    "list ARRAY<BIGINT>": "array(id, id + 1)",
    "pairs MAP<STRING,INT>": "map('k', CAST(id AS INT))",
    "inner STRUCT<X:BIGINT,y:STRING>": "named_struct('X', id, 'y', 'z')",
}
INTERVALS = {
    "months INTERVAL YEAR TO MONTH": "make_ym_interval(1, CAST(id % 12 AS INT))",
    "days INTERVAL DAY TO SECOND": "make_dt_interval(CAST(id AS INT))",
}
VARIANT = {"anything VARIANT": "parse_json(concat('{\"a\": ', id, '}'))"}
TEXT_ONLY = {"value STRING": "concat('line ', id)"}


@dataclass(frozen=True)
class Form:
    """How a table is made, with which columns (declaration to expression)."""

    clause: str
    columns: dict[str, str]

    @property
    def types(self) -> dict[str, str]:
        """Column, as the metastore names it, to type, of those that have statistics."""
        every = dict(each.lower().split(" ", 1) for each in self.columns)
        return {name: type_ for name, type_ in every.items() if kind_of(type_) is not None}

    @property
    def others(self) -> set[str]:
        """The columns that have none."""
        return {each.lower().split(" ", 1)[0] for each in self.columns} - self.types.keys()


def without(columns: dict[str, str], *names: str) -> dict[str, str]:
    return {each: value for each, value in columns.items() if each.split(" ", 1)[0] not in names}


FORMS = {
    "spark-parquet": Form("USING parquet", VALUES),
    "spark-parquet-ntz": Form("USING parquet", {**VALUES, **NTZ, **NESTED}),
    "spark-parquet-odd": Form("USING parquet", {**VALUES, **INTERVALS, **VARIANT}),
    "spark-parquet-nested-only": Form("USING parquet", NESTED),
    "spark-orc": Form("USING orc", VALUES),
    "spark-orc-ntz": Form("USING orc", {**VALUES, **NTZ, **NESTED}),
    "spark-orc-intervals": Form("USING orc", {**VALUES, **INTERVALS}),
    "spark-orc-nested-only": Form("USING orc", NESTED),
    # What Spark writes of bytes into CSV is not what it reads of them.
    "spark-csv": Form("USING csv", without({**VALUES, **NTZ}, "raw")),
    "spark-json": Form("USING json", {**VALUES, **NTZ, **NESTED}),
    "spark-json-nested-only": Form("USING json", NESTED),
    "spark-text": Form("USING text", TEXT_ONLY),
    "hive-parquet": Form("STORED AS parquet", {**VALUES, **NESTED}),
    "hive-orc": Form("STORED AS orc", {**VALUES, **NESTED}),
    "hive-orc-nested-only": Form("STORED AS orc", NESTED),
    "hive-text": Form("STORED AS textfile", {**VALUES, **NESTED}),
    # Avro has no tinyint and no smallint.
    "hive-avro": Form("STORED AS avro", without({**VALUES, **NESTED}, "tiny", "small")),
    "hive-sequence": Form("STORED AS sequencefile", VALUES),
    "hive-rc": Form("STORED AS rcfile", VALUES),
}
OFTEN = {"spark-json-nested-only", "hive-parquet"}
"""Forms that `make test` tries too."""
SOMETIMES = {*OFTEN, "spark-csv", "spark-parquet-ntz", "hive-orc-nested-only", "hive-text"}
"""Forms of each reader, and of each cause of a wrong number so far."""
_ALL = "HMSTATS_TEST_ALL_FORMS" in os.environ
TRIED = FORMS if _ALL else {name: FORMS[name] for name in sorted(SOMETIMES)}
"""The forms of tables with partitions of odd names; whole tables with rows are tried in all, by `make test-all`."""
FEWER = FORMS if _ALL else {name: FORMS[name] for name in sorted(OFTEN)}
"""The forms of tables without rows, and of partitions of ordinary names, which the others hold too."""
STATEMENTS = {
    "all": "ANALYZE TABLE {table}{clause} COMPUTE STATISTICS FOR ALL COLUMNS",
    "none": "ANALYZE TABLE {table}{clause} COMPUTE STATISTICS",
    "noscan": "ANALYZE TABLE {table}{clause} COMPUTE STATISTICS NOSCAN",
}
_numbers = count(1)


@pytest.fixture(scope="module")
def source(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pa.Table]:
    """The rows of every column that has statistics, of three months; matrix_source has all columns."""
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp(DATABASE).as_uri()}'")
    every = {**VALUES, **NTZ, **NESTED, **INTERVALS, **VARIANT, **TEXT_ONLY}
    columns = [f"CAST({value} AS {each.split(' ', 1)[1]}) AS {each.split(' ', 1)[0]}" for each, value in every.items()]
    rows = spark.range(0, ROWS, 1, 2).selectExpr(*columns, f"CAST(id % {MONTHS} + 1 AS INT) AS month").persist()
    rows.createOrReplaceTempView("matrix_source")
    every_type = Form("", every).types
    yield rows.select(*every_type, "month").toArrow().rename_columns([*every_type, "month"])
    rows.unpersist()


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    """The name of a table that is not there yet."""
    name = f"{DATABASE}.t{next(_numbers)}"
    yield name
    spark.sql(f"DROP TABLE IF EXISTS {name}")


def names(form: Form) -> str:
    return ", ".join(each.split(" ", 1)[0] for each in form.columns)


def make(spark: Any, table: str, form: Form, *, partitioned: bool) -> None:
    declared, keyed = ", ".join(form.columns), "PARTITIONED BY (month{})"
    if form.clause.startswith("USING"):
        key, declared = (keyed.format(""), f"{declared}, month INT") if partitioned else ("", declared)
        spark.sql(f"CREATE TABLE {table} ({declared}) {form.clause} {key}")
    else:
        key = keyed.format(" INT") if partitioned else ""
        spark.sql(f"CREATE TABLE {table} ({declared}) {key} {form.clause}")
    with connect(session_metastore(spark)) as service:
        folder(look(service, table)).mkdir(exist_ok=True)  # nobody else makes it outside of the server's warehouse


def folder(table: Table) -> Path:
    """Where the table's files are."""
    assert table.storage is not None
    return Path((table.storage.location or "").removeprefix("file:"))


def expected(source: pa.Table, form: Form, month: int | None = None) -> pa.Table:
    """What went in, as Arrow has it."""
    wanted = source if month is None else source.filter(pc.equal(source["month"], month))
    return wanted.select([*form.types, "month"])


def held(found: Any, source: pa.Table, form: Form, statement: str, month: int | None = None) -> None:
    """Fail unless what is stored of a table or a partition is true, and all that was asked for is there."""
    parameters, known = found.parameters, expected(source, form, month)
    if statement != "noscan":
        assert parameters["numRows"] == str(known.num_rows)
    assert parameters.get("numRows", str(known.num_rows)) == str(known.num_rows)
    if statement == "all":
        check_all(found.statistics.columns, known, form.types)


def on_disk(table: Table) -> tuple[str, str]:
    """How many data files there are of a table, and their bytes."""
    files = [each for each in folder(table).rglob("*") if each.is_file() and not each.name.startswith(("_", "."))]
    sizes = [each.stat().st_size for each in files if each.stat().st_size]
    return str(len(sizes)), str(sum(sizes))


def analyze(spark: Any, table: str, statement: str, *, partitioned: bool = False) -> collector.Report:
    clause = " PARTITION (month)" if partitioned else ""
    return collector.analyze(spark, STATEMENTS[statement].format(table=table, clause=clause))


def look(service: Any, table: str) -> Table:
    found = service.find_table(table_name(*table.split(".")))
    assert found is not None
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "form",
    [pytest.param(form, id=name, marks=() if name in OFTEN else pytest.mark.slow) for name, form in FORMS.items()],
)
def test_a_table(spark: Any, spark_metastore: str, source: pa.Table, table: str, form: Form) -> None:
    make(spark, table, form, partitioned=False)
    spark.sql(f"INSERT INTO {table} SELECT {names(form)} FROM matrix_source")
    with connect(spark_metastore) as service:
        for statement in ("none", "all", "noscan", "none"):
            report = analyze(spark, table, statement)
            found = own_statistics(service, look(service, table))
            held(found, source, form, statement)
            assert (found.parameters["numFiles"], found.parameters["totalSize"]) == on_disk(look(service, table))
            if statement == "all":
                assert (set(report.columns), set(report.skipped)) == (set(form.types), form.others)
    result = collector.check(spark, table, sample_fraction=1)
    assert result.tally.wrong == ()
    assert result.tally.rows == ROWS


@pytest.mark.slow
def test_a_view(spark: Any, spark_metastore: str, source: pa.Table) -> None:
    """Spark keeps a view's columns as it keeps those of its own tables."""
    form = FORMS["spark-parquet-ntz"]
    name = f"{DATABASE}.t{next(_numbers)}"
    make(spark, name, form, partitioned=False)
    spark.sql(f"INSERT INTO {name} SELECT {names(form)} FROM matrix_source")
    spark.sql(f"CREATE VIEW {name}_view AS SELECT * FROM {name}")
    with connect(spark_metastore) as service:
        for statement in ("none", "all"):
            analyze(spark, f"{name}_view", statement)
            held(own_statistics(service, look(service, f"{name}_view")), source, form, statement)


WRITTEN = (
    "spark-parquet-ntz",
    "spark-orc-nested-only",
    "spark-csv",
    "spark-json",
    "spark-text",
    "hive-orc-nested-only",
)


@pytest.mark.parametrize("form", [FORMS[each] for each in WRITTEN], ids=WRITTEN)
@pytest.mark.slow
def test_statistics_while_writing(spark: Any, spark_metastore: str, source: pa.Table, table: str, form: Form) -> None:
    make(spark, table, form, partitioned=False)
    rows = spark.sql(f"SELECT {names(form)} FROM matrix_source")
    for way in ("rows", "files") if form.clause == "USING parquet" else ("rows",):
        written = collector.writing(rows, settings={"hmstats.autogather.reads": way}).insert_into(table, overwrite=True)
        assert (written.gathered, written.rows, written.reason) == (True, ROWS, None)
        with connect(spark_metastore) as service:
            held(own_statistics(service, look(service, table)), source, form, "all")


@pytest.mark.slow
@pytest.mark.parametrize("form", FEWER.values(), ids=FEWER)
def test_a_table_without_rows(spark: Any, spark_metastore: str, source: pa.Table, table: str, form: Form) -> None:
    make(spark, table, form, partitioned=False)
    with connect(spark_metastore) as service:
        for statement in STATEMENTS:
            analyze(spark, table, statement)
            held(own_statistics(service, look(service, table)), source.slice(0, 0), form, statement)
        spark.sql(f"INSERT INTO {table} SELECT {names(form)} FROM matrix_source WHERE false")
        for statement in STATEMENTS:
            analyze(spark, table, statement)
            held(own_statistics(service, look(service, table)), source.slice(0, 0), form, statement)


@pytest.mark.slow
@pytest.mark.parametrize("form", FEWER.values(), ids=FEWER)
def test_a_partitioned_table(spark: Any, spark_metastore: str, source: pa.Table, table: str, form: Form) -> None:
    make(spark, table, form, partitioned=True)
    for month in range(1, MONTHS + 1):
        rows = f"SELECT {names(form)} FROM matrix_source WHERE month = {month}"
        spark.sql(f"INSERT INTO {table} PARTITION (month = {month}) {rows}")
    spark.sql(f"ALTER TABLE {table} ADD PARTITION (month = 9)")
    with connect(spark_metastore) as service:
        (folder(look(service, table)) / "month=9").mkdir(exist_ok=True)
    check_partitions(spark, spark_metastore, source, table, form, {"1": 1, "2": 2, "3": 3, "9": 9})


@pytest.mark.slow
@pytest.mark.parametrize("form", TRIED.values(), ids=TRIED)
def test_partitions_that_are_stored_as_their_folders_are_called(
    spark: Any, spark_metastore: str, source: pa.Table, table: str, form: Form
) -> None:
    make(spark, table, form, partitioned=True)
    for month in range(1, MONTHS + 1):
        rows = f"SELECT {names(form)} FROM matrix_source WHERE month = {month}"
        spark.sql(f"INSERT INTO {table} PARTITION (month = {month}) {rows}")
    texts = {"01": 1, "002": 2, "3": 3}
    rename_partitions(spark, spark_metastore, table, texts)
    assert spark.table(table).count() == ROWS
    check_partitions(spark, spark_metastore, source, table, form, texts)


def rename_partitions(spark: Any, uris: str, table: str, texts: dict[str, int]) -> None:
    """Let MSCK find partitions in folders whose names are no canonical text of an int."""
    with connect(uris) as service:
        place = folder(look(service, table))
    for text, month in texts.items():
        if text != str(month):
            (place / f"month={month}").rename(place / f"month={text}")
            spark.sql(f"ALTER TABLE {table} DROP PARTITION (month = {month})")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    with connect(uris) as service:
        assert set(service.partition_names(look(service, table).name)) == {f"month={text}" for text in texts}


def check_partitions(spark: Any, uris: str, source: pa.Table, table: str, form: Form, texts: dict[str, int]) -> None:
    """Fail unless all that is stored of the partitions, by the texts of their key, and of the table is true."""
    partitions = [f"month={text}" for text in texts]
    with connect(uris) as service:
        for statement in ("none", "all", "noscan"):
            report = analyze(spark, table, statement, partitioned=True)
            assert report.partitions == len(texts)
            whole = look(service, table)
            found = list(stored_partitions(service, whole, partitions))
            assert [each.statistics.partition for each in found] == partitions
            for each, month in zip(found, texts.values(), strict=True):
                held(each, source, form, statement, month)
            held(own_statistics(service, whole), source, form, statement)
    report = collector.analyze(spark, f"ANALYZE TABLE {table} PARTITION (month = '02') COMPUTE STATISTICS FOR COLUMNS")
    assert (report.partitions, report.rows) == (1, ROWS // MONTHS)
    result = collector.check(spark, table, sample_fraction=1)
    assert result.tally.wrong == ()
