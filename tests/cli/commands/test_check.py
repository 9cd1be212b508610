"""`hmstats check`: what is said, what is printed, and the exit code."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner, Result

from hmstats import client, collector
from hmstats.cli.main import app
from hmstats.errors import HmstatsError, SettingsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet

DATABASE = "check_command"


@pytest.fixture(scope="module")
def table(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table of two partitions of 1,000 rows in ten row groups each, analysed."""
    place: Path = tmp_path_factory.mktemp("check")
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{place.as_uri()}'")
    spark.sql(f"CREATE TABLE {DATABASE}.t (n BIGINT, day DATE, s STRING) PARTITIONED BY (p INT) STORED AS PARQUET")
    for number in (1, 2):
        folder = place / "t" / f"p={number}"
        folder.mkdir(parents=True)
        numbers = pa.array(range(1_000))
        days = pa.array(range(1_000), pa.int32()).cast(pa.date32())
        rows = pa.table({"n": numbers, "day": days, "s": [f"s{each % 50}" for each in range(1_000)]})
        pq.write_table(rows, folder / "part-0", row_group_size=100)
    spark.sql(f"ALTER TABLE {DATABASE}.t ADD PARTITION (p=1) PARTITION (p=2)")
    yield f"{DATABASE}.t"
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


@pytest.fixture
def right(spark: Any, table: str) -> str:
    collector.analyze(spark, table)
    return table


@pytest.fixture
def wrong(right: str, spark_metastore: str) -> str:
    """Of partition 2 the greatest day and the nulls are wrong."""
    name = TableName("hive", DATABASE, "t")
    with client.connect(spark_metastore) as service:
        (found,) = service.statistics(name, ["n", "day"], ["p=2"])
        columns = {each.column: each for each in found.columns}
        data: Any = columns["day"].data
        number = replace(columns["n"], data=replace(columns["n"].data, nulls=600))
        day = replace(columns["day"], data=replace(data, high=100))
        service.put_partition_statistics(name, [StatisticsSet((number, day), "p=2")])
    return right


def run(metastore: str, *arguments: str) -> Result:
    """The command in this process, whose Spark it uses."""
    return CliRunner().invoke(app, ["check", "--metastore", metastore, *arguments])


@pytest.mark.spark
def test_what_is_right_is_said_in_a_line(spark: Any, spark_metastore: str, right: str) -> None:
    whole = run(spark_metastore, right, "--sample", "1")
    assert (whole.exit_code, whole.stderr) == (0, "")
    (line,) = whole.stdout.splitlines()
    assert line.startswith("2,000 of 2,000 rows read; ")
    assert line.endswith(" numbers compared, 0 wrong")
    sample = run(spark_metastore, right)
    assert sample.exit_code == 0
    first, second = sample.stdout.splitlines()
    assert first.startswith("200 of 2,000 rows read; ")
    assert second.endswith("of them fit what was read, which is too little to say more: --sample 1 reads all")


@pytest.mark.slow
@pytest.mark.spark
def test_what_is_wrong_is_a_row(spark: Any, spark_metastore: str, wrong: str) -> None:
    found = run(spark_metastore, wrong, "--sample", "1")
    assert found.exit_code == 1
    lines = found.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"{wrong} p=2"
    assert lines[1].split() == ["Column", "Statistic", "Stored", "Must", "be", "Off", "by", "q-error"]
    assert [line.split() for line in lines[3:5]] == [
        ["n", "nulls", "600", "0", "+600", "600"],
        ["day", "high", "1970-04-11", "1972-09-26", "-899"],
    ]
    assert len(lines) == 6
    assert run(spark_metastore, wrong, "--partition", "p=1").exit_code == 0
    assert run(spark_metastore, wrong, "--columns", "s").exit_code == 0
    assert run(spark_metastore, wrong, "--sample", "1", "--tolerance", "1").exit_code == 1


@pytest.mark.slow
@pytest.mark.spark
def test_json_has_an_object_for_each_wrong_number(spark: Any, spark_metastore: str, wrong: str) -> None:
    found = run(spark_metastore, wrong, "--columns", "n,day", "--sample", "0.5", "--json")
    assert found.exit_code == 1
    nulls, high = (json.loads(line) for line in found.stdout.splitlines())
    assert nulls == {
        "table": wrong,
        "partition": "p=2",
        "column": "n",
        "statistic": "nulls",
        "stored": 600,
        "low": 0,
        "high": 500,
        "q_error": 1.2,
        "certain": True,
    }
    assert (high["column"], high["stored"], high["high"], high["q_error"]) == ("day", "1970-04-11", None, None)


@pytest.mark.parametrize(
    ("arguments", "kind", "problem"),
    [
        (["nope.t"], StatementError, "table nope.t is not in the metastore at"),
        (["a.b.c.d"], StatementError, "a table must be named as DB.TABLE"),
        (["x.y", "--sample", "0"], StatementError, "a sample must be more than 0 and at most 1 of the rows, found 0.0"),
        (["x.y", "--tolerance", "-1"], StatementError, "a tolerance must be 0 or more, found -1.0"),
        (["x.y", "--conf", "x"], SettingsError, "--conf must be KEY=VALUE, found 'x'"),
        (["x.y", "--partition", "=1"], StatementError, "partition '=1' is not named KEY=VALUE/KEY=VALUE"),
    ],
)
def test_bad_input_is_one_sentence(
    spark_metastore: str, arguments: list[str], kind: type[HmstatsError], problem: str
) -> None:
    result = run(spark_metastore, *arguments)
    assert isinstance(result.exception, kind)
    assert result.stdout == ""
    assert problem in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.slow
@pytest.mark.spark
def test_as_a_process_of_its_own(spark_metastore: str, wrong: str) -> None:
    """No session is there: one is started; nothing but the answer is printed."""
    done = subprocess.run(
        [HMSTATS, "check", wrong, "--metastore", spark_metastore, "--master", "local[1]", "--sample", "1"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
        timeout=240,
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[-1].endswith("2 wrong")
    assert done.stdout.splitlines()[0] == f"{wrong} p=2"
