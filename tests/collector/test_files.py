"""Data files are found where Hadoop would find them."""

from pathlib import Path

import pytest
from pyarrow import fs

from hmstats.collector.files import DataFile, data_files, open_location


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("file:/a/b", "/a/b"),
        ("file:///a/b", "/a/b"),
        ("/a/b", "/a/b"),
        ("file:/a/p=x%2Fy z#?", "/a/p=x%2Fy z#?"),
    ],
)
def test_a_location_is_taken_as_it_is_written(location: str, path: str) -> None:
    system, found = open_location(location)
    assert isinstance(system, fs.LocalFileSystem)
    assert found == path


def test_an_object_store_is_opened_by_its_bucket() -> None:
    system, path = open_location("gs://bucket/a b/p=x%2Fy")
    assert isinstance(system, fs.GcsFileSystem)
    assert path == "bucket/a b/p=x%2Fy"


def test_hidden_and_empty_files_are_no_data(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet", "deep/c", "_p=1/d"):
        written(tmp_path / name, b"abc")
    for name in ("_SUCCESS", ".a.parquet.crc", "_temporary/0/x", ".hive-staging/x", "deep/.x"):
        written(tmp_path / name, b"abc")
    written(tmp_path / "empty", b"")
    paths = ["_p=1/d", "a.parquet", "b.parquet", "deep/c"]
    assert data_files(f"file:{tmp_path}/") == [DataFile(str(tmp_path / path), 3) for path in paths]


def test_a_place_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert data_files(str(tmp_path / "none")) == []
    assert data_files("") == []


def written(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
