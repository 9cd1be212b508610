"""`hmstats export` and `hmstats import`: statistics move with all that is kept beside them."""

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.client.sending.transfer import entries
from hmstats.errors import InvalidInput, SettingsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.export.file import read
from hmstats.outlets.export.rows import Entry
from hmstats.sketch.accumulator import ColumnAccumulator

COLUMNS = {"l": "bigint", "s": "string"}
DAYS = ("1", "2", "a b")
NAMES = ("ds=1", "ds=2", "ds=a b")
ACCURATE = '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'
COUNTS = {"numRows": "3", "totalSize": "99", "COLUMN_STATS_ACCURATE": ACCURATE}

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def collected(values: Any) -> ColumnStatistics:
    accumulator = ColumnAccumulator.empty(Kind.LONG)
    accumulator.update(pa.array(values))
    assert accumulator.top_k is not None
    made = Provenance(exact=True, rows_seen=3, sample_fraction=1.0, tool="tests 1", ndv_standard_error=0.0)
    return ColumnStatistics("l", "bigint", accumulator.statistics(), accumulator.top_k.to_bytes(), made)


@pytest.fixture
def other(other_metastore: Metastore) -> Metastore:
    """Another server with the same tables and partitions, without the last one and without statistics."""
    tables(other_metastore, DAYS[:-1])
    return other_metastore


def tables(metastore: Metastore, days: tuple[str, ...]) -> None:
    metastore.table("one", COLUMNS)
    metastore.table("by_day", COLUMNS, keys=("ds",))
    metastore.add_partitions(*((day,) for day in days), table="by_day", columns=COLUMNS)


@pytest.fixture
def filled(our_metastore: Metastore) -> Metastore:
    tables(our_metastore, DAYS)
    one, by_day = (TableName("hive", our_metastore.database, name) for name in ("one", "by_day"))
    with client.connect(address(our_metastore)) as service:
        service.put_table_statistics(one, StatisticsSet((collected([1, 1, 2]),)))
        service.put_table_parameters(one, COUNTS)
        sets = (StatisticsSet((collected([number, 5, 5]),), name) for number, name in enumerate(NAMES))
        service.put_partition_statistics(by_day, sets)
        service.put_partition_parameters(by_day, ["ds"], dict.fromkeys(NAMES, COUNTS))
    return our_metastore


def address(metastore: Metastore) -> str:
    return f"thrift://127.0.0.1:{metastore.port}"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def kept(metastore: Metastore, table: str, partitions: list[str] | None) -> list[StatisticsSet]:
    """The statistics, without what the server says of the time and the writer."""
    with client.connect(address(metastore)) as service:
        found = list(service.statistics(TableName("hive", metastore.database, table), None, partitions))
    return [
        replace(
            each,
            last_analyzed_seconds=None,
            columns=tuple(
                replace(
                    column,
                    provenance=column.provenance and replace(column.provenance, writer=None, written_at_seconds=None),
                )
                for column in each.columns
            ),
        )
        for each in found
    ]


@pytest.mark.parametrize("name", ["all.parquet", "all.json", "all.jsonl"])
def test_a_file_takes_everything_to_another_server(
    filled: Metastore, other: Metastore, tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / name)
    exported = run("export", path, f"{filled.database}.*", "--metastore", address(filled))
    assert exported.stdout == f"written to {path}: statistics of 4 tables and partitions\n"
    assert [entry.statistics.partition for entry in read(path)] == [*NAMES, None]
    imported = run("import", path, "--metastore", address(other))
    assert imported.exit_code == 3
    assert imported.stdout == f"stored in {address(other)}: statistics of 3 tables and partitions\n"
    assert imported.stderr == f"left out: {filled.database}.by_day ds=a b: there is no such partition\n"
    assert kept(other, "one", None) == kept(filled, "one", None)
    assert kept(other, "by_day", list(NAMES[:2])) == kept(filled, "by_day", list(NAMES[:2]))
    (column,) = kept(other, "one", None)[0].columns
    assert (column.data, column.top_k) == (collected([1, 1, 2]).data, collected([1, 1, 2]).top_k)
    assert column.provenance is not None
    assert (column.provenance.exact, column.provenance.tool) == (True, "tests 1")
    assert {name: other.parameters("one")[name] for name in COUNTS} == COUNTS
    again = run("import", path, "--metastore", address(other))
    assert again.stdout == imported.stdout


@pytest.mark.slow
def test_json_goes_through_a_pipe(filled: Metastore, other: Metastore) -> None:
    done = subprocess.run(
        f"{HMSTATS} export - {filled.database}.one --metastore {address(filled)}"
        f" | {HMSTATS} import - --metastore {address(other)}",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"stored in {address(other)}: statistics of 1 table or partition\n"
    assert done.stderr == "written to standard output: statistics of 1 table or partition\n"
    assert kept(other, "one", None) == kept(filled, "one", None)


def test_the_format_may_be_named(filled: Metastore, tmp_path: Path) -> None:
    path = str(tmp_path / "all")
    exported = run("export", path, f"{filled.database}.one", "--format", "JSON", "--metastore", address(filled))
    assert exported.stdout == f"written to {path}: statistics of 1 table or partition\n"
    assert Path(path).read_text().startswith('{"hmstats.statistics": "1"}\n')


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_export_that_is_ended_leaves_no_file(
    filled: Metastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def ended(service: Any, patterns: Any) -> Iterator[Entry]:
        yield from entries(service, patterns)
        signal.raise_signal(number)

    monkeypatch.setattr("hmstats.cli.actions.export.entries", ended)
    path = tmp_path / "all.json"
    result = run("export", str(path), f"{filled.database}.one", "--metastore", address(filled))
    assert (result.exit_code, result.stderr) == (
        128 + number,
        f"hmstats: ended by {number.name}: no file was written\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_one_server_takes_from_another(filled: Metastore, other: Metastore) -> None:
    source = ("--from", address(filled), "--metastore", address(other))
    result = run("import", *source, "--table", f"{filled.database}.one")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"stored in {address(other)}: statistics of 1 table or partition\n"
    assert kept(other, "one", None) == kept(filled, "one", None)
    assert kept(other, "by_day", []) == []


def test_tables_that_are_not_there_are_named(filled: Metastore, other: Metastore, tmp_path: Path) -> None:
    other.client().drop_table(other.database, "one", True)
    path = str(tmp_path / "all.parquet")
    run("export", path, f"{filled.database}.one", "--metastore", address(filled))
    result = run("import", path, "--metastore", address(other))
    assert (result.exit_code, result.stderr) == (3, f"left out: {filled.database}.one: there is no such table\n")


@pytest.mark.parametrize(
    ("arguments", "kind", "problem"),
    [
        (["import"], StatementError, "an import reads a file or the metastore of --from"),
        (
            ["import", "x", "--from", "thrift://localhost:1"],
            StatementError,
            "an import reads a file or the metastore of --from",
        ),
        (["import", "/nowhere"], InvalidInput, "/nowhere cannot be read: No such file"),
        (["import", "--from", "x"], SettingsError, "must be thrift://HOST:PORT"),
        (["export", "x", "a.b"], InvalidInput, "the name of x must end in .parquet, .json, .jsonl, .ndjson, or its"),
        (["export", "x", "--format", "csv"], StatementError, "--format takes parquet or json, found 'csv'"),
        (["export", "-", "--format", "parquet"], StatementError, "standard output takes JSON only"),
        (["export", "x", "visits"], StatementError, "named as DB.TABLE or DB.\\*, found 'visits'"),
        (["export", "/nowhere/x.json"], InvalidInput, "/nowhere/x.json cannot be written"),
        (["export", "/proc/x.json"], InvalidInput, "/proc/x.json cannot be written"),  # nor anything be removed there
        (["export", "x.parquet", "nope.*"], StatementError, "database nope is not in the metastore"),
        (["import", "x", "--table", "a.b"], StatementError, "--table chooses of the metastore of --from"),
        (["export", "x.parquet", "nope.nope"], StatementError, "database nope is not in the metastore"),
        (["export", "x.parquet", "default.nope"], StatementError, "table default.nope is not in the metastore"),
    ],
)
def test_bad_input_is_one_sentence(
    our_metastore: Metastore,
    arguments: list[str],
    kind: type[Exception],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, "--metastore", address(our_metastore))
    assert result.stdout == ""
    with pytest.raises(kind, match=problem):
        raise result.exception or AssertionError
    assert list(tmp_path.iterdir()) == []
