"""`hmstats history`, `show --as-of`, `diff` and `restore`, one after the other over one table."""

import json
import time

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.errors import CallRefused, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.people.times import past_ms, utc_text

sqlite = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
MADE = Provenance(ndv_standard_error=0.016, sample_fraction=1.0)


def run(metastore: Metastore, command: str, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, [command, "--metastore", address, *arguments], catch_exceptions=True)


def put(service: client.Metastore, name: TableName, ndv: int, nulls: int) -> str:
    """Write statistics; a time after it and before the next write."""
    data = LongStatistics(low=1, high=9, nulls=nulls, ndv=ndv)
    service.put_table_statistics(name, StatisticsSet((ColumnStatistics("l", "bigint", data, None, MADE),)))
    time.sleep(0.005)
    at_ms = int(time.time() * 1000)
    time.sleep(0.005)
    return utc_text(at_ms)


@sqlite
def test_a_table_is_looked_at_compared_and_put_back(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table()
    name = TableName("hive", our_metastore.database, "t")
    first = put(service, name, 1_000, 5)
    put(service, name, 1_010, 50)

    listed = [json.loads(line) for line in run(our_metastore, "history", name.short, "l", "--json").output.splitlines()]
    assert [each["columns"] for each in listed] == [["l"], ["l"]]
    assert "oldest time" in run(our_metastore, "history", name.short).output

    (row,) = [
        json.loads(line)
        for line in run(our_metastore, "show", name.short, "--as-of", first, "--json").output.splitlines()
    ]
    assert (row["column"], row["nulls"], row["at"]) == ("l", "5", first)
    assert "1000" in run(our_metastore, "show", name.short, "--as-of", first).output

    changed = run(our_metastore, "diff", name.short, "--from", first, "--json")
    assert changed.exit_code == ExitCode.NO
    (only,) = [json.loads(line) for line in changed.output.splitlines()]  # 1 % more distinct values are chance
    assert (only["statistic"], only["from"], only["to"], only["factor"]) == ("nulls", 5, 50, 10)
    assert "1 number has changed" in run(our_metastore, "diff", name.short).output

    planned = json.loads(run(our_metastore, "restore", name.short, "--as-of", first, "--dry-run", "--json").output)
    assert (planned["dry_run"], planned["written"], planned["removed"]) == (True, 1, 0)
    planned = run(our_metastore, "restore", name.short, "--as-of", first, "--dry-run")
    assert ": would restore 1 column statistics, remove 0, change the parameters of " in planned.output
    assert run(our_metastore, "diff", name.short, "--from", first).exit_code == ExitCode.NO
    assert "restored 1 column statistics" in run(our_metastore, "restore", name.short, "--as-of", first).output
    assert run(our_metastore, "diff", name.short, "--from", first).exit_code == 0


@sqlite
def test_a_table_has_the_statistics_of_its_partitions(our_metastore: Metastore, service: client.Metastore) -> None:
    """As `hmstats show` has those of now."""
    our_metastore.table(keys=("p",))
    our_metastore.add_partitions(("1",), ("2",))
    name = TableName("hive", our_metastore.database, "t")
    for partition, high in (("p=1", 5), ("p=2", 9)):
        data = LongStatistics(low=high - 2, high=high, nulls=1, ndv=3)
        service.put_partition_statistics(name, [StatisticsSet((ColumnStatistics("l", "bigint", data),), partition)])
        service.put_partition_parameters(name, ("p",), {partition: {"numRows": "10"}})
    time.sleep(0.005)
    at = utc_text(int(time.time() * 1000))
    time.sleep(0.005)
    our_metastore.client().drop_partition(our_metastore.database, "t", ["2"], deleteData=True)
    past = run(our_metastore, "show", name.short, "--as-of", at, "--json").output
    (row,) = [json.loads(line) for line in past.splitlines()]
    assert (row["of"], row["rows"], row["nulls"], row["min"], row["max"]) == (name.short, 20, "2", "3", "9")
    assert "20 rows" in run(our_metastore, "show", name.short, "--as-of", at).output


@pytest.mark.slow
@sqlite
def test_a_whole_database_is_restored_but_for_newer_tables(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("a")
    name = TableName("hive", our_metastore.database, "a")
    first = put(service, name, 10, 0)
    time.sleep(1.1)  # a table's time of creation is in seconds
    our_metastore.table("b")
    service.delete_statistics(name)
    done = run(our_metastore, "restore", our_metastore.database, "--as-of", first)
    assert done.exit_code == ExitCode.PARTLY_DONE
    assert "a as of" in done.output
    assert "b did not exist" in done.output


@sqlite
def test_a_locked_table_of_a_database_is_named_and_skipped(our_metastore: Metastore, service: client.Metastore) -> None:
    for table in "ab":
        our_metastore.table(table)
        written = put(service, TableName("hive", our_metastore.database, table), 10, 0)
    service.delete_statistics(TableName("hive", our_metastore.database, "b"))
    locked = f"{our_metastore.database}.a"
    run(our_metastore, "lock", locked)
    done = run(our_metastore, "restore", our_metastore.database, "--as-of", written)
    assert done.exit_code == ExitCode.PARTLY_DONE
    assert done.stderr.startswith(f"{locked}: ")
    assert f"statistics of table {locked} are not restored: a lock covers all or some of them" in done.stderr
    assert done.stdout.startswith(f"{our_metastore.database}.b as of {written}: restored ")
    alone = run(our_metastore, "restore", locked, "--as-of", written)
    assert isinstance(alone.exception, CallRefused)


@sqlite
def test_a_misspelt_column_is_told_though_the_whole_table_was_restored(
    our_metastore: Metastore, service: client.Metastore
) -> None:
    our_metastore.table()
    name = TableName("hive", our_metastore.database, "t")
    first = put(service, name, 1_000, 5)
    put(service, name, 2_000, 5)
    run(our_metastore, "restore", name.short, "--as-of", first)
    refused = run(our_metastore, "history", name.short, "nope")
    assert isinstance(refused.exception, StatementError)
    assert f"column nope must be one of {name.short}" in str(refused.exception)
    assert "set_statistics" in run(our_metastore, "history", name.short, "L").output
    our_metastore.client().drop_table(name.database, name.table, True)
    assert "restore_statistics" in run(our_metastore, "history", name.short, "l").output


@sqlite
def test_what_makes_no_sense_is_refused(our_metastore: Metastore) -> None:
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    for arguments in (
        ("restore", "--as-of", "2h ago"),
        ("restore", table, "--all", "--as-of", "2h ago"),
        ("restore", table, "--as-of", "yesterday"),
        ("restore", "nosuch", "--as-of", "1s ago"),
        ("restore", table, "--as-of", "1999-01-01T00:00:00Z"),
        ("show", table, "--as-of", "1s ago", "--csv"),
    ):
        assert run(our_metastore, *arguments).exit_code != 0


@sqlite
def test_a_change_is_from_the_earlier_time_to_the_later(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table()
    name = TableName("hive", our_metastore.database, "t")
    before = utc_text(int(time.time() * 1000))
    first = put(service, name, 1_000, 5)
    for times in (("--from", first, "--to", before), ("--from", "2999-01-01T00:00:00Z"), ("--to", before)):
        refused = run(our_metastore, "diff", name.short, *times)
        assert isinstance(refused.exception, StatementError)
        assert "--from must not be later than --to, found" in str(refused.exception)


def test_times_are_iso_with_a_zone_or_so_long_ago() -> None:
    now = 1_700_000_000.5
    assert past_ms("--as-of", "2h ago", now) == 1_699_992_800_500
    assert past_ms("--as-of", "90s", now) == 1_699_999_910_500
    assert past_ms("--as-of", "2023-11-14T23:13:20+01:00", now) == 1_700_000_000_000
    assert past_ms("--as-of", utc_text(1_700_000_000_123), now) == 1_700_000_000_123
    for text in ("2023-11-14T23:13:20", "yesterday", "2 years ago", ""):
        with pytest.raises(StatementError, match="--as-of must be a time with a zone"):
            past_ms("--as-of", text, now)
