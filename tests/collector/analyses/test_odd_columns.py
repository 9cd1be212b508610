"""Columns with odd names, and a thousand of them, have right numbers: analysed, checked and appended to."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hmstats.client import connect
from hmstats.client.naming import named_table
from hmstats.client.tables.stored_statistics import own_statistics
from hmstats.collector import analyze, check, writing

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATABASE = "Odd_Columns"
ROWS = 100
MANY = 1_000
"""Columns of a table that takes a minute to analyse, check and append to twice."""
NAMES = ("A.b", "c`d", "ü x", "Select", "日本", "a'b", 'q"r', "50%")
"""Names that SQL takes between backticks alone."""
COLUMNS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "Odd": (NAMES, "({columns}) USING parquet"),
    "Keyed": (NAMES, "({columns}, `k.l` STRING) USING parquet PARTITIONED BY (`k.l`)"),
    "Of_Hive": (("A.b", "Select", "ü x"), "({columns}) PARTITIONED BY (`k.l` STRING) STORED AS PARQUET"),
    # Of ORC's columns with a backtick Spark itself reads nulls alone.
    "Orc": (tuple(each for each in NAMES if "`" not in each), "({columns}) USING orc"),
    "Csv": (NAMES, "({columns}) USING csv"),
    "Wide": (tuple(f"C{number}" for number in range(MANY)), "({columns}) USING parquet"),
}
"""By table: the columns, and the rest of its CREATE TABLE."""


@pytest.fixture(scope="module", autouse=True)
def _database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{tmp_path_factory.mktemp('columns').as_uri()}'")
    spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    yield
    spark.conf.unset("hive.exec.dynamic.partition.mode")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def rows(spark: Any, names: tuple[str, ...], *, keyed: bool) -> Any:
    """Each number below ROWS: modulo 2 in the first column, 3 in the second, and so on to 51, then 2 again."""
    values = [f"id % {number % 50 + 2} AS {quoted(name)}" for number, name in enumerate(names)]
    return spark.range(0, ROWS, 1, 2).selectExpr(*values, *(["'x.y' AS `k.l`"] if keyed else []))


def hold(spark: Any, metastore: str, table: str, names: tuple[str, ...], times: int) -> None:
    """Fail unless the stored numbers are those of the rows, `times` over."""
    with connect(metastore) as service:
        found = own_statistics(service, service.existing_table(named_table(table, "default")))
    assert found.parameters["numRows"] == str(times * ROWS)
    numbers: dict[str, Any] = {each.column: each.data for each in found.statistics.columns}
    assert numbers.keys() == {name.lower() for name in names}
    for number, name in enumerate(names):
        data, divisor = numbers[name.lower()], number % 50 + 2
        assert (data.low, data.high, data.nulls, data.ndv) == (0, divisor - 1, 0, divisor), name
    result = check(spark, table, sample_fraction=1)
    assert (result.wrong, result.tally.rows) == ((), times * ROWS)


@pytest.fixture
def by_case(spark: Any) -> Iterator[None]:
    """Spark finds columns by their names as they are written."""
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield
    spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.usefixtures("by_case")
@pytest.mark.parametrize("table", ["Odd", "Orc", "Csv"])
def test_a_session_that_compares_the_case_of_names_finds_all(spark: Any, spark_metastore: str, table: str) -> None:
    fill_and_hold(spark, spark_metastore, table, f"{table}_by_case")


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_has_the_numbers_of_its_rows(spark: Any, spark_metastore: str, table: str) -> None:
    fill_and_hold(spark, spark_metastore, table, table)


def fill_and_hold(spark: Any, spark_metastore: str, table: str, called: str) -> None:
    """Make a table of the columns of another, analyse and check it, and append to it."""
    names, made = COLUMNS[table]
    name, new = f"{DATABASE}.{called}", rows(spark, names, keyed="k.l" in made)
    spark.sql(f"CREATE TABLE {name} {made.format(columns=', '.join(f'{quoted(each)} BIGINT' for each in names))}")
    new.write.insertInto(name)
    report = analyze(spark, name)
    assert (report.rows, set(report.columns), report.skipped) == (ROWS, {each.lower() for each in names}, {})
    hold(spark, spark_metastore, name, names, times=1)
    ways = ("rows", "files") if "parquet" in made.lower() and len(names) < MANY else ("rows",)
    for times, way in enumerate(ways, start=2):
        assert writing(new, settings={"hmstats.autogather.reads": way}).insert_into(name).gathered
        hold(spark, spark_metastore, name, names, times)


def test_a_view_is_of_what_its_name_means_now(spark: Any) -> None:
    """Spark finds a view's tables by their names, so the view is of another table after a rename."""
    base, view = f"{DATABASE}.base", f"{DATABASE}.seen"
    for numbers in (50, 5):
        spark.sql(f"CREATE TABLE {base} (n BIGINT) USING parquet")
        spark.sql(f"INSERT INTO {base} SELECT id FROM range({numbers})")
        spark.sql(f"CREATE VIEW IF NOT EXISTS {view} AS SELECT * FROM {base}")
        assert analyze(spark, view).rows == numbers
        assert check(spark, view, sample_fraction=1).wrong == ()
        spark.sql(f"ALTER TABLE {base} RENAME TO {base}_of_{numbers}")
