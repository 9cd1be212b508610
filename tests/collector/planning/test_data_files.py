"""Data files are found where Hadoop would find them."""

import os
from pathlib import Path

import pytest
from pyarrow import fs

from hmstats.collector.planning.data_files import DataFile, data_files, list_each, list_files
from hmstats.files.file_systems import open_location


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
    for name in ("_SUCCESS", "b.parquet._COPYING_", ".a.parquet.crc", "_temporary/0/x", ".hive-staging/x", "deep/.x"):
        written(tmp_path / name, b"abc")
    written(tmp_path / "empty", b"")
    paths = ["_p=1/d", "a.parquet", "b.parquet", "deep/c"]
    assert [(file.path, file.bytes) for file in data_files(f"file:{tmp_path}/")] == [
        (str(tmp_path / path), 3) for path in paths
    ]


def test_a_location_may_be_one_file(tmp_path: Path) -> None:
    written(tmp_path / "x.parquet", b"abc")
    written(tmp_path / "none.parquet", b"")
    assert data_files(f"file:{tmp_path}/x.parquet") == [
        DataFile(str(tmp_path / "x.parquet"), 3, (tmp_path / "x.parquet").stat().st_mtime_ns)
    ]
    assert data_files(f"file:{tmp_path}/none.parquet") == []


def test_a_file_says_when_it_was_written(tmp_path: Path) -> None:
    written(tmp_path / "a", b"abc")
    os.utime(tmp_path / "a", ns=(0, 1_600_000_000_123_456_789))
    assert data_files(str(tmp_path)) == [DataFile(str(tmp_path / "a"), 3, 1_600_000_000_123_456_789)]


def test_many_places_are_listed_by_their_names(tmp_path: Path) -> None:
    for number in range(100):
        written(tmp_path / f"p={number}" / "x", b"a" * (number + 1))
    places = {f"p={number}": f"file:{tmp_path}/p={number}" for number in range(101)}
    found = list_files(places)
    assert list(found) == list(places)
    assert [[file.bytes for file in files] for files in found.values()] == [[each + 1] for each in range(100)] + [[]]
    assert list_files({}) == {}
    assert list_files({"": places["p=3"]}) == {"": found["p=3"]}


def test_a_place_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere://x/file cannot be opened"):
        list_files({"a": str(tmp_path), "b": "nowhere://x/file"})


def test_a_place_that_is_not_there_is_told_from_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert data_files(str(tmp_path / "empty")) == []
    with pytest.raises(FileNotFoundError, match="there is no such directory: 'file:/nowhere/none'"):
        data_files("file:/nowhere/none")
    assert data_files("") == []
    places = {"a": str(tmp_path / "empty"), "b": "/nowhere/none"}
    assert list_files(places) == {"a": [], "b": []}
    found = list_each(places)
    assert (found["a"], type(found["b"])) == ([], FileNotFoundError)


def test_a_loop_of_links_is_counted_once(tmp_path: Path) -> None:
    written(tmp_path / "t" / "x", b"abc")
    for name in ("one", "two"):
        (tmp_path / "t" / name).symlink_to(tmp_path)
    assert [file.path for file in data_files(str(tmp_path / "t"))] == [str(tmp_path / "t" / "x")]


def written(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
