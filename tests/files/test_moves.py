"""A move in steps: what a crash between them leaves is undone, and nothing that is somebody else's is touched."""

import errno
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from structlog.testing import capture_logs

from hmstats.files import directories, moves
from hmstats.files.moves import DirectoryMove

LOCAL = fs.LocalFileSystem()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A directory with a file, and one in a directory."""
    found = tmp_path / "source"
    (found / "k=1").mkdir(parents=True)
    (found / "part-0").write_text("rows")
    (found / "k=1" / "part-0").write_text("more rows")
    return found


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "new" / "target"


def _contents(directory: Path) -> dict[str, str]:
    return {str(each.relative_to(directory)): each.read_text() for each in directory.rglob("*") if each.is_file()}


ROWS = {"part-0": "rows", "k=1/part-0": "more rows"}


def _copying(source: Path, target: Path) -> DirectoryMove:
    move = DirectoryMove(LOCAL, str(source), str(target))
    move.copies = True
    return move


def test_where_directories_are_renamed_the_last_step_does_it(source: Path, target: Path) -> None:
    move = DirectoryMove(LOCAL, str(source), str(target))
    identity = move.identity()
    move.prepare()
    assert not target.exists()
    assert move.finish()
    assert move.finish()
    assert _contents(target) == ROWS
    moves.undo_rename(LOCAL, str(source), str(target), identity)
    assert _contents(source) == ROWS
    assert not target.exists()
    moves.undo_rename(LOCAL, str(source), str(target), identity)
    assert _contents(source) == ROWS


def test_copies_follow_a_source_that_changes(source: Path, target: Path) -> None:
    move = _copying(source, target)
    move.prepare()
    (source / "part-1").write_text("new rows")
    (source / "part-0").write_text("other rows")
    (source / "k=1" / "part-0").unlink()
    assert not move.finish()
    move.prepare()
    assert move.finish()
    assert _contents(target) == _contents(source) == {"part-0": "other rows", "part-1": "new rows"}


def test_between_two_disks_a_directory_is_copied(source: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(directories, "rename", refuse)
    move = DirectoryMove(LOCAL, str(source), str(target))
    move.prepare()
    assert not move.finish()
    assert move.copies
    move.prepare()
    assert move.finish()
    assert _contents(target) == ROWS


def test_what_lies_at_the_target_and_was_never_moved_stays(source: Path, target: Path) -> None:
    identity = DirectoryMove(LOCAL, str(source), str(target)).identity()
    target.mkdir(parents=True)
    (target / "precious").write_text("of others")
    moves.undo_rename(LOCAL, str(source), str(target), identity)
    assert _contents(target) == {"precious": "of others"}
    assert _contents(source) == ROWS


def test_what_was_written_to_the_source_meanwhile_stays_beside_what_comes_back(source: Path, target: Path) -> None:
    move = DirectoryMove(LOCAL, str(source), str(target))
    identity = move.identity()
    assert move.finish()
    (source / "k=1").mkdir(parents=True)
    (source / "k=1" / "part-1").write_text("late rows")
    moves.undo_rename(LOCAL, str(source), str(target), identity)
    assert _contents(source) == {**ROWS, "k=1/part-1": "late rows"}
    assert not target.exists()


def test_of_two_files_of_one_name_neither_is_lost(source: Path, target: Path) -> None:
    move = DirectoryMove(LOCAL, str(source), str(target))
    identity = move.identity()
    assert move.finish()
    source.mkdir()
    (source / "part-0").write_text("late rows")
    with capture_logs() as lines:
        moves.undo_rename(LOCAL, str(source), str(target), identity)
    assert _contents(source) == {**ROWS, "part-0": "late rows"}
    assert _contents(target) == {"part-0": "rows"}
    assert [each["event"] for each in lines] == ["file_not_moved_back"]


def test_copies_are_removed_though_the_last_is_not_whole(source: Path, target: Path) -> None:
    _copying(source, target).prepare()
    (target / "part-0").write_text("ro")
    moves.undo_copy(LOCAL, str(source), str(target))
    assert not target.exists()
    moves.undo_copy(LOCAL, str(source), str(target))
    assert _contents(source) == ROWS


def test_what_the_source_does_not_have_is_not_removed_with_the_copies(source: Path, target: Path) -> None:
    _copying(source, target).prepare()
    (source / "k=1" / "part-0").unlink()
    (target / "part-9").write_text("of others")
    with capture_logs() as lines:
        moves.undo_copy(LOCAL, str(source), str(target))
    assert _contents(target) == {"part-9": "of others", "k=1/part-0": "more rows"}
    assert [(each["event"], each["files"]) for each in lines] == [("directory_not_removed", 2)]
