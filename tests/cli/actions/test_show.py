"""`hmstats show`: what people read, and what programs get."""

import csv
import io
import json
import re
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scripts.screenshot import in_terminal
from tests.client.call_counts import calls
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.cli.output.cell_texts import age
from hmstats.cli.output.show_table import key_lines, show_table, sort_columns
from hmstats.cli.output.sparkline import bars, shape
from hmstats.client.tables.stored_statistics import StoredStatistics
from hmstats.errors import SketchError, StatementError
from hmstats.model.catalog.objects import Column, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.arrow import ipc, table_statistics
from hmstats.outlets.people.flat_table import statistics_table
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.quantiles.kll import KllHistogram

__all__ = ["calls"]
COLUMNS = {"age": "int", "app": "string", "session": "bigint"}
ROWS = 1_000
MADE = Provenance(exact=False, rows_seen=ROWS, sample_fraction=1.0, tool="tests 1")
ACCURATE = '{"BASIC_STATS":"true","COLUMN_STATS":{"age":"true","app":"true"}}'

pytestmark = pytest.mark.usefixtures("_wide")


@pytest.fixture
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def collected(column: str, values: Any) -> ColumnStatistics:
    kind = kind_of(COLUMNS[column])
    assert kind is not None
    accumulator = ColumnAccumulator.empty(kind)
    accumulator.update(pa.array(values))
    top = accumulator.top_k
    return ColumnStatistics(
        column, COLUMNS[column], accumulator.statistics(), None if top is None else top.to_bytes(), MADE
    )


def visits(shift: int = 0) -> StatisticsSet:
    apps = ["mail"] * 600 + ["maps"] * 300 + ["a very long name of an app"] * 100
    return StatisticsSet(
        (
            collected("age", np.arange(ROWS) % 80 + shift),
            collected("app", apps),
            collected("session", np.arange(ROWS) * 7),
        )
    )


@pytest.fixture
def table(our_metastore: Metastore, service: client.Metastore) -> str:
    """A table of 1,000 rows; the column session is not marked as accurate."""
    parameters = {"numRows": str(ROWS), "totalSize": "4096"}
    our_metastore.table("visits", COLUMNS, parameters=parameters)
    name = TableName("hive", our_metastore.database, "visits")
    service.put_table_statistics(name, visits())
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": ACCURATE})
    return f"{our_metastore.database}.visits"


@pytest.fixture
def by_day(our_metastore: Metastore, service: client.Metastore) -> str:
    """Two partitions of 1,000 rows each."""
    our_metastore.table("by_day", COLUMNS, keys=("ds",))
    our_metastore.add_partitions(("1",), ("2",), table="by_day", columns=COLUMNS)
    name = TableName("hive", our_metastore.database, "by_day")
    sets = [replace(visits(day), partition=f"ds={day}") for day in (1, 2)]
    service.put_partition_statistics(name, sets)
    service.put_partition_parameters(name, ["ds"], {f"ds={day}": {"numRows": "1000"} for day in (1, 2)})
    return f"{our_metastore.database}.by_day"


def run(metastore: Metastore, *arguments: str) -> Result:
    address = f"thrift://127.0.0.1:{metastore.port}"
    return CliRunner().invoke(app, ["show", "--metastore", address, *arguments], catch_exceptions=True)


sqlite = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@sqlite
def test_a_table_at_a_glance(our_metastore: Metastore, table: str) -> None:
    done = subprocess.run(
        [HMSTATS, "show", table, "--metastore", f"thrift://127.0.0.1:{our_metastore.port}"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"{table}: 1,000 rows, 4,096 bytes"
    rows = [line.split() for line in lines]
    (age_line,) = [line for line in rows if line[:1] == ["age"]]
    assert age_line[1] == "80"
    assert age_line[2] == "0"
    assert set(age_line[3]) <= set("▁▂▃▄▅▆▇█")
    assert ["int", "0", "null", "79"] == rows[rows.index(age_line) + 1][:4]
    (app_line,) = [line for line in rows if line[:1] == ["app"]]
    assert ["mail", "=600"] == app_line[-4:-2] or "=600" in app_line
    assert any("a very long… =100" in line for line in lines)
    assert "stale: column session, not in COLUMN_STATS_ACCURATE" in lines
    assert not any(line.startswith("stale: column age") for line in lines)


@pytest.mark.slow
@sqlite
def test_a_wide_terminal_shows_more(our_metastore: Metastore, table: str) -> None:
    shown = in_terminal([HMSTATS, "show", table, "--metastore", f"thrift://127.0.0.1:{our_metastore.port}"], 120)
    assert "a very long name of an app =100" in re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_a_small_estimate_is_a_plain_number() -> None:
    made = Provenance(exact=False, rows_seen=10, sample_fraction=1.0)

    def shown(ndv: int) -> str:
        column = ColumnStatistics("n", "int", LongStatistics(nulls=0, ndv=ndv, bit_vector=bits), None, made)
        found = StoredStatistics(Table(name=TableName("hive", "a", "b")), {}, StatisticsSet((column,)))
        return str(next(iter(show_table(found, (column,), {}).columns[1].cells))).split("\n")[0]

    bits = HiveHll().to_bytes()
    assert shown(80) == "80", "a sketch of few values is nearly exact"
    assert shown(1_000_000).startswith("~1,000,000 ±")


@sqlite
def test_partition_keys_are_shown_with_their_values(our_metastore: Metastore, service: client.Metastore) -> None:
    our_metastore.table("by_number", COLUMNS, keys=("year", "place"))
    our_metastore.add_partitions(("2023", "x"), ("2024", "x"), table="by_number", columns=COLUMNS)
    lines = run(our_metastore, f"{our_metastore.database}.by_number").stdout.splitlines()
    assert lines[1:3] == [
        "partition key year string: 2 values",
        "partition key place string: 1 value",
    ]


def test_keys_that_are_numbers_and_dates_have_bounds() -> None:
    keys = (Column("year", "int"), Column("day", "date"))
    found = StoredStatistics(Table(name=TableName("hive", "a", "b"), partition_keys=keys), {}, StatisticsSet(()))
    names = ["year=9/day=2024-02-01", "year=10/day=2024-01-01", "year=10/day=__HIVE_DEFAULT_PARTITION__"]
    assert key_lines(found, names) == [
        "partition key year int: 2 values from 9 to 10",
        "partition key day date: 3 values from 2024-01-01 to 2024-02-01",
    ]
    assert key_lines(found, []) == ["partition key year int: 0 values", "partition key day date: 0 values"]


@sqlite
def test_statistics_of_other_rows_are_stale(our_metastore: Metastore, service: client.Metastore, table: str) -> None:
    name = TableName("hive", our_metastore.database, "visits")
    service.put_table_parameters(name, {"numRows": "1200"})
    assert "stale: column age, made of 1,000 rows, now 1,200" in run(our_metastore, table).stdout


@sqlite
def test_a_partitioned_table_and_its_partitions(our_metastore: Metastore, by_day: str) -> None:
    whole = run(our_metastore, by_day).stdout
    assert whole.splitlines()[0].startswith(f"{by_day}: 2,000 rows")
    assert "2 partitions" in whole.splitlines()[0]
    assert whole.splitlines()[1] == "partition key ds string: 2 values"
    rows = [line.split() for line in whole.splitlines()]
    (age_line,) = [line for line in rows if line[:1] == ["age"]]
    assert age_line[1] == "81"
    assert set(age_line[3]) <= set("▁▂▃▄▅▆▇█")
    assert age_line[-1] in ("s", "min")
    assert any(line[:1] == ["app"] and line[-4:-2] == ["mail", "=1,200"] for line in rows)
    one = run(our_metastore, by_day, "--partition", "ds=2").stdout
    assert one.splitlines()[0] == f"{by_day} ds=2: 1,000 rows"
    two = run(our_metastore, by_day, "--partition", "ds=2", "--partition", "ds=1").stdout.splitlines()
    assert [line for line in two if ": 1,000 rows" in line] == [f"{by_day} ds={day}: 1,000 rows" for day in (2, 1)]
    every = run(our_metastore, by_day, "--partitions").stdout.splitlines()
    assert [line for line in every if ": 1,000 rows" in line] == [f"{by_day} ds={day}: 1,000 rows" for day in (1, 2)]


@sqlite
def test_a_table_is_as_stale_as_its_partitions(
    our_metastore: Metastore, service: client.Metastore, by_day: str
) -> None:
    name = TableName("hive", our_metastore.database, "by_day")
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'})
    assert "stale" not in run(our_metastore, by_day).stdout
    changes = {"ds=1": {"numRows": "1200"}, "ds=2": {"COLUMN_STATS_ACCURATE": ACCURATE}}
    service.put_partition_parameters(name, ["ds"], changes)
    lines = run(our_metastore, by_day).stdout.splitlines()
    assert [line for line in lines if line.startswith("stale: ")] == [
        "stale: column age, in 1 of 2 partitions",
        "stale: column app, in 1 of 2 partitions",
        "stale: column session, in 2 of 2 partitions",
    ]
    _, *columns = [json.loads(line) for line in run(our_metastore, by_day, "--json").stdout.splitlines()]
    assert columns[2]["stale"] == "in 2 of 2 partitions"


@sqlite
def test_json_has_a_row_for_each_column(our_metastore: Metastore, table: str) -> None:
    result = run(our_metastore, table, "--json", "--sort", "distinct")
    whole, *columns = [json.loads(line) for line in result.stdout.splitlines()]
    assert (whole["column_name"], whole["row_count"], whole["row_count_exact"]) == (None, ROWS, True)
    assert [each["column_name"] for each in columns] == ["session", "age", "app"]
    assert [each["stale"] for each in columns] == ["not in COLUMN_STATS_ACCURATE", None, None]
    assert columns[1]["max_number"] == 79
    assert columns[2]["top_values"][0] == {"value": "mail", "low": 600, "high": 600}
    assert columns[0]["written_at"].endswith("+00:00")


@sqlite
def test_csv_is_read_by_a_reader(our_metastore: Metastore, by_day: str) -> None:
    result = run(our_metastore, by_day, "--partitions", "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(each["partition_name"], each["column_name"]) for each in rows] == [
        (f"ds={day}", column) for day in (1, 2) for column in ("", *COLUMNS)
    ]
    assert rows[1]["max_value"] == "80"
    assert len(json.loads(rows[1]["quantiles"])) == 5


@sqlite
def test_other_programs_get_what_the_partitions_say_together(
    our_metastore: Metastore, by_day: str, tmp_path: Path
) -> None:
    whole, *columns = [json.loads(line) for line in run(our_metastore, by_day, "--json").stdout.splitlines()]
    assert (whole["row_count"], whole["partition_name"]) == (2 * ROWS, None)
    (age_row, app_row, session_row) = columns
    assert (age_row["quantiles"][0], age_row["quantiles"][4]) == (1, 81)
    assert 30 < age_row["quantiles"][2] < 50
    assert app_row["quantiles"] is None
    assert app_row["top_values"][0] == {"value": "mail", "low": 1_200, "high": 1_200}
    assert session_row["distinct_count"] == pytest.approx(ROWS, rel=0.06)
    assert 0 < session_row["distinct_count_standard_error"] < 0.02
    assert all(each["written_at"].endswith("+00:00") for each in columns)
    rows = list(csv.DictReader(io.StringIO(run(our_metastore, by_day, "--csv").stdout)))
    assert [json.loads(each["top_values"] or "null") for each in rows] == [
        None,
        *(each["top_values"] for each in columns),
    ]
    path = tmp_path / "statistics.arrow"
    assert run(our_metastore, by_day, "--arrow", str(path)).stdout == f"written to {path}: statistics of 1 target\n"
    (found,) = (table_statistics(batch) for batch in ipc.read(path))
    flat = statistics_table([found]).to_pylist()
    assert flat[1]["quantiles"][::4] == [1, 81]
    assert flat[2]["top_values"][0] == app_row["top_values"][0]
    assert bit_vector.count(found.statistics.columns[2].data.bit_vector) == session_row["distinct_count"]  # type: ignore[union-attr, arg-type]


@sqlite
def test_an_arrow_file_has_a_batch_for_each_partition(our_metastore: Metastore, by_day: str, tmp_path: Path) -> None:
    path = tmp_path / "statistics.arrow"
    result = run(our_metastore, by_day, "--partitions", "--arrow", str(path))
    assert result.stdout == f"written to {path}: statistics of 2 targets\n"
    first, second = (table_statistics(batch) for batch in ipc.read(path))
    assert (first.statistics.partition, second.statistics.partition) == ("ds=1", "ds=2")
    assert second.statistics.columns[0].data.high == 81  # type: ignore[union-attr]


@sqlite
def test_columns_are_chosen_by_their_names(our_metastore: Metastore, table: str, by_day: str) -> None:
    for name in (table, by_day):
        result = run(our_metastore, name, "--columns", "session, AGE", "--json")
        rows = [json.loads(line)["column_name"] for line in result.stdout.splitlines()]
        assert rows == [None, "age", "session"]


@sqlite
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{}.nope"], "table .* is not in the metastore"),
        (["{}.nope", "--csv"], "table .* is not in the metastore"),
        (["{}.visits", "--partition", "ds=1"], "has no partitions, so none is named ds=1"),
        (["{}.visits", "--partitions"], "has no partitions"),
        (["{}.visits", "--columns", "age,colour"], "column colour must be one of"),
        (["{}.visits", "--columns", "age,"], "--columns takes names separated by commas, found 'age,'"),
        (["{}.visits", "--sort", "colour"], "--sort takes one of column, type, .*, found 'colour'"),
        (["{}.visits", "--json", "--csv"], "show takes --partition or --partitions, and one of"),
        (["{}.visits", "--arrow", "/nowhere/x"], "/nowhere/x cannot be written"),
    ],
)
def test_bad_input_is_one_sentence(our_metastore: Metastore, table: str, arguments: list[str], problem: str) -> None:
    result = run(our_metastore, *(each.format(our_metastore.database) for each in arguments))
    assert isinstance(result.exception, StatementError)
    assert result.stdout == ""
    with pytest.raises(StatementError, match=problem):
        raise result.exception


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite", "hmstats-postgres"], indirect=True)
@pytest.mark.slow
def test_calls_do_not_depend_on_columns_and_partitions(
    our_metastore: Metastore, service: client.Metastore, calls: Counter[str]
) -> None:
    """Only `--partitions`, which prints every partition, reads them all."""
    taken = []
    for table, width, days in (("small", 1, 1), ("large", 40, 650)):
        columns = {f"c{number}": "int" for number in range(width)}
        our_metastore.table(table, columns, keys=("ds",))
        our_metastore.add_partitions(*((str(day),) for day in range(days)), table=table, columns=columns)
        name = TableName("hive", our_metastore.database, table)
        data = LongStatistics(nulls=0, ndv=3, low=1, high=9, bit_vector=HiveHll().to_bytes())
        whole = StatisticsSet(tuple(ColumnStatistics(column, "int", data) for column in columns))
        service.put_partition_statistics(name, [replace(whole, partition=f"ds={day}") for day in range(days)])
        counts = {f"ds={day}": {"numRows": "10"} for day in range(days)}
        service.put_partition_parameters(name, ["ds"], counts)
        counted = {}
        for flags, rows in (((), f"{10 * days:,} rows"), (("--json",), str(10 * days)), (("--csv",), str(10 * days))):
            calls.clear()
            result = run(our_metastore, name.short, *flags)
            assert result.exit_code == 0
            assert rows in result.stdout
            counted[flags] = Counter(calls)
        taken.append(counted)
    assert taken[0] == taken[1]
    assert all(sum(each.values()) <= 7 for each in taken[0].values())


def test_bars_say_how_many_values_are_where() -> None:
    assert bars([]) == ""
    assert bars([1.0]) == ""
    assert bars([3.0, 3.0]).strip() == "█"
    assert bars(list(range(65))) == "████████"
    assert bars([0.0] * 60 + [8.0] * 4) == "█      ▁"
    sketch = KllHistogram()
    sketch.add(np.repeat(np.arange(4), [1, 2, 4, 8]))
    drawn = shape(sketch.to_bytes())
    assert len(drawn) == 8
    assert drawn[-1] == "█"
    assert shape(None) == shape(KllHistogram().to_bytes()) == ""
    with pytest.raises(SketchError):
        shape(b"nothing")


def test_age_has_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    assert [age(1_000_000 - passed) for passed in (0, 59, 60, 7_300, 90_000, -5)] == [
        "0 s",
        "59 s",
        "1 min",
        "2 h",
        "1 d",
        "0 s",
    ]
    assert age(None) == "-"


def test_what_is_unknown_comes_last() -> None:
    columns = [
        ColumnStatistics(name, "int", LongStatistics(ndv=ndv)) for name, ndv in zip("abc", (1, None, 9), strict=True)
    ]
    assert [each.column for each in sort_columns(columns, "distinct")] == ["c", "a", "b"]
    assert [each.column for each in sort_columns(columns, None)] == ["a", "b", "c"]
    assert [each.column for each in sort_columns(reversed(columns), "column")] == ["a", "b", "c"]
