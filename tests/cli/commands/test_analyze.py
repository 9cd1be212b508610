"""`hmstats analyze`: what is said, what is printed, and what is not done."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.commands import ended
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.actions.spark_arguments import spark_settings
from hmstats.cli.main import app
from hmstats.cli.output.analysis_output import announce_spark_start, counts_text, progress_bar
from hmstats.collector.autogather.writer import writing
from hmstats.collector.scan.progress import JobProgress
from hmstats.errors import SettingsError, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.answers import RowCount
from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.sketch.distinct.hive_hll import HiveHll

_numbers = count(1)
ROWS = {"p=1": 10, "p=2": 20, "p=3": 30}


@pytest.fixture
def database(spark: Any, tmp_path: Path) -> Iterator[str]:
    """A database with a partitioned table of 60 rows, one of 7 rows, and a view."""
    name = f"cli_{next(_numbers)}"
    folder = tmp_path / "data"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{folder.as_uri()}'")
    spark.sql(f"CREATE TABLE {name}.many (n INT, list ARRAY<INT>) PARTITIONED BY (p INT) STORED AS PARQUET")
    spark.sql(f"CREATE TABLE {name}.one (a BIGINT, b STRING) STORED AS PARQUET")
    for partition, rows in ROWS.items():
        numbers = pa.table({"n": pa.array(range(rows), pa.int32()), "list": pa.nulls(rows, pa.list_(pa.int32()))})
        written(numbers, folder / "many" / partition)
    written(pa.table({"a": range(7), "b": ["x"] * 7}), folder / "one")
    spark.sql(f"ALTER TABLE {name}.many ADD {' '.join(f'PARTITION ({each})' for each in ROWS)}")
    spark.sql(f"CREATE VIEW {name}.seen AS SELECT * FROM {name}.one")
    yield name
    spark.sql(f"DROP DATABASE {name} CASCADE")


def written(table: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "part-0")


COLUMNS_WITHOUT_STATISTICS = 3


def run(metastore: str, *arguments: str) -> Result:
    """The command in this process, whose Spark it uses."""
    return CliRunner().invoke(app, ["analyze", "--metastore", metastore, *arguments])


def command(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The command in a process of its own."""
    return subprocess.run(
        [HMSTATS, "analyze", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=240,
    )


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def stored_rows(metastore: str, database: str, table: str = "many") -> dict[str, str | None]:
    """The stored number of rows of the table ("") and its partitions."""
    name = TableName("hive", database, table)
    with client.connect(metastore) as service:
        whole = service.find_table(name)
        assert whole is not None
        found = {"": whole.parameters.get("numRows")}
        for each in service.partitions(name, service.partition_names(name)) if whole.partition_keys else ():
            found[f"p={each.values[0]}"] = each.parameters.get("numRows")
    return found


@pytest.mark.spark
def test_a_table_and_a_statement_are_the_same(spark: Any, spark_metastore: str, database: str) -> None:
    by_name = run(spark_metastore, f"{database}.many", "--partition", "p=2", "--columns", "n", "--json")
    statement = f"ANALYZE TABLE {database}.many PARTITION(p=2) COMPUTE STATISTICS FOR COLUMNS n"
    by_text = run(spark_metastore, statement, "--json")
    one, other = lines(by_name), lines(by_text)
    for each in (*one, *other):
        assert set(each.pop("seconds")) >= {"plan", "read", "publish"}
    assert one == other
    assert (one[0]["table"], one[0]["partitions"], one[0]["rows"]) == (f"{database}.many", 1, 20)
    assert one[0]["columns"] == ["n"]
    assert stored_rows(spark_metastore, database) == {"": None, "p=1": None, "p=2": "20", "p=3": None}


@pytest.mark.slow
@pytest.mark.spark
def test_numbers_that_the_guard_holds_are_told(spark_metastore: str, database: str, tmp_path: Path) -> None:
    """They are not in force: the report's own numbers are not what anybody else sees."""
    for table, file in (("one", "one/part-0"), ("many", "many/p=2/part-0")):
        name, place = f"{database}.{table}", tmp_path / "data" / file
        assert "not in force" not in run(spark_metastore, name).output
        before, part = stored_rows(spark_metastore, database, table), "p=2" if table == "many" else ""
        pq.write_table(pq.read_table(place).slice(0, 0), place)
        told = run(spark_metastore, name, "--changed-only").output
        reason = f"rows fall from {20 if part else 7} to 0"
        assert f"not in force yet: 1 of {name}, which wait for hmstats pending publish: {reason}" in told
        assert stored_rows(spark_metastore, database, table) == before | ({"": "40"} if part else {})
        with client.connect(spark_metastore) as service:
            service.pending.publish(name)
        assert stored_rows(spark_metastore, database, table)[part] == "0"
        assert "not in force" not in run(spark_metastore, name, "--changed-only").output


@pytest.mark.slow
@pytest.mark.spark
def test_locked_statistics_are_left_out_unless_forced(spark: Any, spark_metastore: str, database: str) -> None:
    table = f"{database}.one"

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(app, [*arguments, "--metastore", spark_metastore])

    assert call("lock", table, "--reason", "plans").output == f"statistics of table {table} are locked\n"
    refused = run(spark_metastore, table)
    assert isinstance(refused.exception, StatementError)
    assert str(refused.exception).endswith("(plans); --past-locks writes them too")
    left = run(spark_metastore, table, "--changed-only")
    assert (left.exit_code, left.output.startswith(f"left out: the statistics of {table} are locked")) == (0, True)
    writing(spark.sql("SELECT 8L AS a, 'y' AS b"), metastore=spark_metastore).insert_into(table)
    assert stored_rows(spark_metastore, database, "one") == {"": None}
    (found,) = lines(run(spark_metastore, table, "--past-locks", "--json"))
    assert found["rows"] == 8
    assert stored_rows(spark_metastore, database, "one") == {"": "8"}
    written = writing(spark.sql("SELECT 9L AS a, 'z' AS b"), metastore=spark_metastore).insert_into(table)
    assert (written.gathered, "are locked" in (written.reason or "")) == (False, True)
    assert stored_rows(spark_metastore, database, "one") == {"": "8"}
    assert json.loads(call("locked", table, "--json").output)["reason"] == "plans"
    assert call("unlock", table).exit_code == 0
    assert call("locked", f"{database}.*").output == "nothing is locked\n"
    assert isinstance(call("unlock", table).exception, StatementError)
    assert run(spark_metastore, table, "--changed-only").exit_code == 0
    assert stored_rows(spark_metastore, database, "one") == {"": "9"}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("choice", [["--partition", "p=2", "--partition", "p=3"], ["--where", "p >= 2"]])
def test_some_partitions_by_their_names_or_a_filter(
    spark: Any, spark_metastore: str, database: str, choice: Sequence[str]
) -> None:
    spark.sql(f"CREATE TABLE {database}.texts USING csv PARTITIONED BY (p) AS SELECT n, p FROM {database}.many")
    for table in ("many", "texts"):
        (found,) = lines(run(spark_metastore, f"{database}.{table}", *choice, "--columns", "n", "--json"))
        assert found["partitions"] == 2
        expected = {"": None, "p=1": None, "p=2": str(ROWS["p=2"]), "p=3": str(ROWS["p=3"])}
        assert stored_rows(spark_metastore, database, table) == expected


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("table", ["many", "one"])
def test_the_count_is_exact_after_a_whole_analysis(spark: Any, spark_metastore: str, database: str, table: str) -> None:
    def asked() -> RowCount:
        with client.connect(spark_metastore) as service:
            return service.table(f"{database}.{table}").count()

    rows = sum(ROWS.values()) if table == "many" else 7
    columns = ("--columns", "n" if table == "many" else "a")
    assert run(spark_metastore, f"{database}.{table}", *columns).exit_code == 0
    assert asked() == RowCount(rows, exact=True)
    assert run(spark_metastore, f"{database}.{table}", *columns, "--sample", "0.5").exit_code == 0
    assert not asked().exact
    with client.connect(spark_metastore) as service:
        whole = service.find_table(TableName("hive", database, table))
    assert whole is not None
    assert not Accurate.parse(whole.parameters.get(PARAMETER)).columns


@pytest.mark.spark
def test_a_table_is_printed_with_its_columns(spark: Any, spark_metastore: str, database: str) -> None:
    result = run(spark_metastore, f"{database}.many")
    assert result.exit_code == COLUMNS_WITHOUT_STATISTICS, result.output
    first, *table, left_out, read, last = result.stdout.splitlines()
    assert re.fullmatch(r"read [0-9,]+ bytes in [0-9]+ requests", read)
    assert first.startswith(f"{database}.many: 60 rows, ")
    assert first.endswith("3 files, 3 partitions")
    assert any(line.split()[:3] == ["n", "int", "0"] for line in table)
    assert left_out == f"left out: column list of {database}.many, type array<int> has no statistics"
    assert last.startswith("analysed and stored in ")
    assert result.stderr == ""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["--noscan"], 0),
        ([], COLUMNS_WITHOUT_STATISTICS),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((["--columns", "n"], 0), (["--json"], 3))),
    ],
)
def test_the_exit_code_says_whether_every_column_that_was_asked_for_has_statistics(
    spark: Any, spark_metastore: str, database: str, arguments: list[str], exit_code: int
) -> None:
    result = run(spark_metastore, f"{database}.many", *arguments)
    assert result.exit_code == exit_code, result.output
    named = "left out: column list" in result.stdout or "type array<int> has no statistics" in result.stdout
    assert named == bool(exit_code)


@pytest.mark.spark
def test_all_tables_of_a_database(spark: Any, spark_metastore: str, database: str, tmp_path: Path) -> None:
    log = tmp_path / "jobs.log"
    result = run(spark_metastore, f"{database}.*", "--job-log", str(log))
    assert result.exit_code == COLUMNS_WITHOUT_STATISTICS, result.output
    rows = {
        line.split()[0]: line.split()[1:3] for line in result.stdout.splitlines() if line.startswith(f"{database}.")
    }
    assert rows == {f"{database}.many": ["3", "60"], f"{database}.one": ["0", "7"]}
    kept = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["outcome"], each["table"], each["rows"]) for each in kept] == [
        ("done", f"{database}.many", 60),
        ("done", f"{database}.one", 7),
    ]
    assert all(each["at"].endswith("+00:00") and each["bytes"] > 0 for each in kept)
    assert stored_rows(spark_metastore, database) == {"": "60", "p=1": "10", "p=2": "20", "p=3": "30"}


@pytest.mark.spark
def test_tables_of_a_database_that_no_analysis_reads_are_named_and_left_out(
    spark: Any, spark_metastore: str, database: str
) -> None:
    name = TableName("hive", database, "hudi")
    spark.sql(f"CREATE TABLE {name.short} (n INT) STORED AS PARQUET")
    with client.connect(spark_metastore) as service:
        service.put_table_parameters(name, {"table_type": "HUDI"})
    left_out = f"left out: table {name.short} is of the format Hudi, which is not supported: its folder holds"
    planned = run(spark_metastore, f"{database}.*", "--dry-run", "--json")
    assert [each["table"] for each in lines(planned)] == [f"{database}.many", f"{database}.one"]
    assert planned.stderr.startswith(left_out)
    result = run(spark_metastore, f"{database}.*")
    assert result.stderr.startswith(left_out)
    assert stored_rows(spark_metastore, database, "one") == {"": "7"}
    for other in ("many", "one"):
        spark.sql(f"DROP TABLE {database}.{other}")
    with pytest.raises(StatementError, match=f"{database}.* has no table to analyse"):
        raise run(spark_metastore, f"{database}.*").exception or AssertionError


@pytest.mark.spark
def test_a_table_that_fails_keeps_no_other_from_being_analysed(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmstats import collector

    real = collector.analyze

    def failing(session: Any, text: str, **options: Any) -> Any:
        if text.endswith(".many"):
            raise StatementError("many is gone")
        return real(session, text, **options)

    monkeypatch.setattr(collector, "analyze", failing)
    log = tmp_path / "jobs.log"
    result = run(spark_metastore, f"{database}.many", f"{database}.one", "--job-log", str(log))
    assert result.exit_code == 3
    assert result.stderr == "hmstats: many is gone\n"
    assert stored_rows(spark_metastore, database, "one") == {"": "7"}
    kept = [json.loads(line) for line in log.read_text().splitlines()]
    assert [each["outcome"] for each in kept] == ["failed", "done"]
    assert (kept[0]["table"], kept[0]["error"]) == (f"{database}.many", "many is gone")


@pytest.mark.slow
@pytest.mark.spark
def test_a_dry_run_says_the_plan_and_starts_nothing(spark: Any, spark_metastore: str, database: str) -> None:
    done = command(f"{database}.many", "--metastore", spark_metastore, "--dry-run", JAVA_HOME="/nowhere")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    cells = next(line.split() for line in done.stdout.splitlines() if line.startswith(f"{database}.many"))
    assert (cells[1:4], cells[5:]) == (["3", "0", "3"], ["1", "1"])
    assert f"columns of {database}.many: n" in done.stdout
    assert f"left out: columns list of {database}.many" in done.stdout
    text = f"ANALYZE TABLE {database}.many PARTITION(p=3) COMPUTE STATISTICS NOSCAN"
    (found,) = lines(run(spark_metastore, text, "--dry-run", "--json"))
    assert (found["partitions"], found["files"], found["tasks"], found["columns"]) == (1, 1, 0, [])
    assert found["bytes"] > 0
    assert stored_rows(spark_metastore, database) == {"": None, "p=1": None, "p=2": None, "p=3": None}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], {"ndv", "bit_vector", "histogram", "top_k"}),
        (["--no-histogram"], {"ndv", "bit_vector", "top_k"}),
        (["--no-top-k", "--tasks", "1"], {"ndv", "bit_vector", "histogram"}),
        (["--bounds-only"], set()),
    ],
)
def test_flags_decide_which_statistics_are_made(
    spark: Any, spark_metastore: str, database: str, flags: list[str], expected: set[str]
) -> None:
    lines(run(spark_metastore, f"{database}.one", "--json", *flags))
    with client.connect(spark_metastore) as service:
        (found,) = service.statistics(TableName("hive", database, "one"), ["a"])
    column, data = found.columns[0], cast("LongStatistics", found.columns[0].data)
    assert (data.low, data.high, data.nulls) == (0, 6, 0)
    # What is not known of a count comes as 0.
    made = {"ndv": data.ndv, "bit_vector": data.bit_vector, "histogram": data.histogram, "top_k": column.top_k}
    assert {name for name, value in made.items() if value} == expected


@pytest.mark.slow
@pytest.mark.spark
def test_the_precision_of_bit_vectors(spark: Any, spark_metastore: str, database: str) -> None:
    lines(run(spark_metastore, f"{database}.one", "--json", "--precision", "14"))
    with client.connect(spark_metastore) as service:
        (found,) = service.statistics(TableName("hive", database, "one"), ["a"])
    vector = cast("LongStatistics", found.columns[0].data).bit_vector
    assert vector is not None
    assert HiveHll.from_bytes(vector).p == 14


@pytest.mark.spark
def test_noscan_counts_rows_by_footers_when_asked(spark: Any, spark_metastore: str, database: str) -> None:
    assert lines(run(spark_metastore, f"{database}.many", "--noscan", "--json"))[0]["rows"] is None
    assert stored_rows(spark_metastore, database) == {"": None, "p=1": None, "p=2": None, "p=3": None}
    assert lines(run(spark_metastore, f"{database}.many", "--noscan", "--row-counts", "--json"))[0]["rows"] == 60
    assert stored_rows(spark_metastore, database) == {"": "60", "p=1": "10", "p=2": "20", "p=3": "30"}


@pytest.mark.spark
@pytest.mark.slow
def test_it_starts_a_spark_of_its_own_and_is_quiet_where_there_is_no_terminal(
    spark: Any, spark_metastore: str, database: str
) -> None:
    conf = ["--master", "local[1]", "--conf", "spark.sql.shuffle.partitions=1"]
    done = command(f"{database}.one", "--metastore", spark_metastore, "--json", *conf)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 7
    assert "Analysing" not in done.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_a_new_spark_reads_text(spark: Any, spark_metastore: str, database: str) -> None:
    """Nothing has read a table of Hive's in that session yet."""
    spark.sql(f"CREATE TABLE {database}.words (word STRING) STORED AS TEXTFILE")
    spark.sql(f"INSERT INTO {database}.words VALUES ('a'), ('b')")
    done = command(f"{database}.words", "--metastore", spark_metastore, "--json", "--master", "local[1]")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 2


@pytest.mark.spark
@pytest.mark.slow
def test_under_spark_submit_it_takes_what_is_there(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path
) -> None:
    import pyspark

    program = tmp_path / "job.py"
    program.write_text("from hmstats.cli.main import main\n\nmain()\n")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    conf = ["--master", "local[1]", "--conf", f"spark.hadoop.hive.metastore.uris={spark_metastore}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_GATEWAY")}
    done = subprocess.run(
        [str(submit), *conf, str(program), "analyze", f"{database}.one", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=tmp_path,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["rows"] == 7


REFUSED = [
    (["{db}.none"], "table {db}.none is not in the metastore at thrift://"),
    (["{db}.one", "--columns", "z"], "table {db}.one has no column z, only a, b"),
    (["{db}.many", "--columns", "list"], "column list of {db}.many is of type array<int>, without statistics"),
    (["{db}.many", "--partition", "q=1"], "table {db}.many has no partition key q, only p"),
    (["{db}.one", "--where", "p > 9"], "table {db}.one has no partitions, so none matches p > 9"),
    (["{db}.many", "--partition", "p=x"], "table {db}.many: partition key p is of type int, which 'x' is no value of"),
    (["ANALYZE TABLE {db}.one t COMPUTE STATISTICS"], "the statement cannot be read at 't'"),
    (["nowhere.*"], "nowhere.* has no table"),
    (["{db}.one", "--sample", "2"], "a sample must be more than 0"),
    (["{db}.one", "--precision", "9"], "the precision of bit vectors must be from 10 to 14"),
    (["{db}.one", "--conf", "x"], "--conf must be KEY=VALUE, found 'x'"),
    (["{db}.one", "--job-log", "/nowhere/jobs.log"], "the job log /nowhere/jobs.log cannot be written: No such"),
    (["{db}.one", "--changed-only", "--noscan"], "noscan reads no data"),
]


@pytest.mark.slow
@pytest.mark.spark
def test_bad_input_is_one_sentence_before_spark_starts(
    spark: Any, spark_metastore: str, database: str, tmp_path: Path
) -> None:
    commands = [
        ["analyze", *(each.format(db=database) for each in given), "--metastore", spark_metastore]
        for given, _ in REFUSED
    ]
    answers = ended(commands, tmp_path, {"JAVA_HOME": "/nowhere"})
    for command, (_, sentence) in zip(commands, REFUSED, strict=True):
        done = answers[tuple(command)]
        assert (done.code, done.stdout) == (2, ""), done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert done.stderr.startswith(f"hmstats: {sentence.format(db=database)}"), done.stderr
        assert "Java" not in done.stderr


@pytest.mark.parametrize("arguments", [["ping", "--help"], ["analyze", "--help"], ["ping"], ["version"]])
def test_commands_import_what_they_need_only(arguments: list[str]) -> None:
    program = textwrap.dedent(f"""
        import sys
        from hmstats.cli.main import main
        sys.argv = ["hmstats", *{arguments!r}]
        try:
            main()
        except SystemExit:
            pass
        heavy = ("pyspark", "sqlalchemy", "alembic", "pyarrow", "hmstats.server", "hmstats.store", "hmstats.collector")
        print([name for name in heavy if name in sys.modules])
    """)
    environment = {**os.environ, "HMSTATS__METASTORE": "thrift://127.0.0.1:1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "[]"


def test_texts_become_settings() -> None:
    assert spark_settings(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for text in ("x", "=x"):
        with pytest.raises(SettingsError, match="--conf must be KEY=VALUE"):
            spark_settings([text])


def test_the_bar_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        counts_text(JobProgress(3, 9, 12, 40, 1_500_000), 3.0)
        == "12 of 40 partitions, 1,500,000 rows, 500,000 a second"
    )
    assert counts_text(JobProgress(3, 9, 0, 0, 100), 4.0) == "100 rows, 25 a second"
    assert counts_text(JobProgress(0, 0, 0, 0, 0), 0.0) == ""
    with progress_bar("Analysing t") as progress:
        assert progress is None


def test_the_bar_is_drawn_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_bar("Analysing t") as progress:
        assert progress is not None
        progress(JobProgress(1, 2, 3, 6, 1000))
    shown = capsys.readouterr()
    assert "Analysing t" in shown.err
    assert "3 of 6 partitions, 1,000 rows" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize(
    ("given", "terminal", "said"), [(False, True, "starting Spark ...\n"), (True, True, ""), (False, False, "")]
)
def test_the_start_of_spark_is_said_to_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: bool, terminal: bool, said: str
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    announce_spark_start(given=given)
    assert capsys.readouterr().err == said
