"""`hmstats compare`: what differs is marked, and the exit code says whether anything does."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.errors import StatementError
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def filled(our_metastore: Metastore) -> Metastore:
    """Two tables of one column, whose second half has twice as many distinct values; a partitioned one."""
    fill(our_metastore, 100)
    return our_metastore


@pytest.fixture
def other(our_metastore: Metastore, tmp_path: Path) -> Iterator[Metastore]:
    """Another server with the same, where each partition has 110 distinct values, and nothing else."""
    with serving(tmp_path) as port:
        made = Metastore("hmstats-sqlite", port, 4.0, database=our_metastore.database)
        with made.clients:
            made.client().create_database(api.Database(name=made.database, description="", parameters={}))
            fill(made, 110)
            yield made


def fill(metastore: Metastore, of_partitions: int) -> None:
    for table in ("a", "b"):
        metastore.table(table, {"l": "bigint"})
    metastore.table("p", {"l": "bigint"}, keys=("k",))
    metastore.add_partitions(("1",), ("2",), table="p", columns={"l": "bigint"})
    with client.connect(address(metastore)) as service:
        for table, ndv in (("a", 1_000), ("b", 2_000)):
            service.put_table_statistics(TableName("hive", metastore.database, table), numbers(ndv))
        sets = (numbers(of_partitions, f"k={number}") for number in (1, 2))
        service.put_partition_statistics(TableName("hive", metastore.database, "p"), sets)


def numbers(ndv: int, partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(low=0, high=9, nulls=0, ndv=ndv)
    return StatisticsSet((ColumnStatistics("l", "bigint", data),), partition)


def address(metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{metastore.port}"


def run(metastore: Metastore, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", "--metastore", address(metastore), *arguments])


def test_two_tables_side_by_side(filled: Metastore) -> None:
    result = run(filled, f"{filled.database}.a", f"{filled.database}.b")
    assert result.exit_code == 1
    title, *_, last = lines = result.stdout.splitlines()
    assert title == f"{filled.database}.a and {filled.database}.b"
    assert ["≠", "l", "ndv", "1,000", "2,000", "2"] in [line.split() for line in lines]
    assert ["l", "high", "9", "9"] in [line.split() for line in lines]
    assert last == "1 number differs"
    assert max(map(len, lines)) <= 80


def test_the_same_differs_nowhere(filled: Metastore) -> None:
    result = run(filled, f"{filled.database}.p/k=1", f"{filled.database}.p/k=2")
    assert result.exit_code == 0
    assert "≠" not in result.stdout
    assert result.stdout.endswith("0 numbers differ\n")


def test_two_servers_show_what_differs(filled: Metastore, other: Metastore) -> None:
    result = run(filled, address(filled), address(other), "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    ours = [each for each in found if each["of"].startswith(f"{filled.database}.")]
    assert [(each["of"], each["statistic"], each["left"], each["right"]) for each in ours] == [
        (f"{filled.database}.p k=1", "ndv", 100, 110),
        (f"{filled.database}.p k=2", "ndv", 100, 110),
    ]
    assert ours[0]["q_error"] == pytest.approx(1.1)
    one = run(filled, f"{filled.database}.a", f"{address(other)}/{filled.database}.a", "--json")
    assert (one.exit_code, one.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{}.a", "{}.nope"], "nope is not in the metastore"),
        (["{}.a", "{}.b/k=1"], "has no partitions, so none is named k=1"),
        (["{}.a", "/k=1"], "a side must be DB.TABLE, .* found '/k=1'"),
        (["{}.a", "thrift://127.0.0.1:1/{}.a"], "no metastore can be reached"),
    ],
)
def test_bad_input_is_one_sentence(filled: Metastore, arguments: list[str], problem: str) -> None:
    result = run(filled, *(each.format(filled.database) for each in arguments))
    assert result.stdout == ""
    assert result.exception is not None
    with pytest.raises(type(result.exception), match=problem):
        raise result.exception


def test_a_table_is_not_compared_with_a_metastore(filled: Metastore) -> None:
    result = run(filled, f"{filled.database}.a", address(filled))
    assert isinstance(result.exception, StatementError)
    assert str(result.exception) == "compare a metastore with a metastore, or a table with a table"
