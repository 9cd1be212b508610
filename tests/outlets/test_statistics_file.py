"""The Parquet file of all statistics: what is written is read, whatever its size."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.outlets.strategies import table_statistics

from hmstats.errors import InvalidInput, StatementError
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.table_statistics import TableStatistics
from hmstats.outlets.statistics_file import FORMAT, ROWS_A_GROUP, SCHEMA, Entry, read, write

NAME = TableName("hive", "web", "visits")
NOTHING = StatisticsSet(())


def entry(number: int, columns: int = 1) -> Entry:
    found = tuple(ColumnStatistics(f"c{each}", "int", LongStatistics(ndv=number)) for each in range(columns))
    return Entry(NAME, {"numRows": str(number)}, StatisticsSet(found, f"k={number}"))


def _entries(found: list[TableStatistics]) -> list[Entry]:
    """Each under a name of its own: rows that follow each other tell a table by it."""
    return [
        Entry(TableName("hive", "d", f"t{number}"), {"numRows": str(each.rows)}, each.statistics)
        for number, each in enumerate(found)
    ]


@settings(deadline=None, max_examples=50)
@given(found=st.lists(table_statistics(), max_size=4))
def test_what_is_written_is_read(found: list[TableStatistics], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("file") / "statistics.parquet"
    entries = _entries(found)
    assert write(path, entries) == len(entries)
    assert repr(list(read(path))) == repr(entries)


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
    assert write(tmp_path / "x", []) == 0
    assert list(read(tmp_path / "x")) == []


def test_a_file_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    def broken() -> Iterator[Entry]:
        yield entry(1)
        raise StatementError("the table is gone")

    with pytest.raises(StatementError):
        write(tmp_path / "x", broken())
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no file at all")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other")
    row = {"catalog_name": "hive", "table_name": "t", "column_name": "c", "kind": "longStats"}
    pq.write_table(pa.Table.from_pylist([row], SCHEMA), tmp_path / "headless")
    pq.write_table(pa.Table.from_pylist([], SCHEMA.with_metadata({FORMAT: "2"})), tmp_path / "newer", store_schema=True)
    problems = {
        "nowhere": "nowhere cannot be read: No such file",
        "text": "text cannot be read",
        "other": "other must be statistics of version 1 that hmstats export wrote",
        "newer": "newer must be statistics of version 1",
        "headless": "column c of table t comes before its table",
    }
    for name, problem in problems.items():
        with pytest.raises(InvalidInput, match=problem):
            list(read(tmp_path / name))
    with pytest.raises(InvalidInput, match="cannot be written"):
        write(tmp_path / "no" / "folder", [])
