"""A partition is the one that Spark reads, however its values are written: MSCK and Glue store what folders say.

With HMSTATS_TEST_ALL_FORMS keys of every type are tried, else of one type of each kind.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client, collector
from hmstats.collector.scan import dataframe, scan
from hmstats.collector.scan.placing import placing
from hmstats.errors import AnalysisIncomplete, StatementError
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NULL = "__HIVE_DEFAULT_PARTITION__"
_numbers = count(1)

VALUES = [
    ("int", ["01", "2", "003", NULL], {"k": 1}, "k=01"),
    ("bigint", ["-007", "+8", "9"], {"k": "-7"}, "k=-007"),
    ("tinyint", ["01", "02"], {"k": "02"}, "k=02"),
    ("date", ["2024-01-05", "2024-2-6", NULL], {"k": "2024-02-06"}, "k=2024-2-6"),
    ("timestamp", ["2024-01-01 00:00:00.0", "2024-01-01 12:30:00.250", "2024-01-02 00:00:00"], None, None),
    ("decimal(5,2)", ["1.5", "2.50", "3", "-0.10"], {"k": "1.50"}, "k=1.5"),
    ("double", ["1.0", "2.50", "1e3"], {"k": 1000}, "k=1e3"),
    ("float", ["1.10", "0.5"], {"k": "0.50"}, "k=0.5"),
    ("boolean", ["TRUE", "false"], {"k": True}, "k=TRUE"),
    ("string", ["a b/c%d", "01", "1", " x", "ü=1", "it's", NULL], {"k": "01"}, "k=01"),
    ("varchar(9)", ["a b", "01", NULL], {"k": "a b"}, "k=a b"),
    ("char(4)", ["ab", "abcd", NULL], {"k": "ab"}, "k=ab"),
]
"""By type of the key: texts of partitions, one of them as a caller names it, and the partition that this is."""
LIKE_OTHERS = {"bigint", "tinyint", "float", "varchar(9)", "char(4)"}
TRIED = [each for each in VALUES if each[0] not in LIKE_OTHERS or "HMSTATS_TEST_ALL_FORMS" in os.environ]


class Texts:
    """A table of text files whose partitions are stored under given texts; the n-th of them has n + 1 rows."""

    def __init__(self, port: int, folder: Path, key_type: str, texts: Sequence[str]) -> None:
        self.name = TableName("hive", f"texts_{next(_numbers)}", "t")
        self.shown = f"{self.name.database}.t"
        self.folder, self.texts = folder, list(texts)
        self._metastore = Metastore("", port, 4.0, database=self.name.database)
        self._key_type = key_type

    def make(self, spark: Any) -> None:
        spark.sql(f"CREATE DATABASE {self.name.database} LOCATION '{self.folder.as_uri()}'")
        spark.sql(f"CREATE TABLE {self.shown} (n INT, s STRING) PARTITIONED BY (k {self._key_type}) STORED AS TEXTFILE")
        for number, text in enumerate(self.texts):
            self.add(text, number + 1)

    def add(self, text: str, rows: int) -> None:
        """Add a partition as MSCK does: its value is what the folder says."""
        place = self.folder / f"place-{next(_numbers)}"
        place.mkdir()
        (place / "data").write_text("".join(f"{number}\x01x\n" for number in range(rows)))
        with self._metastore.clients:
            ask = self._metastore.client()
            struct = self._metastore.partition(text, columns={"n": "int", "s": "string"})
            struct.tableName = "t"
            table = ask.get_table(self.name.database, "t")
            struct.sd = table.sd
            struct.sd.location = f"file:{place}"
            ask.add_partitions([struct])

    def rows(self, metastore: str) -> dict[str, str | None]:
        """numRows of each partition by its text, and of the table."""
        with client.connect(metastore) as service:
            table = service.find_table(self.name)
            assert table is not None
            names = service.partition_names(self.name)
            found = {each.values[0]: each.parameters.get("numRows") for each in service.partitions(self.name, names)}
            return {**found, "": table.parameters.get("numRows")}


@pytest.mark.parametrize(("key_type", "texts", "spec", "named"), TRIED, ids=[each[0] for each in TRIED])
def test_every_row_is_counted_for_its_partition(
    spark: Any,
    spark_metastore: str,
    tmp_path: Path,
    key_type: str,
    texts: list[str],
    spec: Mapping[str, Any] | None,
    named: str | None,
) -> None:
    table = Texts(int(spark_metastore.rpartition(":")[2]), tmp_path, key_type, texts)
    table.make(spark)
    report = collector.analyze(spark, table.shown, metastore=spark_metastore)
    expected = {text: str(number + 1) for number, text in enumerate(texts)}
    total = sum(range(1, len(texts) + 1))
    assert (report.rows, report.partitions) == (total, len(texts))
    assert table.rows(spark_metastore) == {**expected, "": str(total)}
    assert collector.check(spark, table.shown, metastore=spark_metastore, sample_fraction=1).wrong == ()
    if spec is not None:
        again = collector.analyze(spark, table.shown, metastore=spark_metastore, partitions=spec)
        place = texts.index(named.removeprefix("k=") if named else "")
        assert (again.partitions, again.rows) == (1, place + 1)
    # One more row in the first: only that partition is read again, whatever its text.
    file = next(each for each in tmp_path.rglob("data") if each.read_text() == "0\x01x\n")
    file.write_text("0\x01x\n1\x01x\n")
    changed = collector.analyze(spark, table.shown, metastore=spark_metastore, changed_only=True)
    assert (changed.partitions, changed.unchanged, changed.rows) == (1, len(texts) - 1, 2)
    assert table.rows(spark_metastore) == {**expected, texts[0]: "2", "": str(total + 1)}


def test_a_text_that_is_no_value_is_null_to_spark(spark: Any, spark_metastore: str, tmp_path: Path) -> None:
    table = Texts(int(spark_metastore.rpartition(":")[2]), tmp_path, "int", ["unknown", "7"])
    table.make(spark)
    assert collector.analyze(spark, table.shown, metastore=spark_metastore).rows == 3
    assert table.rows(spark_metastore) == {"unknown": "1", "7": "2", "": "3"}


def test_partitions_of_one_value_lose_only_themselves(spark: Any, spark_metastore: str, tmp_path: Path) -> None:
    table = Texts(int(spark_metastore.rpartition(":")[2]), tmp_path, "int", ["1", "01", "2"])
    table.make(spark)
    with pytest.raises(AnalysisIncomplete, match="partition k=1 has the same values as k=01") as raised:
        collector.analyze(spark, table.shown, metastore=spark_metastore)
    assert set(raised.value.report.failed) == {"k=1", "k=01"}  # type: ignore[attr-defined]
    assert table.rows(spark_metastore) == {"1": None, "01": None, "2": "3", "": None}
    with pytest.raises(StatementError, match="partition k=1 has the same values as k=01"):
        collector.check(spark, table.shown, metastore=spark_metastore)


def test_rows_of_an_unknown_partition_fail_the_analysis(
    spark: Any, spark_metastore: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if Spark and we read a value in two ways; then no number of the table is stored."""
    table = Texts(int(spark_metastore.rpartition(":")[2]), tmp_path, "int", ["1", "02"])
    table.make(spark)

    def other(keys: Any, wanted: Any, others: Any = ()) -> Any:
        renamed = [replace(each, values=("5",)) if each.name == "k=02" else each for each in wanted]
        return placing(keys, renamed, others)

    monkeypatch.setattr(scan, "placing", other)
    monkeypatch.setattr(client.Metastore, "partition_names", names_at_first(["k=1", "k=02"], then=["k=1"]))
    with pytest.raises(AnalysisIncomplete, match=r"Spark has read 2 rows of .* does not have: k=2"):
        collector.analyze(spark, table.shown, metastore=spark_metastore)
    monkeypatch.undo()
    assert table.rows(spark_metastore) == {"1": "1", "02": None, "": None}


def test_a_partition_that_came_meanwhile_is_left_out(
    spark: Any, spark_metastore: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Texts(int(spark_metastore.rpartition(":")[2]), tmp_path, "int", ["1", "2"])
    table.make(spark)
    monkeypatch.setattr(client.Metastore, "partition_names", names_at_first(["k=1"], then=["k=1", "k=2"]))
    report = collector.analyze(spark, table.shown, metastore=spark_metastore)
    assert (report.rows, report.partitions) == (1, 1)


OLD_DAY = "DATE'1500-01-01'"
"""A day before the Gregorian calendar: files with such ones are read by Spark."""


@pytest.mark.parametrize("partitioned", [True, False])
def test_files_without_rows_are_counted_by_spark_too(
    spark: Any, spark_metastore: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitioned: bool
) -> None:
    database = f"texts_{next(_numbers)}"
    spark.sql(f"CREATE DATABASE {database} LOCATION '{tmp_path.as_uri()}'")
    (tmp_path / "t").mkdir()
    keys = "PARTITIONED BY (k INT)" if partitioned else ""
    spark.sql(f"CREATE TABLE {database}.t (n DATE) {keys} STORED AS ORC")
    spark.sql(f"INSERT INTO {database}.t {'PARTITION (k = 1)' if partitioned else ''} SELECT {OLD_DAY} WHERE false")
    for values in ("1", "2"):
        target = f"{database}.t PARTITION (k = {values})" if partitioned else f"{database}.t"
        if partitioned or values == "1":
            spark.sql(f"INSERT INTO {target} SELECT {OLD_DAY}")
    real = dataframe.states_frame

    def losing(rows: Any, *given: Any) -> Any:
        return real(rows.where("n IS NULL"), *given)

    monkeypatch.setattr(dataframe, "states_frame", losing)
    with pytest.raises(AnalysisIncomplete, match="its files gave no row, but Spark counts 1 rows in them"):
        collector.analyze(spark, f"{database}.t", metastore=spark_metastore)
    monkeypatch.undo()
    collector.analyze(spark, f"{database}.t", metastore=spark_metastore)
    spark.sql(
        f"INSERT OVERWRITE {database}.t {'PARTITION (k = 1)' if partitioned else ''} SELECT {OLD_DAY} WHERE false"
    )
    # Spark removes the directory of a partition that it overwrites without rows. It alters the table too, whose
    # statistics it knows since the analysis, so that the metastore has counted no files there.
    assert not (tmp_path / "t" / "k=1").exists()
    report = collector.analyze(spark, f"{database}.t", metastore=spark_metastore)
    assert report.rows == (1 if partitioned else 0)


def names_at_first(first: list[str], *, then: list[str]) -> Any:
    """Stands for the metastore's list of partitions, which is another when it is asked for again."""
    answers = [first]

    def names(*_: Any) -> list[str]:
        return answers.pop() if answers else then

    return names
