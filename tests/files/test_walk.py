"""Files below a directory, whatever links and other processes do."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hmstats.files import walk
from hmstats.files.walk import files_below
from hmstats.model.parameters.basic_statistics import FileSizes
from hmstats.service.warehouse.file_listing import FileListing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a file, and one in a directory below."""
    (tmp_path / "t" / "deep").mkdir(parents=True)
    for name in ("a", "deep/b"):
        (tmp_path / "t" / name).write_bytes(b"abc")
    return tmp_path / "t"


def found(place: Path) -> list[str]:
    return sorted(os.path.relpath(each.path, place) for each in files_below(str(place), lambda name: name[0] in "._"))


def test_each_file_is_told_with_size_and_time(place: Path) -> None:
    os.utime(place / "a", ns=(0, 1_600_000_000_123_456_789))
    (file,) = (each for each in files_below(f"{place}/", lambda name: name == "deep"))
    assert file == (str(place / "a"), 3, 1_600_000_000_123_456_789)


def test_hidden_directories_are_not_entered(place: Path) -> None:
    (place / "_tmp").mkdir()
    (place / "_tmp" / "c").write_bytes(b"abc")
    (place / ".a.crc").write_bytes(b"abc")
    assert found(place) == ["a", "deep/b"]


@pytest.mark.parametrize("target", [".", "..", "../.."])
@pytest.mark.parametrize("loops", [1, 3])
def test_a_loop_of_links_is_counted_once(place: Path, loops: int, target: str) -> None:
    for number in range(loops):
        (place / "deep" / f"loop{number}").symlink_to(target)
    assert found(place) == ["a", "deep/b"]
    assert FileListing().size(f"file:{place}") == FileSizes(2, 6, exists=True)


def test_a_directory_that_two_links_lead_to_is_counted_twice(place: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c").write_bytes(b"abcd")
    for name in ("one", "two"):
        (place / name).symlink_to(tmp_path / "other")
    assert found(place) == ["a", "deep/b", "one/c", "two/c"]
    assert FileListing().size(f"file:{place}") == FileSizes(4, 14, exists=True)


def test_links_that_lead_nowhere_are_no_files(place: Path) -> None:
    (place / "gone").symlink_to(place / "nothing")
    (place / "itself").symlink_to("itself")
    os.mkfifo(place / "pipe")
    assert found(place) == ["a", "deep/b"]


def test_what_goes_away_meanwhile_is_left_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = walk._entries

    def vanishing(directory: str, *args: object, **given: object) -> Iterator[object]:
        for path, status in entries(directory, *args, **given):  # type: ignore[arg-type]
            yield path, status
            (place / "deep" / "b").unlink(missing_ok=True)
            if (place / "deep").exists():
                (place / "deep").rmdir()

    monkeypatch.setattr(walk, "_entries", vanishing)
    assert found(place) == ["a"]


def test_what_cannot_be_listed_is_an_error(place: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        found(place / "none")
    with pytest.raises(NotADirectoryError, match="/a"):
        found(place / "a")
