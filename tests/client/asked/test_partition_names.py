"""Partitions are found by the values that people name, whatever text the metastore has for them."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats import client
from hmstats.cli.main import app
from hmstats.client.asked.partition_names import existing_names
from hmstats.errors import StatementError
from hmstats.model.statistics.answers import Bounds
from hmstats.wire.idl import hive_metastore as api

STORED = [("01", "1.50"), ("2", "2"), ("03", "1"), ("3", "1"), ("x", "1"), ("4", "7"), ("04", "7"), ("004", "7")]


@pytest.fixture
def table(our_metastore: Metastore) -> str:
    """A table of keys of numbers, some of whose partitions are stored as a folder might be called."""
    keys = [api.FieldSchema(name="Month", type="int"), api.FieldSchema(name="rate", type="decimal(5,2)")]
    made = api.Table(
        tableName="t",
        dbName=our_metastore.database,
        owner="tester",
        sd=our_metastore.storage({"l": "bigint"}),
        partitionKeys=keys,
        parameters={},
        tableType="EXTERNAL_TABLE",
    )
    ask = our_metastore.client()
    ask.create_table(made)
    our_metastore.add_partitions(*STORED, columns={"l": "bigint"})
    for number, (month, rate) in enumerate(STORED):
        column = statistics_of("l", lowValue=0, highValue=number + 100, numNulls=0, numDVs=number + 1)
        name = f"month={month}/rate={rate}"
        assert ask.update_partition_column_statistics(statistics(our_metastore, column, partition=name))
    return f"{our_metastore.database}.t"


@pytest.fixture
def service(our_metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(address(our_metastore)) as found:
        yield found


def address(metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{metastore.port}"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["month=1/rate=1.5"], ["month=01/rate=1.50"]),
        (["rate=1.500/MONTH=001"], ["month=01/rate=1.50"]),
        (["month=02/rate=2.0"], ["month=2/rate=2"]),
        (["month=3/rate=1"], ["month=3/rate=1"]),
        (["month=03/rate=1"], ["month=03/rate=1"]),
        (["month=x/rate=1.00"], ["month=x/rate=1"]),
        (["month=1/rate=1.5", "month=2/rate=2", "month=01/rate=1.50"], ["month=01/rate=1.50", "month=2/rate=2"]),
        ([], []),
    ],
)
def test_a_partition_is_found_by_its_values(
    service: client.Metastore, table: str, texts: Sequence[str], expected: Sequence[str]
) -> None:
    assert existing_names(service, service.existing_table(table), texts) == expected


def test_bounds_of_partition_keys_are_those_of_all_values_or_none(service: client.Metastore, table: str) -> None:
    asked = service.table(table)
    assert asked.bounds("rate") == Bounds(Decimal(1), Decimal(7), exact=True)
    with pytest.raises(
        StatementError, match=r"partition key month of .*\.t has no bounds: not every value of it is of the type int"
    ):
        asked.bounds("month")
    assert asked.bounds("month", partitions=["month=04/rate=7", "month=1/rate=1.5"]) == Bounds(1, 4, exact=True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("month=9/rate=1", "has no partition month=9/rate=1"),
        ("month=1/rate=1.51", "has no partition"),
        ("month=+4/rate=7.0", "has 3 partitions with the values of month=\\+4/rate=7.0: "),
    ],
)
def test_what_is_no_partition_or_several_is_refused(
    service: client.Metastore, table: str, text: str, sentence: str
) -> None:
    with pytest.raises(StatementError, match=sentence):
        existing_names(service, service.existing_table(table), [text])


def test_a_name_without_each_key_is_refused(service: client.Metastore, table: str) -> None:
    expected = "t: a partition must have a value for each of month, rate, and no more, found"
    with pytest.raises(StatementError, match=expected):
        existing_names(service, service.existing_table(table), ["month=1"])


def test_a_table_without_partitions_is_said(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("plain")
    with pytest.raises(StatementError, match="has no partitions, so none is named month=1"):
        existing_names(service, service.existing_table(f"{our_metastore.database}.plain"), ["month=1"])


def run(metastore: Metastore, *arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments, "--metastore", address(metastore)])


def test_show_finds_it(our_metastore: Metastore, table: str) -> None:
    result = run(our_metastore, "show", table, "--partition", "month=1/rate=1.5")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{table} month=01/rate=1.50")


def test_ask_finds_it(our_metastore: Metastore, table: str) -> None:
    result = run(our_metastore, "ask", "bounds", table, "l", "--partition", "month=1/rate=1.5")
    assert (result.exit_code, result.stdout.split(",")[0]) == (0, "from 0 to 100"), result.output
    two = ["--partition", "month=1/rate=1.5", "--partition", "month=2/rate=2.00"]
    assert run(our_metastore, "ask", "bounds", table, "l", *two).stdout.startswith("from 0 to 101")


def test_compare_finds_it(our_metastore: Metastore, table: str) -> None:
    result = run(our_metastore, "compare", f"{table}/month=1/rate=1.5", f"{table}/month=01/rate=1.50")
    assert result.exit_code == 0, result.output
