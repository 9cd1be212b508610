"""`hmstats refresh` and `hmstats runs`, over real tables and Spark."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from hmstats import client, collector
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.statistics_locks import LockedObject

_numbers = count(1)


@pytest.fixture
def database(spark: Any, tmp_path: Path) -> Iterator[str]:
    """Tables `one`, and `many` with two partitions, without statistics; `broken`, whose files are no Parquet."""
    name = f"refreshed_{next(_numbers)}"
    folder = tmp_path / "data"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{folder.as_uri()}'")
    spark.sql(f"CREATE TABLE {name}.many (n INT) PARTITIONED BY (p INT) STORED AS PARQUET")
    spark.sql(f"CREATE TABLE {name}.one (n INT) STORED AS PARQUET")
    spark.sql(f"CREATE TABLE {name}.broken (n INT) STORED AS PARQUET")
    for place in ("one", "many/p=1", "many/p=2"):
        write(folder / place, 10)
    (folder / "broken").mkdir(exist_ok=True)
    (folder / "broken" / "part-0").write_bytes(b"no Parquet")
    spark.sql(f"ALTER TABLE {name}.many ADD PARTITION (p=1) PARTITION (p=2)")
    yield name
    spark.sql(f"DROP DATABASE {name} CASCADE")


def write(folder: Path, rows: int, file: str = "part-0") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": pa.array(range(rows), pa.int32())}), folder / file)


def run(metastore: str, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(app, [command, "--metastore", metastore, *arguments])


def objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def healths(metastore: str, database: str) -> dict[str, int]:
    return {each["table"]: each["health"] for each in objects(run(metastore, "health", database, "--json"))}


def test_what_is_stale_is_refreshed_and_a_failure_stops_nothing(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path
) -> None:
    planned = run(spark_metastore, "refresh", database, "--dry-run")
    assert planned.exit_code == 0, planned.output
    assert "stale x" in planned.stdout
    assert healths(spark_metastore, database) == {"one": 0, "many": 0, "broken": 0}  # nothing was changed

    result = run(spark_metastore, "refresh", database, "--json")
    assert result.exit_code == ExitCode.PARTLY_DONE, result.output
    outcomes = {each["table"]: (each["outcome"], tuple(sorted(each["partitions"]))) for each in objects(result)}
    assert outcomes == {"one": ("done", ()), "many": ("done", ("p=1", "p=2")), "broken": ("failed", ())}
    assert healths(spark_metastore, database) == {"one": 100, "many": 100, "broken": 0}

    again = run(spark_metastore, "refresh", database, "--json")
    assert (again.exit_code, again.stdout) == (0, "")  # the broken table waits, and nothing else is stale
    assert "failed 1 times in a row" in run(spark_metastore, "refresh", database, "--dry-run").stdout

    runs = objects(run(spark_metastore, "runs", database, "--json"))
    assert sorted((each["table"], each["outcome"]) for each in runs) == [
        ("broken", "failed"),
        ("many", "done"),
        ("one", "done"),
    ]
    done = next(each for each in runs if each["table"] == "many")
    assert (done["rows"], done["why"]["staleness"]) == (20, 1.0)
    assert "broken" in next(each for each in runs if each["outcome"] == "failed")["reason"]


def test_one_changed_partition_is_one_run(spark: Any, spark_metastore: str, database: str, tmp_path: Path) -> None:
    run(spark_metastore, "refresh", f"{database}.many")
    spark.sql(f"INSERT INTO {database}.many PARTITION (p=2) VALUES (11), (12)")
    (work,) = objects(run(spark_metastore, "refresh", f"{database}.many", "--json"))
    assert (work["partitions"], work["outcome"]) == (["p=2"], "done")
    with client.connect(spark_metastore) as service:
        found = {each.partition: each.health for each in service.health.partitions(f"{database}.many")}
    assert found["p=2"].now.rows == 12


@pytest.mark.slow
def test_the_guard_looks_at_what_a_refresh_writes(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path
) -> None:
    write(tmp_path / "data" / "one", 2_000, "part-1")
    run(spark_metastore, "refresh", f"{database}.one")
    spark.sql(f"INSERT INTO {database}.one SELECT CAST(id AS INT) FROM range(60000)")
    run(spark_metastore, "refresh", f"{database}.one")
    with client.connect(spark_metastore) as service:
        (held,) = service.pending.listed(database, "one")
        assert "rows" in held.reason.text
        (column,) = service.table_statistics(f"{database}.one", ["n"])
        assert column.data.high == 1_999  # type: ignore[union-attr]


@pytest.mark.slow
def test_files_that_no_metastore_was_told_of_are_found_by_a_look(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path
) -> None:
    run(spark_metastore, "refresh", f"{database}.one")
    write(tmp_path / "data" / "one", 5, "part-1")
    assert healths(spark_metastore, f"{database}.one") == {"one": 100}
    assert run(spark_metastore, "refresh", f"{database}.one", "--json").stdout == ""  # it was looked at a moment ago
    (work,) = objects(run(spark_metastore, "refresh", f"{database}.one", "--look-every", "0s", "--json"))
    assert (work["look"], work["outcome"], work["rows"]) == (True, "done", 15)


@pytest.mark.slow
def test_locks_preferences_and_windows_are_respected(spark: Any, spark_metastore: str, database: str) -> None:
    with client.connect(spark_metastore) as service:
        service.locks.lock(LockedObject(DatabaseName("hive", database), "one"), reason="month end")
    spark.sql(f"ALTER TABLE {database}.many SET TBLPROPERTIES ('skip.stats.autoupdate' = 'true')")
    dry = run(spark_metastore, "refresh", f"{database}.*", "--dry-run").stdout
    assert f"left out: {database}.one is locked" in dry
    assert f"left out: {database}.many is left out of automatic analyses" in dry
    result = run(spark_metastore, "refresh", f"{database}.one", "--json")
    assert (result.exit_code, result.stdout) == (0, "")
    with client.connect(spark_metastore) as service:
        service.locks.unlock(LockedObject(DatabaseName("hive", database), "one"))
    hour = datetime.now(UTC).hour
    closed, opened = (f"{(hour + of) % 24:02}:00-{(hour + of + 3) % 24:02}:00 UTC" for of in (11, 23))
    result = run(spark_metastore, "refresh", f"{database}.one", "--window", closed, "--json")
    assert (result.exit_code, result.stdout) == (0, "")
    (work,) = objects(run(spark_metastore, "refresh", f"{database}.one", "--window", opened, "--json"))
    assert work["outcome"] == "done"


@pytest.mark.slow
def test_an_error_of_spark_itself_ends_its_own_table_alone(
    spark: Any, spark_metastore: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = collector.analyze

    def analyze(session: Any, name: str, **options: Any) -> Any:
        if "many" in name:
            session.sql("SELECT no_such_column FROM range(1)").collect()
        return real(session, name, **options)

    monkeypatch.setattr(collector, "analyze", analyze)
    result = run(spark_metastore, "refresh", database, "--json")
    found = {each["table"]: each for each in objects(result)}
    assert {table: each["outcome"] for table, each in found.items()} == {
        "one": "done",
        "many": "failed",
        "broken": "failed",
    }
    assert "no_such_column" in found["many"]["message"]


def test_what_is_malformed_is_said(spark_metastore: str) -> None:
    for option, text in (("--budget", "long"), ("--window", "noon"), ("--look-every", "1")):
        result = run(spark_metastore, "refresh", option, text)
        assert result.exit_code != 0
