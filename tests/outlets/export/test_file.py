"""The file of all statistics, Parquet or JSON: what is written is read, whatever its size."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.outlets.strategies import table_statistics

from hmstats.errors import InvalidInput, StatementError
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet, StringStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.export.file import Form, form_of, read, read_json, write
from hmstats.outlets.export.lines import END, write_lines
from hmstats.outlets.export.rows import FORMAT, ROWS_A_GROUP, SCHEMA, Entry

NAME = TableName("hive", "web", "visits")
PAGE = Path(__file__).parents[3] / "docs" / "statistics" / "export.md"


def entry(number: int, columns: int = 1) -> Entry:
    found = tuple(ColumnStatistics(f"c{each}", "int", LongStatistics(ndv=number)) for each in range(columns))
    return Entry(NAME, {"numRows": str(number)}, StatisticsSet(found, f"k={number}"))


def _entries(found: list[TableStatistics]) -> list[Entry]:
    """Each under a name of its own: rows that follow each other tell a table by it."""
    return [
        Entry(TableName("hive", "d", f"t{number}"), {"numRows": str(each.rows)}, each.statistics)
        for number, each in enumerate(found)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "json"])
@settings(max_examples=50)
@given(found=st.lists(table_statistics(), max_size=4))
def test_what_is_written_is_read(
    ending: str, found: list[TableStatistics], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("file") / f"statistics.{ending}"
    entries = _entries(found)
    assert write(path, entries) == len(entries)
    assert repr(list(read(path))) == repr(entries)


@pytest.mark.parametrize("length", [float("inf"), float("-inf"), float("nan"), 0.1, 1e300])
def test_every_float_is_kept(length: float) -> None:
    column = ColumnStatistics("s", "string", StringStatistics(average_length=length))
    file = io.StringIO()
    assert write_lines(file, [Entry(NAME, {}, StatisticsSet((column,)))]) == 1
    for line in file.getvalue().splitlines():
        json.loads(line, parse_constant=pytest.fail)
    file.seek(0)
    ((found,),) = (entry.statistics.columns for entry in read_json(file, "x"))
    assert repr(found) == repr(column)


def test_json_is_an_object_a_line_without_what_is_unknown() -> None:
    file = io.StringIO()
    made = Provenance(exact=False, tool="hmstats 1")
    column = ColumnStatistics("n", "int", LongStatistics(low=-5, nulls=0, histogram=b"\x00\xff"), b"abc", made)
    write_lines(file, [Entry(NAME, {"numRows": "7"}, StatisticsSet((column,), "ds=ü"))])
    place = {"catalog_name": "hive", "database_name": "web", "table_name": "visits", "partition_name": "ds=ü"}
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [
        {"hmstats.statistics": "1"},
        place | {"parameters": {"numRows": "7"}, "engine": "hive"},
        place
        | {"column_name": "n", "column_type": "int", "kind": "longStats", "low": "-5", "nulls": 0}
        | {"histogram": "AP8=", "top_k": "YWJj", "exact": False, "tool": "hmstats 1"},
        {"hmstats.statistics": "end"},
    ]


def test_a_json_file_without_its_last_line_is_refused_before_its_last_entry() -> None:
    file = io.StringIO()
    write_lines(file, [entry(1), entry(2, columns=2)])
    whole = file.getvalue()
    end = len(whole)
    assert list(read_json(io.StringIO(whole), "x")) == [entry(1), entry(2, columns=2)]
    assert list(read_json(io.StringIO(whole.rstrip()), "x")) == [entry(1), entry(2, columns=2)]
    ends_of_lines = [at + 1 for at, character in enumerate(whole[: end - 1]) if character == "\n"]
    assert len(ends_of_lines) == 6
    for cut in [*ends_of_lines, *(at + 9 for at in ends_of_lines), end - 2]:
        with pytest.raises(InvalidInput, match="x is cut off"):
            list(read_json(io.StringIO(whole[:cut]), "x"))


def test_files_of_json_behind_each_other_are_refused() -> None:
    file = io.StringIO()
    write_lines(file, [entry(1)])
    with pytest.raises(InvalidInput, match="x has more lines behind the one that ends it"):
        list(read_json(io.StringIO(file.getvalue() * 2), "x"))
    assert list(read_json(io.StringIO(file.getvalue() + "\n"), "x")) == [entry(1)]


def test_the_page_shows_a_file_that_is_read() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (found,) = read_json(io.StringIO(block), "the page")
    assert (found.name, found.parameters) == (NAME, {"numRows": "7"})
    assert found.statistics.columns[0].data == LongStatistics(low=18, high=77, nulls=0, ndv=60)


def test_the_name_says_the_form_or_the_caller(tmp_path: Path) -> None:
    assert {form_of(f"x{ending}") for ending in (".json", ".JSONL", ".ndjson")} == {Form.JSON}
    assert form_of(Path("x.json.parquet")) is Form.PARQUET
    for name in ("x", "x.json.gz", "parquet"):
        with pytest.raises(InvalidInput, match=f"the name of {name} must end in .parquet, .json, .jsonl, .ndjson"):
            form_of(name)
    for form in Form:
        write(tmp_path / "x", [entry(1)], form)
        assert list(read(tmp_path / "x")) == [entry(1)]
        assert pq.ParquetFile(tmp_path / "x") if form is Form.PARQUET else (tmp_path / "x").read_text()


def test_a_large_json_file_is_read_part_by_part(tmp_path: Path) -> None:
    path, count = tmp_path / "x.json", ROWS_A_GROUP
    assert write(path, (entry(number) for number in range(count))) == count
    path.write_text(path.read_text().replace(END, f"no statistics\n{END}"))
    found = read(path)
    assert next(found) == entry(0)
    with pytest.raises(InvalidInput, match="has a row that is not a valid statistic"):
        list(found)
    assert len(path.read_text().splitlines()) == 2 * count + 3


def test_a_large_file_has_several_row_groups_and_is_read_part_by_part(tmp_path: Path) -> None:
    path, count = tmp_path / "x.parquet", 900
    assert write(path, (entry(number, columns=6) for number in range(count))) == count
    with pq.ParquetFile(path) as file:
        assert file.num_row_groups > 2
        assert all(file.metadata.row_group(at).num_rows < ROWS_A_GROUP + 7 for at in range(file.num_row_groups))
    found = read(path)
    assert next(found) == entry(0, columns=6)
    assert list(found) == [entry(number, columns=6) for number in range(1, count)]


def test_no_statistics_are_a_file_too(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.json"):
        assert write(tmp_path / name, []) == 0
        assert list(read(tmp_path / name)) == []


def test_a_file_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    def broken() -> Iterator[Entry]:
        yield entry(1)
        raise StatementError("the table is gone")

    for name in ("x.parquet", "x.json"):
        with pytest.raises(StatementError):
            write(tmp_path / name, broken())
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no file at all")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other")
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "half").write_bytes(b'{"hmstats.statistics": "1"}\n' + b" " * 20_000 + b"\n\xff\n")
    (tmp_path / "folder").mkdir()
    row = {"catalog_name": "hive", "table_name": "t", "column_name": "c", "kind": "longStats"}
    pq.write_table(pa.Table.from_pylist([row], SCHEMA), tmp_path / "headless")
    pq.write_table(pa.Table.from_pylist([], SCHEMA.with_metadata({FORMAT: "2"})), tmp_path / "newer", store_schema=True)
    problems = {
        "nowhere": "nowhere cannot be read: No such file",
        "text": "text must be statistics of version 1",
        "empty": "empty must be statistics of version 1",
        "bytes": "bytes must be statistics of version 1",
        "half": "half has a row that is not a valid statistic: 'utf-8' codec",
        "folder": "folder cannot be read: Is a directory",
        "other": "other must be statistics of version 1 that hmstats export wrote",
        "newer": "newer must be statistics of version 1",
        "headless": "column c of table t comes before its table",
    }
    for name, problem in problems.items():
        with pytest.raises(InvalidInput, match=problem):
            list(read(tmp_path / name))
    with pytest.raises(InvalidInput, match="cannot be written"):
        write(tmp_path / "no" / "folder.json", [])
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written: it is no file"):
        write(tmp_path / "folder.json", [])


def test_a_line_is_named_by_its_number_in_the_file() -> None:
    good = '{"catalog_name": "hive", "database_name": "d", "table_name": "t"}'
    for bad, problem in (("{", "line 4: Expecting property name"), ('{"bit_vector": "?"}', "line 4: ")):
        file = io.StringIO(f'{{"hmstats.statistics": "1"}}\n{good}\n{good}\n{bad}\n{good}\n{END}\n')
        with pytest.raises(InvalidInput, match=problem) as raised:
            list(read_json(file, "x"))
        assert "line 1" not in str(raised.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("[1]", "a line must be an object"),
        ("{}", "a row that names no table"),
        ('{"nulls": "many"}', "Could not convert 'many'"),
        ('{"nulls": 99999999999999999999}', "too large"),
        ('{"table_name": 7}', "Expected bytes"),
        ('{"bit_vector": "?"}', "non-base64|base64"),
        ('{"average_length": [1]}', "float"),
        ('{"parameters": 7}', "not iterable"),
        ('{"table_name": "t", "column_name": "c"}', "column c of table t comes before its table"),
        ("{", "Expecting property name"),
    ],
)
def test_a_line_that_is_no_row_is_refused(row: str, problem: str) -> None:
    file = io.StringIO('{"hmstats.statistics": "1"}\n' + f"{row}\n{END}\n")
    with pytest.raises(InvalidInput, match=problem) as raised:
        list(read_json(file, "x"))
    assert "\n" not in str(raised.value)
