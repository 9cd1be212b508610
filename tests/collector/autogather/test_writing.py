"""Statistics while writing: files as of a plain write, numbers as of an analysis of what was written."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812
from structlog.testing import capture_logs
from tests.collector.checks import check_all, comparable
from tests.collector.data import TYPES, rows

from hmstats.client import Metastore
from hmstats.collector import analyze
from hmstats.collector.autogather.writer import Written, writing
from hmstats.collector.planning.data_files import data_files
from hmstats.collector.planning.fingerprint import PARAMETER
from hmstats.errors import GatheringFailed, SettingsError, StatementError
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import Accurate

pytestmark = pytest.mark.spark

AWAY = "thrift://127.0.0.1:1"
COUNTS = ("numRows", "numFiles", "totalSize", "numPartitions", PARAMETER)
DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
_numbers = count(1)


@pytest.fixture(scope="module")
def every_type(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Rows of every type with statistics, and of one without, in four files."""
    path = tmp_path_factory.mktemp("every-type") / "rows.parquet"
    pq.write_table(rows(), path)
    return spark.read.parquet(str(path)).repartition(4).withColumn("complex", F.array("number", "number"))


@pytest.fixture
def name() -> str:
    return f"writing_{next(_numbers)}"


@pytest.fixture(autouse=True)
def _static(spark: Any) -> Iterator[None]:
    yield
    spark.conf.unset(DYNAMIC)


both = pytest.mark.usefixtures("_reads")


def table(name: str) -> TableName:
    return TableName("hive", "default", name)


def numbers(spark: Any, begin: int, end: int) -> Any:
    """Rows with a number, a text and a key of three values."""
    ids = spark.range(begin, end, 1, 3)
    text = F.concat(F.lit("text "), F.col("id") % 100)
    return ids.select("id", text.alias("text"), (F.col("id") % 3).cast("string").alias("k"))


def contents(service: Metastore, name: str) -> Counter[str]:
    """The bytes of a table's files, without the files' names."""
    found = service.find_table(table(name))
    assert found is not None
    assert found.storage is not None
    location = found.storage.location or ""
    files, _ = open_location(location)
    paths = (file.path for file in data_files(location))
    return Counter(hashlib.sha256(files.open_input_stream(path).read()).hexdigest() for path in paths)


def everything(service: Metastore, name: str) -> dict[str, Any]:
    """All that is stored of a table and its partitions: counts, marks, statistics."""
    found = service.find_table(table(name))
    assert found is not None
    columns = [column.name for column in found.columns]
    partitions = list(service.partitions(found.name, service.partition_names(found.name)))
    of_table = next(iter(service.statistics(found.name, columns, None)))
    of_partitions = list(service.statistics(found.name, columns, [])) if partitions else []
    return {
        "parameters": {key: value for key, value in found.parameters.items() if key in COUNTS},
        "partitions": {each.values: {key: each.parameters.get(key) for key in COUNTS} for each in partitions},
        "columns": [comparable(each) for each in of_table.columns],
        "of partitions": {each.partition: [comparable(column) for column in each.columns] for each in of_partitions},
    }


def accurate(service: Metastore, name: str) -> Accurate:
    found = service.find_table(table(name))
    assert found is not None
    return Accurate.parse(found.parameters.get("COLUMN_STATS_ACCURATE"))


def assert_as_analysed(spark: Any, service: Metastore, name: str, *, all_listed: bool = True) -> None:
    """What was gathered is what an analysis finds now, but for the table's fingerprint if not all files were listed."""
    gathered = everything(service, name)
    assert (PARAMETER in gathered["parameters"]) == all_listed
    analyze(spark, name)
    found = everything(service, name)
    if not all_listed:
        del found["parameters"][PARAMETER]
    assert found == gathered


@both
@pytest.mark.slow
def test_every_type_in_the_very_files_of_a_plain_write(
    spark: Any, service: Metastore, every_type: Any, name: str
) -> None:
    written = writing(every_type).save_table(name)
    assert written == Written(table(name), gathered=True, rows=4000)
    found = next(iter(service.statistics(table(name), list(TYPES), None)))
    check_all(sorted(found.columns, key=lambda column: list(TYPES).index(column.column)), rows())
    assert accurate(service, name) == Accurate(basic=True, columns=frozenset(TYPES))
    every_type.write.saveAsTable(f"{name}_plain")
    assert contents(service, name) == contents(service, f"{name}_plain")
    assert spark.table(name).schema == spark.table(f"{name}_plain").schema
    assert_as_analysed(spark, service, name)


@both
@pytest.mark.slow
def test_a_partition_for_every_odd_value(spark: Any, service: Metastore, name: str) -> None:
    values = ["a", "A", "a b/c=d%", "ü#?", "", None, None]
    days = ["2024-02-29", None, "1500-01-01"]
    given = [(number, values[number % 7], days[number % 3]) for number in range(420)]
    frame = spark.createDataFrame(given, "id bigint, s string, d string").withColumn("d", F.col("d").cast("date"))
    written = writing(frame).save_table(name, partition_by=["S", "d"])
    assert (written.gathered, written.rows, written.partitions) == (True, 420, 5 * 3)
    frame.write.partitionBy("s", "d").saveAsTable(f"{name}_plain")
    assert contents(service, name) == contents(service, f"{name}_plain")
    assert service.partition_names(table(name)) == service.partition_names(table(f"{name}_plain"))
    assert_as_analysed(spark, service, name)


@both
def test_an_append_is_merged_into_what_is_stored(spark: Any, service: Metastore, name: str) -> None:
    for begin, end in ((0, 5000), (4000, 6000), (6000, 6000)):
        written = writing(numbers(spark, begin, end)).save_table(name, mode="append")
        assert (written.gathered, written.rows) == (True, end - begin)
    assert everything(service, name)["parameters"]["numRows"] == "7000"
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_an_append_to_partitions(spark: Any, service: Metastore, name: str) -> None:
    writing(numbers(spark, 0, 3000).where("k < 2")).save_table(name, partition_by=["k"])
    written = writing(numbers(spark, 3000, 3600).where("k > 0")).insert_into(name)
    assert (written.gathered, written.rows, written.partitions) == (True, 400, 2)
    stored = everything(service, name)
    rows_of = {values: parameters["numRows"] for values, parameters in stored["partitions"].items()}
    assert rows_of == {("0",): "1000", ("1",): "1200", ("2",): "200"}
    assert (stored["parameters"]["numRows"], stored["parameters"]["numPartitions"]) == ("2400", "3")
    assert_as_analysed(spark, service, name, all_listed=spark.conf.get("hmstats.autogather.reads") == "rows")


@both
@pytest.mark.slow
def test_an_append_to_rows_that_nobody_counted_says_that_it_does_not_know(
    spark: Any, service: Metastore, name: str
) -> None:
    writing(numbers(spark, 0, 3000)).save_table(name, partition_by=["k"])
    numbers(spark, 0, 3).where("k = 1").write.insertInto(name)
    assert writing(numbers(spark, 3000, 3003).where("k < 2")).insert_into(name).gathered
    stored = everything(service, name)
    assert [stored["partitions"][key,]["numRows"] for key in "012"] == ["1001", None, "1000"]
    assert stored["partitions"]["1",]["numFiles"] == "5"
    assert "numRows" not in stored["parameters"]
    assert accurate(service, name) == Accurate()
    analyze(spark, name)
    assert everything(service, name)["partitions"]["1",]["numRows"] == "1002"


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
def test_an_overwrite_of_a_partition(spark: Any, service: Metastore, name: str, *, dynamic: bool) -> None:
    writing(numbers(spark, 0, 3000)).save_table(name, partition_by=["k"])
    spark.conf.set(DYNAMIC, "dynamic" if dynamic else "static")
    written = writing(numbers(spark, 9000, 9030).where("k = 1")).insert_into(name, overwrite=True)
    assert (written.gathered, written.rows, written.partitions) == (True, 10, 1)
    rows_of = {values: each["numRows"] for values, each in everything(service, name)["partitions"].items()}
    expected = {("0",): "1000", ("1",): "10", ("2",): "1000"} if dynamic else {("1",): "10"}
    assert rows_of == expected
    assert everything(service, name)["parameters"]["numRows"] == ("2010" if dynamic else "10")
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_an_overwrite_forgets_what_was_there(spark: Any, service: Metastore, name: str) -> None:
    writing(numbers(spark, 0, 3000)).save_table(name)
    writing(numbers(spark, 10, 20)).save_table(
        name, mode="overwrite", partition_by=["k"], options={"compression": "gzip"}
    )
    assert everything(service, name)["parameters"]["numRows"] == "10"
    writing(numbers(spark, 0, 0)).save_table(name, mode="overwrite")
    assert everything(service, name)["parameters"]["numRows"] == "0"
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_values_are_counted_as_the_table_has_them(spark: Any, service: Metastore, name: str) -> None:
    columns = "a string, b decimal(12,3), c char(6), d varchar(8), e timestamp"
    spark.sql(f"CREATE TABLE {name} ({columns}, k int) USING parquet PARTITIONED BY (k)")
    given = [(7, 1, "ab", "cd", "2024-02-29", "007"), (12345, None, "abcdef", "", "1500-01-01", "8")]
    frame = spark.createDataFrame(given, "x int, y int, z string, w string, v string, u string")
    frame = frame.withColumn("v", F.col("v").cast("date")).withColumn("u", F.col("u").cast("int"))
    assert writing(frame).insert_into(name).gathered
    assert service.partition_names(table(name)) == ["k=7", "k=8"]
    by_name = frame.toDF("A", "b", "c", "d", "e", "k").select("k", "e", "d", "c", "b", "A")
    assert writing(by_name).save_table(name, mode="append", partition_by=["k"]).gathered
    assert everything(service, name)["parameters"]["numRows"] == "4"
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
@both
def test_a_table_made_by_write_to(spark: Any, service: Metastore, name: str) -> None:
    written = writing(numbers(spark, 0, 30)).write_to(name, "create", using="parquet", partitioned_by=["k"])
    assert (written.gathered, written.rows, written.partitions) == (True, 30, 3)
    assert_as_analysed(spark, service, name)
    with pytest.raises(StatementError, match="the way to write must be one of create, replace"):
        writing(numbers(spark, 0, 30)).write_to(name, "upsert")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fs", "sql"])
def test_what_tasks_find_may_be_kept_elsewhere(
    spark: Any, service: Metastore, name: str, kind: str, tmp_path: Path
) -> None:
    connection = str(tmp_path / "states") if kind == "fs" else f"sqlite:///{tmp_path}/states.sqlite"
    settings = {"hive.stats.dbclass": kind, "hive.stats.dbconnectionstring": connection, "hive.stats.reliable": True}
    assert writing(numbers(spark, 0, 300), settings=settings).save_table(name, partition_by=["k"]).gathered
    assert_as_analysed(spark, service, name)
    if kind == "fs":
        assert list((tmp_path / "states").iterdir()) == []


@pytest.mark.slow
@both
def test_many_partitions_in_little_memory(
    spark: Any, service: Metastore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = spark.range(0, 1500, 1, 2).select("id", (F.col("id") % 150).alias("k"))
    monkeypatch.setattr("hmstats.collector.autogather.watched_rows._MOST_ACCUMULATORS", 40)
    monkeypatch.setattr("hmstats.collector.autogather.watched_rows._ROWS_AT_ONCE", 1)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "300")
    try:
        written = writing(frame).save_table(name, partition_by=["k"])
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert (written.gathered, written.rows, written.partitions) == (True, 1500, 150)
    assert_as_analysed(spark, service, name)


@pytest.mark.slow
def test_files_that_are_not_parquet_are_not_read(spark: Any, service: Metastore, name: str) -> None:
    settings = {"hmstats.autogather.reads": "files"}
    written = writing(numbers(spark, 0, 30), settings=settings).save_table(name, format="orc", partition_by=["k"])
    assert (written.gathered, spark.table(name).count()) == (False, 30)
    assert "new files of Parquet only, which partition k=0 is not" in (written.reason or "")
    assert accurate(service, name) == Accurate()


@pytest.mark.slow
def test_settings_of_the_session_and_of_a_write(spark: Any, service: Metastore, name: str) -> None:
    spark.conf.set("hive.stats.autogather", "false")
    try:
        written = writing(numbers(spark, 0, 30)).save_table(name)
        assert (written.gathered, written.reason) == (False, "hive.stats.autogather is false")
        settings = {"hive.stats.autogather": True}
        assert writing(numbers(spark, 0, 30), settings=settings).save_table(name, mode="overwrite").gathered
    finally:
        spark.conf.unset("hive.stats.autogather")
    written = writing(numbers(spark, 0, 3)).save_table(name, mode="ignore")
    assert (written.gathered, written.reason) == (False, "the table is there: nothing was written")
    assert_as_analysed(spark, service, name)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"hive.stats.dbclas": "fs"}, "settings of a write are hive.stats.autogather"),
        ({"hive.stats.autogather": "perhaps"}, "hive.stats.autogather must be true or false, found 'perhaps'"),
        ({"hive.stats.dbclass": "hbase"}, "hive.stats.dbclass must be one of fs, jdbc, sql, thrift, found 'hbase'"),
        ({"hive.stats.dbclass": "jdbc:mysql"}, "needs hive.stats.dbconnectionstring"),
        (
            {
                "hive.stats.dbclass": "jdbc:derby",
                "hive.stats.dbconnectionstring": "jdbc:derby:;databaseName=TempStatsStore;create=true",
                "hive.stats.jdbcdriver": "org.apache.derby.jdbc.EmbeddedDriver",
            },
            "jdbc:derby cannot be reached from Python",
        ),
        ({"hmstats.autogather.reads": "pages"}, "hmstats.autogather.reads must be rows or files, found 'pages'"),
        ({"hmstats.running_write_retention_hours": 0}, "must be a number of hours above 0"),
    ],
)
def test_settings_that_make_no_sense_write_nothing(
    spark: Any, name: str, settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        writing(numbers(spark, 0, 3), settings=settings).save_table(name)
    assert not spark.catalog.tableExists(name)


def test_what_stands_for_a_jdbc_driver_is_said(spark: Any, tmp_path: Path) -> None:
    settings = {
        "hive.stats.dbclass": "jdbc:sqlite",
        "hive.stats.dbconnectionstring": f"jdbc:sqlite:{tmp_path}/states.sqlite",
        "hive.stats.jdbcdriver": "org.sqlite.JDBC",
    }
    with capture_logs() as lines:
        writing(spark.range(3), settings=settings)
    assert {"event": "jdbc_driver_mapped", "driver": "org.sqlite.JDBC", "loaded": "sqlite"}.items() <= lines[0].items()


@pytest.mark.slow
def test_rows_that_do_not_fit_write_nothing(spark: Any, name: str) -> None:
    writing(numbers(spark, 0, 3)).save_table(name)
    with pytest.raises(StatementError, match="the table has the columns id, text, k, the rows id"):
        writing(spark.range(3)).insert_into(name)
    with pytest.raises(StatementError, match="the rows have no column x to partition by"):
        writing(spark.range(3)).save_table(f"{name}_x", partition_by=["x"])
    with pytest.raises(StatementError, match=rf"table default\.{name}_x is not in the metastore at"):
        writing(spark.range(3)).insert_into(f"{name}_x")
    assert spark.table(name).count() == 3


@pytest.mark.slow
def test_a_service_that_is_away_costs_the_statistics_and_not_the_write(
    spark: Any, service: Metastore, name: str
) -> None:
    writing(numbers(spark, 0, 3000)).save_table(name, partition_by=["k"])
    settings = {"hive.stats.dbconnectionstring": AWAY}
    written = writing(numbers(spark, 3000, 3010).where("k = 1"), settings=settings).insert_into(name)
    assert not written.gathered
    assert AWAY in (written.reason or "")
    stored = everything(service, name)
    assert [stored["partitions"][key,]["numRows"] for key in "012"] == ["1000", None, "1000"]
    assert "numRows" not in stored["parameters"]
    assert accurate(service, name) == Accurate()
    assert spark.table(name).count() == 3003


@pytest.mark.slow
def test_a_service_that_is_away_fails_a_write_that_must_be_reliable(spark: Any, name: str) -> None:
    settings = {"hive.stats.dbconnectionstring": AWAY, "hive.stats.reliable": "true"}
    with pytest.raises(GatheringFailed, match=r"hive\.stats\.reliable is true"):
        writing(numbers(spark, 0, 3), settings=settings).save_table(name)
    assert not spark.catalog.tableExists(name)
