"""`hmstats compare`: what differs is marked, and the exit code says whether anything does."""

import json
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.errors import HmstatsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def filled(our_metastore: Metastore) -> Metastore:
    """Two tables of one column, whose second half has twice as many distinct values; a partitioned one."""
    fill(our_metastore, 100)
    return our_metastore


@pytest.fixture
def other(other_metastore: Metastore) -> Metastore:
    """Another server with the same, where each partition has 110 distinct values, and nothing else."""
    fill(other_metastore, 110)
    return other_metastore


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
    assert not any("high" in line for line in lines)
    assert last == "1 number differs"
    assert max(map(len, lines)) <= 80
    everything = run(filled, f"{filled.database}.a", f"{filled.database}.b", "--all").stdout.splitlines()
    assert ["≠", "l", "ndv", "1,000", "2,000", "2"] in [line.split() for line in everything]
    assert ["l", "high", "9", "9"] in [line.split() for line in everything]
    assert everything[-1] == last
    as_json = run(filled, f"{filled.database}.a", f"{filled.database}.b", "--all", "--json").stdout.splitlines()
    assert len(as_json) > 1


def test_the_same_differs_nowhere(filled: Metastore) -> None:
    result = run(filled, f"{filled.database}.p/k=1", f"{filled.database}.p/k=2")
    assert result.exit_code == 0
    assert result.stdout == "0 numbers differ\n"


@pytest.mark.slow
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


@pytest.fixture
def earlier(filled: Metastore, tmp_path: Path) -> str:
    """A file of the tables as they were; then table a, partition 2 and a partition more change."""
    path = str(tmp_path / "before.json")
    exported = CliRunner().invoke(app, ["export", path, f"{filled.database}.*", "--metastore", address(filled)])
    assert exported.exit_code == 0, exported.output
    filled.add_partitions(("3",), table="p", columns={"l": "bigint"})
    with client.connect(address(filled)) as service:
        service.put_table_statistics(TableName("hive", filled.database, "a"), numbers(1_500))
        sets = (numbers(50 * number, f"k={number}") for number in (2, 3))
        service.put_partition_statistics(TableName("hive", filled.database, "p"), sets)
    return path


def changes(result: Result) -> list[tuple[str, str, object, object]]:
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return [(each["of"].partition(".")[2], each["statistic"], each["left"], each["right"]) for each in found]


NEW = [
    ("p k=3", "type", None, "bigint"),
    ("p k=3", "ndv", None, 150),
    ("p k=3", "nulls", None, 0),
    ("p k=3", "low", None, "0"),
    ("p k=3", "high", None, "9"),
]


def test_a_file_is_a_metastore_at_another_time(filled: Metastore, earlier: str) -> None:
    result = run(filled, earlier, address(filled), "--json")
    assert result.exit_code == 1
    assert changes(result) == [("a", "ndv", 1_000, 1_500), *NEW]
    assert run(filled, earlier, address(filled)).stdout.splitlines()[0] == f"{filled.database}.a"
    assert changes(run(filled, address(filled), earlier, "--json"))[0] == ("a", "ndv", 1_500, 1_000)


def test_a_table_and_a_partition_of_a_file(filled: Metastore, earlier: str, tmp_path: Path) -> None:
    table = f"{filled.database}.p"
    assert changes(run(filled, f"{earlier}/{table}", table, "--json")) == NEW
    same = run(filled, f"{earlier}/{table}/K=1", f"{table}/k=1", "--all")
    assert (same.exit_code, same.stdout.splitlines()[0]) == (0, f"{table} k=1 and {table} k=1")
    other = run(filled, f"{earlier}/{filled.database}.a", f"{filled.database}.b", "--json")
    assert [each[1:] for each in changes(other)] == [("ndv", 1_000, 2_000)]
    assert json.loads(other.stdout)["of"] == f"{filled.database}.a and {filled.database}.b"


def test_two_files(filled: Metastore, earlier: str, tmp_path: Path) -> None:
    later = str(tmp_path / "after.parquet")
    CliRunner().invoke(app, ["export", later, f"{filled.database}.p", "--metastore", address(filled)])
    result = run(filled, earlier, later, "--json")
    gone = [each for each in changes(result) if each[0] in ("a", "b")]
    assert [each[1:] for each in gone if each[1] == "ndv"] == [("ndv", 1_000, None), ("ndv", 2_000, None)]
    assert [each for each in changes(result) if each not in gone] == NEW
    assert run(filled, earlier, earlier).stdout == "0 numbers differ\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{file}", "{database}.a"], "both sides must be metastores, or both tables: found one of each"),
        (["{file}/{database}.c", "{database}.a"], "table .*c is not in .*before.json"),
        (["{file}/{database}.p/k=9", "{database}.p/k=1"], "has no partition k=9 in .*before.json"),
        (["nope.parquet", "nope.parquet"], "nope.parquet cannot be read: No such file"),
    ],
)
def test_what_a_file_has_not_is_one_sentence(
    filled: Metastore, earlier: str, arguments: list[str], problem: str
) -> None:
    result = run(filled, *(each.format(database=filled.database, file=earlier) for each in arguments))
    assert result.stdout == ""
    assert result.exception is not None
    with pytest.raises(HmstatsError, match=problem):
        raise result.exception


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
    assert str(result.exception) == "both sides must be metastores, or both tables: found one of each"
