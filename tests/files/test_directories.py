"""A directory moves whole or not at all, on file systems that rename and on those that only copy."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store

from hmstats.files import directories, file_systems
from hmstats.files.file_systems import open_location
from hmstats.service.warehouse.warehouse import EVERYWHERE, Warehouse

FILES = {"a": b"1", "k=x%2Fy z/b#1": b"22", "k=1/deep/c?": b"333"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture
def bucket(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[fs.FileSystem]:
    """The store, empty, as a server finds it by its environment."""
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    file_systems.open_root.cache_clear()
    files = open_location(f"s3a://{BUCKET}/x")[0]
    files.delete_dir_contents(BUCKET)
    yield files
    file_systems.open_root.cache_clear()


class _Failing:
    """A file system that fails as told, and is another one otherwise."""

    def __init__(self, files: fs.FileSystem, **failing: BaseException) -> None:
        self._files, self._failing = files, failing

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            if name in self._failing and "deep" in str(arguments) + name:
                raise self._failing[name]
            return getattr(self._files, name)(*arguments, **named)

        found = getattr(self._files, name)
        return call if callable(found) else found


def fill(files: fs.FileSystem, root: str) -> None:
    """Write FILES below a path."""
    for name, data in FILES.items():
        path = f"{root}/{name}"
        files.create_dir(path.rpartition("/")[0], recursive=True)
        with files.open_output_stream(path) as out:
            out.write(data)


def read(files: fs.FileSystem, root: str) -> dict[str, bytes]:
    """All files below a path."""
    found = files.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True))
    return {each.path[len(root) + 1 :]: files.open_input_stream(each.path).read() for each in found if each.is_file}


def test_a_bucket_is_opened_by_the_standard_environment(bucket: fs.FileSystem) -> None:
    fill(bucket, f"{BUCKET}/t")
    for scheme in ("s3", "s3a", "s3n"):
        files, path = open_location(f"{scheme}://{BUCKET}/t/k=x%2Fy z/b#1")
        assert files.get_file_info(path).size == 2


def test_a_directory_of_an_object_store_moves_whole(bucket: fs.FileSystem) -> None:
    fill(bucket, f"{BUCKET}/w/t")
    warehouse = Warehouse(f"s3://{BUCKET}/w")
    move = warehouse.planned_move(f"s3a://{BUCKET}/w/t", f"s3://{BUCKET}/w/new/u")
    assert move is not None
    move.prepare()
    assert move.finish()
    assert read(bucket, f"{BUCKET}/w/new/u") == FILES
    warehouse.remove_directories([f"s3a://{BUCKET}/w/t"])
    assert bucket.get_file_info(f"{BUCKET}/w/t").type is fs.FileType.NotFound


def test_a_directory_of_an_object_store_is_made_emptied_and_removed(bucket: fs.FileSystem) -> None:
    warehouse = Warehouse("s3://elsewhere/w", [EVERYWHERE])
    warehouse.make_directory(f"s3a://{BUCKET}/x/made")
    assert bucket.get_file_info(f"{BUCKET}/x/made").type is fs.FileType.Directory
    fill(bucket, f"{BUCKET}/x/made")
    fill(bucket, f"{BUCKET}/x/made-2")
    warehouse.empty_directories([f"s3n://{BUCKET}/x/made"])
    assert read(bucket, f"{BUCKET}/x/made") == {}
    warehouse.remove_directories([f"s3n://{BUCKET}/x/made"])
    assert bucket.get_file_info(f"{BUCKET}/x/made").type is fs.FileType.NotFound
    assert read(bucket, f"{BUCKET}/x/made-2") == FILES
    warehouse.remove_directories([f"s3://{BUCKET}"])
    assert read(bucket, f"{BUCKET}/x/made-2") == FILES


@pytest.mark.parametrize("failure", [OSError("no room"), KeyboardInterrupt()])
def test_a_failed_copy_leaves_the_source_and_no_copies(bucket: fs.FileSystem, failure: BaseException) -> None:
    fill(bucket, f"{BUCKET}/t")
    with pytest.raises(type(failure)):
        directories.move(_Failing(bucket, copy_file=failure), f"{BUCKET}/t", f"{BUCKET}/u")
    assert read(bucket, f"{BUCKET}/t") == FILES
    assert read(bucket, f"{BUCKET}/u") == {}


def test_a_copy_that_is_not_whole_is_a_failed_one(bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(bucket, f"{BUCKET}/t")
    monkeypatch.setattr(directories, "_MOST_COPIED_BYTES", 0)
    monkeypatch.setattr(fs, "copy_files", lambda *_, **__: None)
    with pytest.raises(OSError, match=r"must have \d bytes, found"):
        directories.move(bucket, f"{BUCKET}/t", f"{BUCKET}/u")
    assert read(bucket, f"{BUCKET}/t") == FILES
    assert read(bucket, f"{BUCKET}/u") == {}


def test_what_the_store_does_not_copy_itself_passes_through(
    bucket: fs.FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(bucket, f"{BUCKET}/t")
    monkeypatch.setattr(directories, "_MOST_COPIED_BYTES", 1)
    directories.move(bucket, f"{BUCKET}/t", f"{BUCKET}/u")
    assert read(bucket, f"{BUCKET}/u") == FILES


def test_a_source_that_cannot_be_removed_is_whole_at_the_target(bucket: fs.FileSystem) -> None:
    fill(bucket, f"{BUCKET}/deep")
    directories.move(_Failing(bucket, delete_dir=OSError("denied")), f"{BUCKET}/deep", f"{BUCKET}/u")
    assert read(bucket, f"{BUCKET}/u") == FILES


def test_from_one_disk_to_another_a_directory_is_copied(tmp_path: Path) -> None:
    local = fs.LocalFileSystem()
    fill(local, f"{tmp_path}/deep")
    (tmp_path / "deep" / "empty").mkdir()
    other = _Failing(local, move=OSError(errno.EXDEV, "another disk"))
    directories.move(other, f"{tmp_path}/deep", f"{tmp_path}/new/u")
    assert read(local, f"{tmp_path}/new/u") == FILES
    assert (tmp_path / "new" / "u" / "empty").is_dir()
    assert not (tmp_path / "deep").exists()


def test_a_failed_rename_changes_nothing(tmp_path: Path) -> None:
    local = fs.LocalFileSystem()
    fill(local, f"{tmp_path}/deep")
    with pytest.raises(OSError, match="denied"):
        directories.move(_Failing(local, move=OSError(errno.EACCES, "denied")), f"{tmp_path}/deep", f"{tmp_path}/u")
    assert read(local, f"{tmp_path}/deep") == FILES
    assert not (tmp_path / "u").exists()
