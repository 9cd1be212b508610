"""Files that are counted, and counts that are given up."""

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyarrow import fs

from hmstats.model.parameters.basic_statistics import FileSizes
from hmstats.service.warehouse import file_listing
from hmstats.service.warehouse.file_listing import FileListing


def _write(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))


def test_hidden_files_and_directories_hold_no_data(tmp_path: Path) -> None:
    for name, size in (("a", 3), ("k=1/b", 4), ("_SUCCESS", 9), (".c.crc", 9), ("_tmp/d", 9), ("k=1/.e", 9)):
        _write(tmp_path / "t" / name, size)
    assert FileListing().size(f"file:{tmp_path}/t") == FileSizes(2, 7, exists=True)


def test_a_name_that_a_uri_cannot_hold(tmp_path: Path) -> None:
    """A directory of a partition is named with what stands for other characters."""
    _write(tmp_path / "k=a%2Fb c ü" / "x", 5)
    assert FileListing().size(f"file:{tmp_path}/k=a%2Fb c ü") == FileSizes(1, 5, exists=True)


def test_a_single_file_and_what_is_not_there(tmp_path: Path) -> None:
    _write(tmp_path / "one.parquet", 5)
    (tmp_path / "empty").mkdir()
    places = [f"file:{tmp_path}/{name}" for name in ("one.parquet", "empty", "nowhere")]
    found = FileListing().sizes(places)
    assert [found[place] for place in places] == [
        FileSizes(1, 5, exists=True),
        FileSizes(exists=True),
        FileSizes(),
    ]


@pytest.mark.parametrize("location", ["nosuch://x/y", "s3:///"])
def test_a_place_that_cannot_be_listed_is_unknown(location: str) -> None:
    assert FileListing().size(location) is None


def test_no_time_counts_nothing(tmp_path: Path) -> None:
    assert FileListing(0).size(f"file:{tmp_path}") is None


def test_a_place_that_hangs_is_left_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted before counts; the slow store is not asked again, another is."""
    hanging, asked = Event(), list[str]()

    def open_location(location: str) -> tuple[Any, str]:
        asked.append(location)
        if location.startswith("slow:"):
            hanging.wait(30)
        return fs.LocalFileSystem(), str(tmp_path)

    monkeypatch.setattr(file_listing, "open_location", open_location)
    monkeypatch.setattr(file_listing, "_REMOTE_THREADS", 1)
    listing = FileListing(0.2)
    try:
        assert list(listing.sizes(["fast://b/1", "slow://a/1", "slow://a/2"])) == ["fast://b/1"]
        assert listing.sizes(["slow://a/3", "fast://b/2"]).keys() == {"fast://b/2"}
        assert asked == ["fast://b/1", "slow://a/1", "fast://b/2"]
        after_the_pause = time.monotonic() + 61
        monkeypatch.setattr(time, "monotonic", lambda: after_the_pause)
        assert listing.size("slow://a/4") is None
        assert asked[-1] == "slow://a/4"
    finally:
        hanging.set()
