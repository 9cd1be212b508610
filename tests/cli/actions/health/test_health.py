"""`hmstats health`: what to do first, a row for each table, and exit codes for scripts."""

import json
import shlex
from datetime import UTC, datetime, timedelta

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.client.runs import RunCalls
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

sqlite = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
COLUMNS = {"l": "bigint"}
SIZE = {"numRows": "1000", "numFiles": "3", "totalSize": "9000"}


@pytest.fixture
def metastore(our_metastore: Metastore) -> Metastore:
    """Tables `missing` and `made`, and `parts` with a partition that has statistics and one that has none."""
    our_metastore.table("missing", COLUMNS, parameters=SIZE)
    our_metastore.table("made", COLUMNS, parameters=SIZE)
    our_metastore.table("parts", COLUMNS, keys=("p",))
    our_metastore.add_partitions(("1",), ("2",), table="parts", columns=COLUMNS)
    column = ColumnStatistics("l", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=9))
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        service.put_table_statistics(TableName("hive", our_metastore.database, "made"), StatisticsSet((column,)))
        parts = TableName("hive", our_metastore.database, "parts")
        service.put_partition_statistics(parts, [StatisticsSet((column,), "p=2")])
    return our_metastore


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, ["health", "--metastore", address, *arguments])


@sqlite
def test_the_worst_comes_first_with_what_to_do(metastore: Metastore) -> None:
    result = run(metastore, metastore.database)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == f"to do: hmstats refresh {metastore.database}.missing"
    assert lines[1] == f"to do: hmstats refresh {metastore.database}.parts"
    assert [each.split()[0].split(".")[1] for each in lines[-3:]] == ["missing", "parts", "made"]
    assert "no statistics" in lines[-3]
    assert "unchanged" in lines[-1]


@sqlite
def test_what_to_do_can_be_copied_to_a_shell(metastore: Metastore) -> None:
    metastore.table("by moment", COLUMNS, keys=("at",))
    metastore.add_partitions(("2024-01-01 12:00:00",), table="by moment", columns=COLUMNS)
    lines = run(metastore, f"{metastore.database}.`by moment`", "--partitions").stdout.splitlines()
    table, partition = f"{metastore.database}.`by moment`", "at=2024-01-01 12%3A00%3A00"
    assert lines[0] == f"to do: hmstats analyze '{table}' --partition '{partition}'"
    assert shlex.split(lines[0])[4:] == [table, "--partition", partition]
    whole = run(metastore, f"{metastore.database}.*").stdout
    assert f"to do: hmstats refresh '{table}'\n" in whole


@sqlite
def test_what_no_analysis_reads_is_not_to_be_done(metastore: Metastore) -> None:
    for name in ("a", "b", "c", "d"):
        metastore.table(f"hudi_{name}", COLUMNS, parameters={"spark.sql.sources.provider": "hudi"})
    lines = run(metastore, metastore.database).stdout.splitlines()
    to_do = [each.rpartition(".")[2] for each in lines if each.startswith("to do: ")]
    assert to_do == ["missing", "parts"]
    refused = [each for each in lines if each.startswith("cannot be refreshed: ")]
    assert len(refused) == 4
    assert f"{metastore.database}.hudi_a is of the format Hudi, which is not supported: its folder" in refused[0]
    assert refused[3] == "cannot be refreshed: 1 more"
    assert all(any(each.startswith(f"{metastore.database}.hudi_{name}") for each in lines) for name in "abcd")


@sqlite
def test_programs_learn_what_no_analysis_reads(metastore: Metastore) -> None:
    metastore.table("hudi", COLUMNS, parameters={"spark.sql.sources.provider": "hudi"})
    lines = run(metastore, metastore.database, "--json").stdout.splitlines()
    reasons = {found["table"]: found["refused"] for found in map(json.loads, lines)}
    assert reasons.pop("hudi").startswith("is of the format Hudi, which is not supported: its folder")
    assert reasons == {"missing": None, "parts": None, "made": None}


@sqlite
def test_programs_get_an_object_a_line(metastore: Metastore) -> None:
    found = [json.loads(line) for line in run(metastore, f"{metastore.database}.*", "--json").stdout.splitlines()]
    assert [(each["table"], each["health"], each["reason"]) for each in found] == [
        ("missing", 0, "missing"),
        ("parts", 50, "missing"),
        ("made", 100, "fresh"),
    ]
    assert (found[0]["rows"], found[0]["analyzed_at"], found[1]["stale_partitions"]) == (1000, None, 1)


@sqlite
def test_partitions_of_a_table(metastore: Metastore) -> None:
    result = run(metastore, f"{metastore.database}.parts", "--partitions", "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["partition"], each["health"]) for each in found] == [("p=1", 0), ("p=2", 100)]
    refused = run(metastore, f"{metastore.database}.*", "--partitions")
    assert refused.exit_code != 0


@sqlite
def test_a_name_of_nothing_is_not_healthy(metastore: Metastore) -> None:
    for arguments, sentence in (
        ([f"{metastore.database}.nope", "--below", "80"], "nope is not in the metastore"),
        (["nosuch", "--below", "80"], "database nosuch is not in the metastore at"),
        ([f"{metastore.database}.made", "--partitions"], "made has no partitions"),
    ):
        result = run(metastore, *arguments)
        assert isinstance(result.exception, StatementError)
        assert sentence in str(result.exception)
    assert run(metastore, "nosuch.*", "--below", "80").exit_code == ExitCode.DONE


@sqlite
def test_a_script_learns_whether_anything_is_below(metastore: Metastore) -> None:
    assert run(metastore, metastore.database, "--below", "80").exit_code == ExitCode.NO
    fine = run(metastore, f"{metastore.database}.made", "--below", "80")
    assert fine.exit_code == ExitCode.DONE
    assert fine.stdout == "nothing has a health below 80\n"


@sqlite
def test_a_database_without_tables_has_none_to_list(our_metastore: Metastore) -> None:
    assert run(our_metastore, our_metastore.database).stdout == "no tables\n"
    our_metastore.table("parts", COLUMNS, keys=("p",))
    assert run(our_metastore, f"{our_metastore.database}.parts", "--partitions").stdout == "no partitions\n"


@sqlite
def test_a_list_says_that_there_are_more(metastore: Metastore) -> None:
    assert "there are more" in run(metastore, metastore.database, "--limit", "2").stdout
    assert "there are more" not in run(metastore, metastore.database, "--limit", "3").stdout


@sqlite
@pytest.mark.parametrize("name", ["nosuch", "nosuch.t"])
def test_a_name_of_nothing_is_not_refreshed(metastore: Metastore, name: str) -> None:
    address = f"thrift://127.0.0.1:{metastore.port}"
    for more in (["--dry-run"], []):
        result = CliRunner().invoke(app, ["refresh", name, *more, "--metastore", address])
        assert isinstance(result.exception, StatementError)
        assert "nosuch" in str(result.exception)


@sqlite
def test_a_refresh_with_nothing_to_do_says_so_and_what_it_left_out(metastore: Metastore) -> None:
    address, name = f"thrift://127.0.0.1:{metastore.port}", f"{metastore.database}.missing"
    now = datetime.now(UTC)
    closed = f"{now + timedelta(hours=2):%H:%M}-{now + timedelta(hours=3):%H:%M}"

    def refreshed(*more: str) -> Result:
        return CliRunner().invoke(app, ["refresh", name, "--metastore", address, *more])

    outside = refreshed("--window", closed)
    assert (outside.stdout, outside.exit_code) == ("nothing is refreshed outside of --window\n", 0)
    CliRunner().invoke(app, ["prefs", "set", name, f"window={closed}", "--metastore", address])
    left_out = refreshed()
    reason = f"nothing is to be refreshed\nleft out: {name} has a window of its own: {closed}\n"
    assert (left_out.stdout, left_out.exit_code) == (reason, 0)
    assert refreshed("--json").stdout == ""


@sqlite
@pytest.mark.parametrize(
    ("kind", "code", "word"), [("MetaException", 3, "failed"), ("NoSuchObjectException", 0, "left out")]
)
def test_a_table_that_may_not_be_refreshed_is_a_failure_and_one_that_is_gone_is_none(
    metastore: Metastore, monkeypatch: pytest.MonkeyPatch, kind: str, code: int, word: str
) -> None:
    def refused(*_: object) -> None:
        raise CallRefused("begin_statistics_run", kind, "no")

    monkeypatch.setattr(RunCalls, "begin", refused)
    address, name = f"thrift://127.0.0.1:{metastore.port}", f"{metastore.database}.missing"
    result = CliRunner().invoke(app, ["refresh", name, "--metastore", address])
    assert result.exit_code == code
    assert result.stdout == f"{name} {word} in 0.0 s: begin_statistics_run: {kind}: no\n"
