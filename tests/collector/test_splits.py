"""Tasks hold every file once, cut large files by row groups, and are about equal."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hmstats.collector import splits
from hmstats.collector.files import DataFile, data_files
from hmstats.collector.plan import Piece
from hmstats.collector.splits import Split, cut


def test_small_files_share_a_task_and_partitions_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST_TASK_BYTES", 100)
    files = {name: [DataFile(f"/{name}/{number}", 30) for number in range(2)] for name in "abcdefghij"}
    tasks = cut([piece(name) for name in files], files, cores=2)
    assert [split.path for task in tasks for split in task] == [file.path for found in files.values() for file in found]
    assert all(sum(split.bytes for split in task) <= 100 for task in tasks)
    assert len(tasks) == 7


def test_a_large_file_is_cut_by_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LEAST_TASK_BYTES", 1)
    pq.write_table(pa.table({"a": range(10_000)}), tmp_path / "x.parquet", row_group_size=1000)
    tasks = cut([Piece("p", (), str(tmp_path), parquet=True)], {"p": data_files(str(tmp_path))}, cores=1)
    groups = [group for task in tasks for split in task for group in split.row_groups or ()]
    assert groups == list(range(10))
    assert 3 <= len(tasks) <= 5
    assert {split.path for task in tasks for split in task} == {str(tmp_path / "x.parquet")}


def test_nothing_to_read_is_no_task() -> None:
    assert cut([piece("a")], {"a": []}, cores=2) == []


def test_a_file_that_fits_is_read_whole() -> None:
    tasks = cut([piece("a")], {"a": [DataFile("/a/x", 10)]}, cores=2)
    assert tasks == [[Split("a", "/a", "/a/x", None, 10)]]


def piece(name: str) -> Piece:
    return Piece(name, (), f"/{name}", parquet=True)
