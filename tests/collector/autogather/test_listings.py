"""Statistics from new files list the partitions that the write touched, once, and say no more than that proves."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from hmstats.client import Metastore
from hmstats.collector import analyze
from hmstats.collector.autogather import table_state as module
from hmstats.collector.autogather.writer import Written, writing
from hmstats.collector.planning.data_files import list_files
from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.accurate import Accurate

pytestmark = pytest.mark.spark

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
_numbers = count(1)


@pytest.fixture
def name() -> str:
    return f"listings_{next(_numbers)}"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, spark: Any) -> Iterator[list[list[str]]]:
    """The pieces of each listing while the session reads new files."""
    found: list[list[str]] = []

    def noted(places: Mapping[str, str], *settings: Any) -> Any:
        found.append(list(places))
        return list_files(places, *settings)

    monkeypatch.setattr(module, "list_files", noted)
    spark.conf.set("hmstats.autogather.reads", "files")
    yield found
    spark.conf.unset("hmstats.autogather.reads")
    spark.conf.unset(DYNAMIC)


def rows(spark: Any, begin: int, end: int) -> Any:
    return spark.range(begin, end, 1, 2).select("id", (F.col("id") % 9).cast("int").alias("k"))


def parameters(service: Metastore, name: str) -> dict[str, Parameters]:
    """The parameters of the table ("") and of each partition."""
    table = service.find_table(TableName("hive", "default", name))
    assert table is not None
    names = service.partition_names(table.name)
    partitions = zip(names, service.partitions(table.name, names), strict=True)
    return {"": table.parameters, **{each: partition.parameters for each, partition in partitions}}


def counted(service: Metastore, name: str) -> dict[str, str | None]:
    return {each: found.get("numRows") for each, found in parameters(service, name).items()}


def marked(service: Metastore, name: str) -> Accurate:
    return Accurate.parse(parameters(service, name)[""].get("COLUMN_STATS_ACCURATE"))


def parted(spark: Any, name: str, seen: list[list[str]]) -> None:
    """A table of nine partitions of 100 rows."""
    writing(rows(spark, 0, 900)).save_table(name, partition_by=["k"])
    assert seen == [[f"k={key}" for key in range(9)]]
    seen.clear()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["insert_into", "save_table"])
def test_an_append_lists_what_it_touched_once(
    spark: Any, service: Metastore, name: str, seen: list[list[str]], how: str
) -> None:
    parted(spark, name, seen)
    write = writing(rows(spark, 900, 918).where("k IN (3, 7)"))
    written = {
        "insert_into": lambda: write.insert_into(name),
        "save_table": lambda: write.save_table(name, mode="append", partition_by=["k"]),
    }[how]()
    assert written == Written(TableName("hive", "default", name), True, 4, 2)
    assert seen == [["k=3", "k=7"]]
    found = counted(service, name)
    assert [found[each] for each in ("", "k=0", "k=3", "k=7")] == ["904", "100", "102", "102"]
    assert_an_analysis_agrees(spark, service, name)


@pytest.mark.slow
def test_a_new_partition_and_one_of_nulls(spark: Any, service: Metastore, name: str, seen: list[list[str]]) -> None:
    parted(spark, name, seen)
    fresh = rows(spark, 0, 20).select("id", F.when(F.col("id") < 15, 11).alias("k"))
    assert writing(fresh).insert_into(name).partitions == 2
    assert [sorted(each) for each in seen] == [["k=11", "k=__HIVE_DEFAULT_PARTITION__"]]
    assert counted(service, name)[""] == "920"
    assert_an_analysis_agrees(spark, service, name)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [True, False])
def test_an_overwrite_lists_what_it_wrote_once(
    spark: Any, service: Metastore, name: str, seen: list[list[str]], *, dynamic: bool
) -> None:
    parted(spark, name, seen)
    spark.conf.set(DYNAMIC, "dynamic" if dynamic else "static")
    assert writing(rows(spark, 0, 90).where("k = 5")).insert_into(name, overwrite=True).rows == 10
    assert seen == [["k=5"]]
    assert counted(service, name)[""] == ("810" if dynamic else "10")
    assert_an_analysis_agrees(spark, service, name)


@pytest.mark.slow
def test_a_write_without_rows_lists_nothing(spark: Any, service: Metastore, name: str, seen: list[list[str]]) -> None:
    parted(spark, name, seen)
    assert writing(rows(spark, 0, 90).where("k > 90")).insert_into(name).gathered
    assert seen == [[]]
    assert counted(service, name)[""] == "900"


@pytest.mark.slow
def test_a_table_without_partitions_is_listed_once(
    spark: Any, service: Metastore, name: str, seen: list[list[str]]
) -> None:
    for end in (10, 30, 60):
        assert writing(rows(spark, 0, end)).save_table(name, mode="append").gathered
    assert seen == [[""]] * 3
    assert counted(service, name) == {"": "100"}
    assert marked(service, name) == Accurate(basic=True, columns=frozenset({"id", "k"}))


@pytest.mark.slow
def test_files_that_cannot_be_read_are_listed_once_and_marked(
    spark: Any, service: Metastore, name: str, seen: list[list[str]]
) -> None:
    spark.sql(f"CREATE TABLE {name}_orc (id BIGINT, k INT) USING orc PARTITIONED BY (k)")
    writing(rows(spark, 0, 900), settings={"hmstats.autogather.reads": "rows"}).insert_into(f"{name}_orc")
    seen.clear()
    written = writing(rows(spark, 0, 90).where("k = 2")).insert_into(f"{name}_orc")
    assert (written.gathered, seen) == (False, [["k=2"]])
    found = parameters(service, f"{name}_orc")
    assert [found[each].get("numRows") for each in ("", "k=1", "k=2")] == [None, "100", None]
    assert (found["k=2"]["numFiles"], found[""]["numFiles"]) == ("4", "20")
    assert marked(service, f"{name}_orc") == Accurate()


@pytest.mark.slow
def test_rows_that_nobody_counted_are_told_of(spark: Any, service: Metastore, name: str, seen: list[list[str]]) -> None:
    """A partition that another program has added to since it was counted is known by its files when it is touched."""
    parted(spark, name, seen)
    rows(spark, 0, 90).where("k = 1").write.insertInto(name)
    assert writing(rows(spark, 0, 90).where("k < 2")).insert_into(name).gathered
    assert seen == [["k=0", "k=1"]]
    found = counted(service, name)
    assert [found[each] for each in ("", "k=0", "k=1", "k=2")] == [None, "110", None, "100"]
    assert marked(service, name) == Accurate()
    analyze(spark, name)
    assert counted(service, name)[""] == "930"


@pytest.mark.slow
def test_a_table_of_which_not_all_was_listed_is_not_called_accurate(
    spark: Any, service: Metastore, name: str, seen: list[list[str]]
) -> None:
    """Rows in a partition that was not touched, of which nobody told the metastore, are found by the next analysis."""
    parted(spark, name, seen)
    rows(spark, 0, 90).where("k = 8").write.insertInto(name)
    assert writing(rows(spark, 0, 90).where("k = 0")).insert_into(name).gathered
    assert marked(service, name) == Accurate()
    assert "hmstats.fingerprint" not in parameters(service, name)[""]
    report = analyze(spark, name, changed_only=True)
    assert (report.partitions, report.unchanged) == (1, 8)
    assert counted(service, name)[""] == "920"
    assert marked(service, name) == Accurate(basic=True, columns=frozenset({"id"}))


def assert_an_analysis_agrees(spark: Any, service: Metastore, name: str) -> None:
    """An analysis finds all partitions unchanged, and counts the table's rows and files alike."""
    gathered = parameters(service, name)
    assert marked(service, name) == Accurate() or len(gathered) == 2
    report = analyze(spark, name, changed_only=True)
    assert (report.partitions, report.unchanged) == (0, len(gathered) - 1)
    after = parameters(service, name)
    for count_ in ("numRows", "numFiles", "totalSize", "numPartitions"):
        assert {each: found.get(count_) for each, found in after.items()} == {
            each: found.get(count_) for each, found in gathered.items()
        }
    assert marked(service, name) == Accurate(basic=True, columns=frozenset({"id"}))
    assert spark.table(name).count() == int(after[""]["numRows"])
