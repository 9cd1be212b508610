"""Operations on whole directories: remove, empty, move, copy.

If a rename is one step of the file system (local, HDFS), a directory is renamed. Elsewhere, on object stores and
between disks, everything is copied before anything of the source is removed; if a copy fails, the copies are removed.
"""

import errno
import os
import posixpath
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from pyarrow import fs

from hmstats.files import hdfs
from hmstats.program_log import ProgramLog

_log = ProgramLog(__name__)
_RENAMING = frozenset({"local", *hdfs.TYPE_NAMES})
"""Arrow's names of the file systems that rename a directory in one step."""
_COPYING_THREADS = 32
"""Files that are copied in parallel, since the threads wait for an object store, not for a core."""
_MOST_COPIED_BYTES = 5 * 1000**3
"""The largest object that S3 copies by itself. A larger one passes through this machine."""


def renames(files: fs.FileSystem) -> bool:
    """Whether a directory of this file system moves in one step."""
    return files.type_name in _RENAMING


def remove(files: fs.FileSystem, path: str) -> None:
    """Remove a directory and its content. If it is a symbolic link, only the link is removed."""
    if is_link(files, path):
        Path(path).unlink()
    elif files.get_file_info(path).type is fs.FileType.Directory:
        files.delete_dir(path)


def empty(files: fs.FileSystem, path: str) -> None:
    """Remove all that a directory holds."""
    files.delete_dir_contents(path, missing_dir_ok=True)


def remove_empty_parents(files: fs.FileSystem, path: str, levels: int) -> None:
    """Remove so many directories above a path, the nearest first, up to one that is not empty."""
    for _ in range(levels):
        path = posixpath.dirname(path)
        if files.get_file_info(fs.FileSelector(path, allow_not_found=True)):
            return
        if files.type_name != "local" or is_link(files, path):
            remove(files, path)
            continue
        try:
            Path(path).rmdir()  # refused if somebody has written to it by now
        except FileNotFoundError:
            continue
        except OSError:
            return


def is_link(files: fs.FileSystem, path: str) -> bool:
    """Whether a path of the local file system is a symbolic link."""
    return files.type_name == "local" and posixpath.islink(path)


def move(files: fs.FileSystem, source: str, target: str) -> None:
    """Move a directory to an unused path. Raises OSError; the source is then complete, and the target empty."""
    try:
        if renames(files):
            rename(files, source, target)
            return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    _copy_and_remove(files, source, target)


def rename(files: fs.FileSystem, source: str, target: str) -> None:
    """Rename a directory and sync, so that the rename survives a power failure. Raises OSError."""
    files.create_dir(posixpath.dirname(target), recursive=True)
    files.move(source, target)
    if files.type_name == "local":
        for parent in {posixpath.dirname(source), posixpath.dirname(target)}:
            _write_to_disk(parent)


def _write_to_disk(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_and_remove(files: fs.FileSystem, source: str, target: str) -> None:
    try:
        copy(files, listing(files, source), source, target)
    except BaseException:
        _undo(files, target)
        raise
    try:
        files.delete_dir(source)
    except OSError as error:  # the target is complete and is used from now on
        _log.warning("directory_not_removed", path=source, copied_to=target, reason=str(error))


def listing(files: fs.FileSystem, path: str) -> dict[str, fs.FileInfo]:
    """Files and directories below a directory, by their relative paths; empty if it does not exist."""
    infos = files.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    return {str(each.path)[len(path) + 1 :]: each for each in infos}


def copy(files: fs.FileSystem, listed: Mapping[str, fs.FileInfo], source: str, target: str) -> None:
    """Copy the listed files of a directory to another. Raises OSError; finished copies stay."""
    files.create_dir(target, recursive=True)
    ordered = [listed[name] for name in sorted(listed)]
    for each in ordered:
        if each.type is fs.FileType.Directory:
            files.create_dir(_at(each, source, target), recursive=True)
    copied = [each for each in ordered if each.type is fs.FileType.File]
    with ThreadPoolExecutor(_COPYING_THREADS) as threads:
        list(threads.map(partial(_copy_file, files, source=source, target=target), copied))


def _copy_file(files: fs.FileSystem, file: fs.FileInfo, *, source: str, target: str) -> None:
    path = _at(file, source, target)
    if file.size <= _MOST_COPIED_BYTES:
        files.copy_file(file.path, path)
    else:
        fs.copy_files(file.path, path, source_filesystem=files, destination_filesystem=files)
    size = files.get_file_info(path).size
    if size != file.size:
        raise OSError(f"the copy {path} of {file.path} must have {file.size} bytes, found {size}")


def _at(file: fs.FileInfo, source: str, target: str) -> str:
    return target + str(file.path)[len(source) :]


def _undo(files: fs.FileSystem, target: str) -> None:
    try:
        files.delete_dir(target)
    except OSError as error:
        _log.warning("copies_not_removed", path=target, reason=str(error))
