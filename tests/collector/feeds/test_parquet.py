"""Parquet files reach the accumulators as they are, whoever wrote them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.collector.checks import check_all, comparable
from tests.collector.data import ROWS, TYPES, rows

from hmstats.collector.feeds import parquet
from hmstats.collector.feeds.states import States
from hmstats.collector.splits import Split
from hmstats.model.column_statistics import ColumnStatistics

TABLE = rows()


@pytest.mark.parametrize(
    "writer",
    [
        {},
        {"use_dictionary": False},
        {"row_group_size": 700},
        {"version": "1.0", "compression": "NONE"},
        {"use_deprecated_int96_timestamps": True},
        {"data_page_version": "2.0", "use_byte_stream_split": ["double"], "use_dictionary": ["word"]},
    ],
)
def test_every_type_however_it_is_written(tmp_path: Path, writer: dict[str, Any]) -> None:
    split = written(tmp_path / "a.parquet", TABLE, **writer)
    assert [rows for rows, _ in analysed([[split]])] == [ROWS]
    check_all(analysed([[split]])[0][1], TABLE)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=8, max_size=8))
def test_the_tasks_do_not_matter(tmp_path_factory: pytest.TempPathFactory, task_of_group: list[int]) -> None:
    path = tmp_path_factory.mktemp("split") / "a.parquet"
    written(path, TABLE, row_group_size=ROWS // 8)
    tasks: list[list[Split]] = [[] for _ in range(8)]
    for group, task in enumerate(task_of_group):
        tasks[task].append(Split("p", str(path.parent), str(path), (group,), 1))
    found = analysed(tasks)[0][1]
    for one, other in zip(found, analysed([[whole(path)]])[0][1], strict=True):
        assert comparable(one) == comparable(other)


def test_a_piece_is_kept_apart_from_another(tmp_path: Path) -> None:
    first = written(tmp_path / "a.parquet", TABLE.slice(0, 100), piece="p=1")
    second = written(tmp_path / "b.parquet", TABLE.slice(100, 300), piece="p=2")
    third = written(tmp_path / "c.parquet", TABLE.slice(400, 5), piece="p=1")
    states = States(TYPES)
    for task in ([first, second], [third]):
        states.merge(parquet.task_states(task, TYPES))
    assert {name: states.of(name).rows for name in ("p=1", "p=2")} == {"p=1": 105, "p=2": 300}
    assert states.total().rows == 405
    check_all(states.total().statistics(TYPES), TABLE.slice(0, 405))


def test_a_column_that_a_file_lacks_is_null_and_one_that_is_wider_fits(tmp_path: Path) -> None:
    older = pa.table({"Number": pa.array([1, 2, None], pa.int16()), "other": [1, 2, 3]})
    split = written(tmp_path / "old.parquet", older)
    found = list(parquet.batches(split, {"number": "bigint", "added": "string"}))
    assert pa.Table.from_batches(found).to_pydict() == {"number": [1, 2, None], "added": [None, None, None]}
    assert found[0].schema.types == [pa.int64(), pa.string()]


def test_no_column_still_counts_rows(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    states = States({})
    states.merge(parquet.task_states([split], {}))
    assert states.total().rows == ROWS


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE.slice(0, 0))
    assert [rows for rows, _ in analysed([[split]])] == [0]


def test_texts_held_by_their_dictionaries_are_read_as_such(tmp_path: Path) -> None:
    split = written(tmp_path / "a.parquet", TABLE)
    footer = pq.read_metadata(split.path)
    assert parquet.dictionary_columns(footer, ["text", "word"]) == ["word"]
    batch = next(parquet.batches(split, {"text": "string", "word": "string"}))
    assert [pa.types.is_dictionary(column.type) for column in batch.columns] == [False, True]


def written(path: Path, table: pa.Table, *, piece: str = "p", **writer: Any) -> Split:
    pq.write_table(table, path, **writer)
    return Split(piece, str(path.parent), str(path), None, path.stat().st_size)


def whole(path: Path) -> Split:
    return Split("p", str(path.parent), str(path), None, 1)


def analysed(tasks: list[list[Split]]) -> list[tuple[int, tuple[ColumnStatistics, ...]]]:
    """Rows and statistics of the one piece."""
    states = States(TYPES)
    for task in tasks:
        states.merge(parquet.task_states(task, TYPES))
    total = states.total()
    return [(total.rows, total.statistics(TYPES))]
