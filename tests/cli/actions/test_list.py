"""`hmstats list`: which tables a metastore has, which have statistics, and how many calls that takes."""

import json
from collections import Counter
from dataclasses import replace
from time import time
from typing import Any

import pytest
from tests.client.call_counts import calls
from tests.fixtures.metastores import ALONE, Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.client.connection.batches import TABLES_A_CALL
from hmstats.client.tables.listing import find_tables
from hmstats.errors import StatementError
from hmstats.model.catalog.names import table_name
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.idl import hive_metastore as api

__all__ = ["calls"]
COLUMNS = {"age": "int", "session": "bigint", "tags": "array<string>"}
MARKS = '{"BASIC_STATS":"true","COLUMN_STATS":{"age":"true"}}'
PLACES = pytest.mark.parametrize("metastore", [*ALONE, pytest.param("hive-4.0", marks=pytest.mark.hive)], indirect=True)
ON_SQLITE = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def numbers(column: str, partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(nulls=0, ndv=3, low=1, high=9)
    return StatisticsSet((ColumnStatistics(column, COLUMNS[column], data),), partition)


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, ["list", "--metastore", address, *arguments])


def rows(result: Result) -> dict[str, dict[str, Any]]:
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return {each["table"].partition(".")[2]: each for each in found}


def fill(metastore: Metastore) -> None:
    """A table with statistics of a column, one with two analysed partitions of three, an empty one, and a view."""
    metastore.table("alone", COLUMNS, parameters={"numRows": "9"})
    metastore.table("bare", COLUMNS)
    metastore.table("by_day", COLUMNS, keys=("ds",))
    metastore.add_partitions(("1",), ("2",), ("3",), table="by_day", columns=COLUMNS)
    view = api.Table(
        tableName="seen",
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="VIRTUAL_VIEW",
        viewOriginalText="select 1",
        viewExpandedText="select 1",
    )
    metastore.client().create_table(view)
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        name = table_name(metastore.database, "alone")
        service.put_table_statistics(name, numbers("age"))
        service.put_table_parameters(name, {"numRows": "9", "COLUMN_STATS_ACCURATE": MARKS})
        by_day = table_name(metastore.database, "by_day")
        service.put_partition_statistics(by_day, [numbers("age", f"ds={day}") for day in (1, 2)])


@PLACES
def test_the_tables_of_a_database(metastore: Metastore) -> None:
    fill(metastore)
    found = rows(run(metastore, f"{metastore.database}.*", "--json"))
    assert list(found) == ["alone", "bare", "by_day"]
    assert found["alone"] == {
        "table": f"{metastore.database}.alone",
        "partition_keys": [],
        "rows": 9,
        "columns": ["age", "session"],
        "accurate_columns": ["age"],
    }
    assert (found["bare"]["rows"], found["bare"]["accurate_columns"]) == (None, [])
    assert found["by_day"]["partition_keys"] == ["ds"]


@PLACES
def test_a_table_without_a_type(metastore: Metastore) -> None:
    """A Hive 4.0 fails at such a table in its own list of tables."""
    metastore.table("typed", {"a": "int"})
    storage = metastore.storage({"a": "int"})
    untyped = api.Table(dbName=metastore.database, tableName="untyped", sd=storage, partitionKeys=[], parameters={})
    metastore.client().create_table(untyped)
    try:
        assert [*rows(run(metastore, f"{metastore.database}.*", "--json"))] == ["typed", "untyped"]
        assert {"typed", "untyped"} <= rows(run(metastore, "--json")).keys()
    finally:
        metastore.client().drop_table(metastore.database, "untyped", True)


@PLACES
def test_the_details_of_each_table(metastore: Metastore) -> None:
    fill(metastore)
    found = rows(run(metastore, f"{metastore.database}.*", "--details", "--json"))
    assert {name: each["analyzed_columns"] for name, each in found.items()} == {
        "alone": ["age"],
        "bare": [],
        "by_day": ["age"],
    }
    assert (found["by_day"]["partitions"], found["by_day"]["analyzed_partitions"]) == (3, 2)
    assert (found["alone"]["partitions"], found["alone"]["analyzed_partitions"]) == (None, None)
    assert found["alone"]["written_at"] is not None
    assert found["bare"]["written_at"] is None
    assert (found["by_day"]["written_at"] is not None) == metastore.ours  # Hive has no call for all partitions


@ON_SQLITE
def test_a_table_for_people(our_metastore: Metastore) -> None:
    fill(our_metastore)
    database = our_metastore.database
    plain = run(our_metastore, f"{database}.*").stdout.splitlines()
    assert [line.split() for line in plain[-3:]] == [
        [f"{database}.alone", "9", "2", "1"],
        [f"{database}.bare", "-", "2", "0"],
        [f"{database}.by_day", "ds", "-", "2", "0"],
    ]
    detailed = run(our_metastore, f"{database}.*", "--details").stdout.splitlines()
    assert detailed[-1].split()[:-2] == [f"{database}.by_day", "ds", "-", "2", "0", "1", "3", "2"]
    assert detailed[-1].split()[-1] in ("s", "min")


@ON_SQLITE
def test_patterns(our_metastore: Metastore) -> None:
    fill(our_metastore)
    database = our_metastore.database
    assert list(rows(run(our_metastore, f"{database}.B*", f"`{database}`.`bare`", "--json"))) == ["bare", "by_day"]
    every = run(our_metastore, "--json")
    assert {f"{database}.{name}" for name in ("alone", "bare", "by_day")} <= {
        json.loads(line)["table"] for line in every.stdout.splitlines()
    }
    for wrong in (database, f"{database}.", ".x"):
        with pytest.raises(StatementError, match=r"must be named as DB.TABLE or DB.\*"):
            raised(run(our_metastore, wrong))
    with pytest.raises(StatementError, match=r"no table of the metastore at thrift://.* matches absent\.\*"):
        raised(run(our_metastore, "absent.*"))


def raised(result: Result) -> None:
    assert result.exit_code != 0
    assert result.exception is not None
    raise result.exception


@pytest.mark.slow
@ON_SQLITE
def test_a_page_of_tables_is_one_call(our_metastore: Metastore, calls: Counter[str]) -> None:
    many = TABLES_A_CALL + 5
    for number in range(many):
        our_metastore.table(f"t{number}", COLUMNS)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        assert len(list(find_tables(service, [f"{our_metastore.database}.*"]))) == many
    assert calls == {"get_table_meta": 1, "get_table_objects_by_name_req": 2}


@PLACES
@pytest.mark.slow
def test_details_take_as_many_calls_whatever_the_columns_and_partitions(
    metastore: Metastore, calls: Counter[str]
) -> None:
    wide = {f"c{number}": "int" for number in range(40)}
    taken = []
    for table, columns, days in (("small", {"c0": "int"}, 1), ("large", wide, 350)):
        metastore.table(table, columns, keys=("ds",))
        metastore.add_partitions(*((str(day),) for day in range(days)), table=table, columns=columns)
        with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
            data = LongStatistics(nulls=0, ndv=3, low=1, high=9)
            whole = StatisticsSet(tuple(ColumnStatistics(name, "int", data) for name in columns))
            sets = [replace(whole, partition=f"ds={day}") for day in range(days)]
            service.put_partition_statistics(table_name(metastore.database, table), sets)
            calls.clear()
            (found,) = find_tables(service, [f"{metastore.database}.{table}"], details=True)
        assert found.details is not None
        assert (len(found.details.columns), found.details.analyzed_partitions) == (len(columns), days)
        taken.append(Counter(calls))
    assert taken[0] == taken[1]
    assert sum(taken[0].values()) <= 7


@ON_SQLITE
def test_the_age_is_that_of_the_last_write(our_metastore: Metastore) -> None:
    begin = int(time())
    fill(our_metastore)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        found = {
            each.table.name.table: each.details
            for each in find_tables(service, [f"{our_metastore.database}.*"], details=True)
        }
    for table in ("alone", "by_day"):
        details = found[table]
        assert details is not None
        assert begin <= (details.written_at_seconds or 0) <= time()
