"""A session that is followed: whatever it writes has the statistics that an analysis would find, and no write fails."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import hmstats
from hmstats.client import Metastore
from hmstats.collector import analyze
from hmstats.collector.autogather import table_state
from hmstats.collector.autogather.following import gather
from hmstats.collector.autogather.following.session import Autogather
from hmstats.collector.autogather.writer import Written
from hmstats.collector.planning.data_files import list_files
from hmstats.errors import GatheringFailed
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.parameters.accurate import Accurate
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics
from hmstats.model.statistics.statistics_locks import LockedObject

pytestmark = pytest.mark.spark

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
_numbers = count(1)


@pytest.fixture
def name() -> str:
    return f"followed_{next(_numbers)}"


@pytest.fixture
def following(spark: Any) -> Iterator[Autogather]:
    with hmstats.autogather(spark) as found:
        yield found
    spark.conf.unset(DYNAMIC)


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The pieces of each listing."""
    found: list[set[str]] = []

    def noted(places: Any, *settings: Any) -> Any:
        found.append(set(places))
        return list_files(places, *settings)

    monkeypatch.setattr(table_state, "list_files", noted)
    return found


def rows(spark: Any, begin: int, end: int) -> Any:
    return spark.range(begin, end, 1, 2).select("id", (F.col("id") % 9).cast("int").alias("k"))


def table_of(name: str) -> TableName:
    return TableName("hive", "default", name)


def assert_as_analyzed(spark: Any, service: Metastore, name: str) -> None:
    """What is stored now is what an analysis of everything stores."""
    gathered = stored(service, name)
    report = analyze(spark, name, changed_only=True)
    assert report.partitions == 0 or not service.partition_names(f"default.{name}")
    analyze(spark, name)
    assert stored(service, name) == gathered
    assert spark.table(name).count() == gathered[""][0]


def stored(service: Metastore, name: str) -> dict[str, tuple[Any, ...]]:
    """Rows, files, bytes and columns of a table ("") and of each of its partitions.

    Sketches are left out: a histogram depends on the order of rows. The distinct count says what a bit vector says.
    """
    table = service.find_table(table_of(name))
    assert table is not None
    names = service.partition_names(table.name)
    found: dict[str, tuple[Any, ...]] = {"": (*counts(table.parameters), columns(service, table.name))}
    for each, partition in zip(names, service.partitions(table.name, names), strict=True):
        found[each] = counts(partition.parameters)
    for some in service.partition_statistics(table.name, ["id"], names):
        found[f"columns of {some.partition}"] = tuple(map(plain, some.columns))
    return found


def columns(service: Metastore, table: TableName) -> tuple[Any, ...]:
    return tuple(map(plain, service.table_statistics(table, ["id", "k"])))


def plain(column: ColumnStatistics) -> ColumnStatistics:
    assert isinstance(column.data, LongStatistics)
    return replace(column, data=replace(column.data, histogram=None, bit_vector=None))


def counts(parameters: Any) -> tuple[int, ...]:
    return tuple(int(parameters.get(each, -1)) for each in ("numRows", "numFiles", "totalSize"))


def marked(service: Metastore, name: str) -> bool:
    table = service.find_table(table_of(name))
    assert table is not None
    return Accurate.parse(table.parameters.get("COLUMN_STATS_ACCURATE")).basic


WRITES = {
    "CTAS": lambda s, t: s.sql(f"CREATE TABLE {t} USING parquet AS SELECT id, CAST(id % 9 AS INT) k FROM range(90)"),
    "CTAS of Hive's": lambda s, t: s.sql(f"CREATE TABLE {t} STORED AS parquet AS SELECT id FROM range(90)"),
    "saveAsTable": lambda s, t: rows(s, 0, 90).write.saveAsTable(t),
    "saveAsTable by a key": lambda s, t: rows(s, 0, 90).write.partitionBy("k").saveAsTable(t),
}


OFTEN = {"CTAS", "saveAsTable by a key", "INSERT INTO"}
"""What `make test` tries too."""


def ways(of: Iterable[str]) -> list[Any]:
    return [pytest.param(each, marks=() if each in OFTEN else pytest.mark.slow) for each in of]


@pytest.mark.parametrize("how", ways(WRITES))
def test_a_table_that_is_made_of_rows(
    spark: Any, service: Metastore, following: Autogather, name: str, how: str
) -> None:
    WRITES[how](spark, name)
    (written,) = following.wait(60)
    assert (written.table, written.gathered, written.rows, written.reason) == (table_of(name), True, 90, None)
    assert stored(service, name)[""][0] == 90
    assert marked(service, name)
    assert_as_analyzed(spark, service, name)


MORE = {
    "INSERT INTO": lambda s, t: s.sql(f"INSERT INTO {t} SELECT id, CAST(id % 2 AS INT) FROM range(100, 120)"),
    "INSERT OVERWRITE": lambda s, t: s.sql(f"INSERT OVERWRITE {t} SELECT id, CAST(id % 2 AS INT) FROM range(20)"),
    "insertInto": lambda s, t: rows(s, 90, 110).write.insertInto(t),
    "insertInto, overwriting": lambda s, t: rows(s, 90, 110).write.insertInto(t, overwrite=True),
    "saveAsTable, appending": lambda s, t: rows(s, 90, 110).write.mode("append").saveAsTable(t),
    "saveAsTable, replacing": lambda s, t: rows(s, 0, 20).write.mode("overwrite").saveAsTable(t),
}


@pytest.mark.parametrize("how", ways(MORE))
def test_a_write_to_a_table_that_is_there(
    spark: Any, service: Metastore, following: Autogather, name: str, how: str
) -> None:
    rows(spark, 0, 90).write.saveAsTable(name)
    MORE[how](spark, name)
    MORE[how](spark, name)
    assert all(each.gathered for each in following.wait(60))
    assert marked(service, name)
    assert_as_analyzed(spark, service, name)


BY_KEY = {
    "a partition that is named": lambda s, t: s.sql(f"INSERT INTO {t} PARTITION (k = 3) SELECT id FROM range(7)"),
    "rows of two partitions": lambda s, t: rows(s, 90, 130).where("k IN (3, 5)").write.insertInto(t),
    "rows of a new one": lambda s, t: s.sql(f"INSERT INTO {t} SELECT id, 77 FROM range(7)"),
    "one that is replaced": lambda s, t: s.sql(f"INSERT OVERWRITE {t} PARTITION (k=3) SELECT id * 9 FROM range(7)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", BY_KEY)
def test_only_partitions_that_a_write_touched_are_listed(
    spark: Any, service: Metastore, following: Autogather, name: str, how: str, listed: list[set[str]]
) -> None:
    rows(spark, 0, 90).write.partitionBy("k").saveAsTable(name)
    following.wait(60)
    for each in service.partitions(table_of(name), service.partition_names(table_of(name))):
        assert each.storage is not None
        grow_old(str(each.storage.location))
    listed.clear()
    BY_KEY[how](spark, name)
    (written,) = following.wait(60)
    assert written.gathered, written.reason
    touched = {"a partition that is named": 1, "rows of two partitions": 2}.get(how, 1)
    assert [len(each) for each in listed] == [touched]
    assert written.partitions == touched
    assert_as_analyzed(spark, service, name)


def grow_old(location: str) -> None:
    """Make a directory look as if nothing had changed in it for an hour."""
    import os

    _, path = open_location(location)
    os.utime(path, (time.time() - 3_600,) * 2)


@pytest.mark.slow
def test_partitions_that_a_write_removed_are_not_counted(
    spark: Any, service: Metastore, following: Autogather, name: str
) -> None:
    rows(spark, 0, 90).write.partitionBy("k").saveAsTable(name)
    rows(spark, 0, 20).where("k = 4").write.insertInto(name, overwrite=True)
    assert all(each.gathered for each in following.wait(60))
    assert stored(service, name)[""][0] == 2
    spark.conf.set(DYNAMIC, "dynamic")
    rows(spark, 0, 40).where("k IN (4, 5)").write.insertInto(name, overwrite=True)
    assert all(each.gathered for each in following.wait(60))
    assert_as_analyzed(spark, service, name)


@pytest.mark.slow
def test_writes_in_quick_succession_are_all_counted(
    spark: Any, service: Metastore, following: Autogather, name: str
) -> None:
    """Also if they are alike, and if some come while others are gathered."""
    rows(spark, 0, 9).write.partitionBy("k").saveAsTable(name)
    for _ in range(12):
        spark.sql(f"INSERT INTO {name} VALUES (1, 1), (2, 2)")
    assert [each for each in following.wait(120) if not each.gathered] == []
    assert stored(service, name)[""][0] == 33
    assert_as_analyzed(spark, service, name)


@pytest.mark.slow
def test_a_write_whose_files_are_listed_in_part_is_counted(
    spark: Any, service: Metastore, following: Autogather, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark moves a write's files into their partitions one after the other, maybe while another one is gathered."""
    rows(spark, 0, 9).write.partitionBy("k").saveAsTable(name)
    following.wait(60)
    listings: list[set[str]] = []

    def list_in_part(places: Any, *settings: Any) -> Any:
        listings.append(set(places))
        if len(listings) > 1:
            return list_files(places, *settings)
        before = list_files(places, *settings)
        spark.sql(f"INSERT INTO {name} VALUES (3, 1), (4, 2)")
        now = list_files(places, *settings)
        return {**now, "k=2": before["k=2"]}

    monkeypatch.setattr(table_state, "list_files", list_in_part)
    spark.sql(f"INSERT INTO {name} VALUES (1, 1), (2, 2)")
    assert [each.gathered for each in following.wait(60)] == [True]
    assert stored(service, name)[""][0] == 13
    assert_as_analyzed(spark, service, name)


@pytest.mark.slow
def test_two_threads_of_a_session(spark: Any, service: Metastore, following: Autogather, name: str) -> None:
    def write(table: str) -> None:
        for begin in range(0, 40, 10):
            rows(spark, begin, begin + 10).write.mode("append").saveAsTable(table)

    tables = [f"{name}_{each}" for each in "ab"]
    threads = [threading.Thread(target=write, args=(each,)) for each in tables]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each for each in following.wait(120) if not each.gathered] == []
    for table in tables:
        assert (stored(service, table)[""][0], marked(service, table)) == (40, True)
        assert_as_analyzed(spark, service, table)


@pytest.mark.slow
def test_what_spark_undoes_is_counted_again(spark: Any, service: Metastore, following: Autogather, name: str) -> None:
    """Spark alters a table with the parameters that it has read, be they older than what was stored meanwhile."""
    rows(spark, 0, 90).write.saveAsTable(name)
    following.wait(60)
    before = service.find_table(table_of(name))
    assert before is not None
    rows(spark, 90, 100).write.insertInto(name)
    following.wait(60)
    service.put_table_parameters(table_of(name), before.parameters)
    rows(spark, 100, 120).write.insertInto(name)
    assert [each.gathered for each in following.wait(60)] == [True]
    assert (stored(service, name)[""][0], marked(service, name)) == (120, True)
    assert_as_analyzed(spark, service, name)


@pytest.mark.slow
def test_threads_and_sessions_that_write_one_table(
    spark: Any, service: Metastore, following: Autogather, name: str
) -> None:
    """Spark's jobs move each other's files then, and some fail; whatever is in the table at the end is counted."""
    rows(spark, 0, 10).write.saveAsTable(name)

    def write(session: Any, begin: int) -> None:
        for each in range(begin, begin + 30, 10):
            with suppress(Exception):
                rows(session, each, each + 10).write.insertInto(name)

    other = spark.newSession()
    writers = [(spark, 100), (spark, 200), (other, 300), (other.newSession(), 400)]
    threads = [threading.Thread(target=write, args=each) for each in writers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each for each in following.wait(120) if not each.gathered] == []
    assert stored(service, name)[""][0] > 10
    assert marked(service, name)
    spark.catalog.refreshTable(name)
    assert_as_analyzed(spark, service, name)


def test_one_session_is_followed_once(spark: Any, following: Autogather) -> None:
    made = spark.newSession()
    again = SparkSession(spark.sparkContext, spark._jsparkSession)
    assert all(hmstats.autogather(each) is following for each in (spark, made, again))
    following.stop()
    other = spark.newSession()
    with hmstats.autogather(other) as found:
        assert found is not following
        assert not found.follows(spark)


@pytest.mark.slow
def test_a_writer_that_nobody_follows_is_noticed(
    spark: Any, service: Metastore, following: Autogather, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of which Spark has told nothing are not taken for those of a write; nothing is called accurate then."""
    monkeypatch.setattr(gather, "_PATIENCE_SECONDS", 0.5)
    rows(spark, 0, 90).write.partitionBy("k").saveAsTable(name)
    following.wait(60)
    table = service.find_table(table_of(name))
    assert table is not None
    assert table.storage is not None
    _, path = open_location(str(table.storage.location))
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), f"{path}/k=3/by-somebody-else.parquet")
    rows(spark, 90, 100).where("k = 3").write.insertInto(name)
    following.wait(60)
    assert stored(service, name)[""][0] == -1
    assert not marked(service, name)


@pytest.mark.slow
def test_all_new_files_of_a_table_that_was_gathered_are_counted(
    spark: Any, service: Metastore, following: Autogather, name: str
) -> None:
    """Whoever has written them, as long as the earlier ones are there."""
    rows(spark, 0, 90).write.saveAsTable(name)
    following.wait(60)
    table = service.find_table(table_of(name))
    assert table is not None
    assert table.storage is not None
    _, path = open_location(str(table.storage.location))
    schema = pa.schema([("id", pa.int64()), ("k", pa.int32())])
    pq.write_table(pa.table({"id": [1], "k": [1]}, schema=schema), f"{path}/by-somebody-else.parquet")
    rows(spark, 90, 100).write.insertInto(name)
    assert [each.rows for each in following.wait(60)] == [11]
    assert marked(service, name)
    spark.catalog.refreshTable(name)
    assert_as_analyzed(spark, service, name)
    spark.sql(f"INSERT OVERWRITE {name} SELECT id, CAST(id % 2 AS INT) FROM range(20)")
    following.wait(60)
    assert (stored(service, name)[""][0], marked(service, name)) == (20, True)


@pytest.mark.slow
def test_what_cannot_be_gathered_fails_no_job(spark: Any, service: Metastore, following: Autogather, name: str) -> None:
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING orc")
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(9)")
    (written,) = following.wait(60)
    assert (written.gathered, written.rows) == (False, None)
    assert "Parquet" in str(written.reason)
    with pytest.raises(Exception, match="nowhere"):
        spark.sql(f"INSERT INTO {name} SELECT nowhere FROM range(9)")
    assert following.wait(60) == []


@pytest.mark.slow
def test_a_lock_and_a_preference_keep_it_away(spark: Any, service: Metastore, following: Autogather, name: str) -> None:
    rows(spark, 0, 90).write.saveAsTable(name)
    following.wait(60)
    before = columns(service, table_of(name))
    service.locks.lock(LockedObject(DatabaseName("hive", "default"), name), reason="month end")
    rows(spark, 90, 95).write.insertInto(name)
    assert f"the statistics of default.{name} are locked" in reasons(following)[0]
    service.locks.unlock(LockedObject(DatabaseName("hive", "default"), name))
    service.preferences.change(Subject(DatabaseName("hive", "default"), name), {"automatic": "false"})
    rows(spark, 95, 99).write.insertInto(name)
    assert "left out of automatic analyses" in reasons(following)[0]
    assert columns(service, table_of(name)) == before


def reasons(following: Autogather) -> list[str]:
    found: Sequence[Written] = following.wait(60)
    return [str(each.reason) for each in found]


@pytest.mark.slow
def test_it_fails_when_asked(spark: Any, name: str) -> None:
    spark.sql(f"CREATE TABLE {name} (id BIGINT) USING orc")
    following = hmstats.autogather(spark, reliable=True)
    assert hmstats.autogather(spark) is following
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(9)")
    with pytest.raises(GatheringFailed, match=f"{name}: .*Parquet"):
        following.stop()
    spark.sql(f"INSERT INTO {name} SELECT id FROM range(9)")
    assert following.wait(60) == []
