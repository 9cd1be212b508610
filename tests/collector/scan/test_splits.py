"""Tasks hold every file once, cut large files by row groups, and are about equal; a sample is the same every time."""

import threading
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile, data_files
from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan.files import splits
from hmstats.collector.scan.files.splits import Split, cut

MB = 1024 * 1024


def test_small_partitions_are_whole_and_tasks_are_about_equal() -> None:
    files = {f"p{number}": [DataFile(f"/{number}/{part}", MB) for part in range(3)] for number in range(40)}
    tasks = cut([piece(name) for name in files], files, cores=2)
    assert [split.path for task in tasks for split in task] == [file.path for found in files.values() for file in found]
    assert len(tasks) == 6
    assert all(18 <= len(task) <= 24 for task in tasks)
    held = [{split.piece for split in task} for task in tasks]
    assert sum(len(each) for each in held) == len(files)


@given(
    st.lists(st.lists(st.integers(0, 90).map(lambda size: size * MB), max_size=8), max_size=12),
    st.integers(1, 8),
    st.none() | st.integers(1, 9),
)
def test_every_file_is_read_once_in_no_more_tasks_than_allowed(
    sizes: list[list[int]], cores: int, most_tasks: int | None
) -> None:
    files = {
        f"p{number}": [DataFile(f"/none/{number}/{part}", size) for part, size in enumerate(found)]
        for number, found in enumerate(sizes)
    }
    tasks = cut([piece(name) for name in files], files, cores, Options(most_tasks=most_tasks))
    expected = sorted(file.path for found in files.values() for file in found)
    assert sorted(split.path for task in tasks for split in task) == expected
    assert all(tasks)
    assert len(tasks) <= min(3 * cores, most_tasks or 99)


def test_a_large_file_is_cut_by_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = parquet_file(tmp_path, monkeypatch)
    tasks = cut([at(tmp_path)], {"p": file}, cores=1)
    assert [split.row_groups for task in tasks for split in task] == [(0, 1, 2), (3, 4, 5, 6), (7, 8, 9)]
    assert {split.path for task in tasks for split in task} == {str(tmp_path / "x.parquet")}
    (one,) = cut([at(tmp_path)], {"p": file}, cores=1, options=Options(most_tasks=1))
    assert one == [
        Split("p", str(tmp_path), str(tmp_path / "x.parquet"), None, file[0].bytes, listed_bytes=file[0].bytes)
    ]


def test_a_large_file_without_a_footer_is_left_to_the_task_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = parquet_file(tmp_path, monkeypatch)
    (tmp_path / "x.parquet").write_bytes(b"x" * file[0].bytes)
    for options in (Options(), Options(sample_fraction=0.1)):
        tasks = cut([at(tmp_path)], {"p": file}, cores=1, options=options)
        assert tasks == [
            [Split("p", str(tmp_path), str(tmp_path / "x.parquet"), None, file[0].bytes, listed_bytes=file[0].bytes)]
        ]


@pytest.mark.parametrize(("fraction", "groups"), [(0.01, 1), (0.3, 3), (0.31, 4), (0.999, 10)])
def test_a_sample_is_of_row_groups_and_knows_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fraction: float, groups: int
) -> None:
    file = parquet_file(tmp_path, monkeypatch)
    found = [
        [split for task in cut([at(tmp_path)], {"p": file}, cores, Options(sample_fraction=fraction)) for split in task]
        for cores in (1, 5)
    ]
    read = [sorted(group for split in each for group in split.row_groups or ()) for each in found]
    assert read[0] == read[1]
    assert len(set(read[0])) == groups
    assert [sum(split.rows_left_out for split in each) for each in found] == [(10 - groups) * 1000] * 2


def test_a_sample_is_the_same_wherever_the_files_lie(tmp_path: Path) -> None:
    picked = []
    for place in ("here", "there/deep"):
        (tmp_path / place).mkdir(parents=True)
        path = tmp_path / place / "x.parquet"
        pq.write_table(pa.table({"a": range(1000)}), path, row_group_size=10)
        file = DataFile(str(path), path.stat().st_size)
        pieces = [Piece("p", (), f"file:{tmp_path}/{place}", parquet=True)]
        tasks = cut(pieces, {"p": [file]}, cores=1, options=Options(sample_fraction=0.3))
        picked.append([group for task in tasks for split in task for group in split.row_groups or ()])
    assert picked[0] == picked[1]
    assert len(picked[0]) == 30


def test_every_partition_has_rows_in_a_sample(tmp_path: Path) -> None:
    pieces, files = [], {}
    for number in range(5):
        pq.write_table(pa.table({"a": range(100)}), tmp_path / f"{number}.parquet")
        pieces.append(Piece(str(number), (), str(tmp_path), parquet=True))
        files[str(number)] = [DataFile(str(tmp_path / f"{number}.parquet"), 1)]
    tasks = cut(pieces, files, cores=1, options=Options(sample_fraction=0.001))
    assert {split.piece for task in tasks for split in task if split.row_groups} == set(files)


def test_nothing_to_read_is_no_task() -> None:
    assert cut([piece("a")], {"a": []}, cores=2) == []


def test_a_file_that_fits_is_read_whole() -> None:
    tasks = cut([piece("a")], {"a": [DataFile("/a/x", 10)]}, cores=2)
    assert tasks == [[Split("a", "/a", "/a/x", None, 10, listed_bytes=10)]]


def parquet_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[DataFile]:
    """A file of ten row groups of a thousand rows that is large enough for several tasks."""
    monkeypatch.setattr(splits, "_LEAST_TASK_BYTES", 1)
    monkeypatch.setattr(splits, "_OPENING_BYTES", 0)
    pq.write_table(pa.table({"a": range(10_000)}), folder / "x.parquet", row_group_size=1000)
    return data_files(str(folder))


def at(folder: Path) -> Piece:
    return Piece("p", (), str(folder), parquet=True)


def piece(name: str) -> Piece:
    return Piece(name, (), f"/{name}", parquet=True)


def test_footers_of_many_partitions_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition has one large file, so that threads for each partition alone would be of no use."""
    together = threading.Barrier(4, timeout=60)

    def footer(*_: Any, **__: Any) -> Any:
        together.wait()
        raise OSError("none")

    monkeypatch.setattr(pq, "read_metadata", footer)
    files = {f"p{number}": [DataFile(f"/none/{number}", 900 * MB)] for number in range(4)}
    assert len(list(chain.from_iterable(cut([piece(name) for name in files], files, cores=8)))) == 4
