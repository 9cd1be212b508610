"""The move of one directory in steps that survive a crash, and their undo.

If the file system can rename, the only step is one rename. Elsewhere everything is copied first, repeatedly while the
source changes, and the source stays: the committer of the move removes it afterwards.
"""

import errno
import posixpath
from pathlib import Path

from pyarrow import fs

from hmstats.files import directories
from hmstats.program_log import ProgramLog

_log = ProgramLog(__name__)


class DirectoryMove:
    """A move from a source to a target of one file system; `copies` says whether it is made by copies."""

    def __init__(self, files: fs.FileSystem, source: str, target: str) -> None:
        self._files = files
        self._source = source
        self._target = target
        self._copied: dict[str, fs.FileInfo] = {}
        self._renamed = False
        self.copies = not directories.renames(files)

    def identity(self) -> str | None:
        """The identity of the directory: device and inode on a local disk, None elsewhere."""
        return _identity(self._files, self._source)

    def prepare(self) -> None:
        """If the move is by copies, copy new files, and remove copies of removed ones. Raises OSError."""
        if not self.copies:
            return
        found = directories.listing(self._files, self._source)
        new = {name: each for name, each in found.items() if not _is_same_file(self._copied.get(name), each)}
        for name in self._copied.keys() - found.keys():
            _remove_any(self._files, f"{self._target}/{name}")
        directories.copy(self._files, new, self._source, self._target)
        self._copied = found

    def finish(self) -> bool:
        """Do the last step; safe to repeat. False if `prepare` must run again first.

        Raises OSError if the directory cannot be moved.
        """
        if self.copies:
            return _same_listings(self._copied, directories.listing(self._files, self._source))
        if self._renamed:
            return True
        try:
            directories.rename(self._files, self._source, self._target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self.copies = True  # the paths are on different disks
            return False
        self._renamed = True
        return True


def undo_rename(files: fs.FileSystem, source: str, target: str, identity: str | None) -> None:
    """Rename a directory back, if the target has its `identity`. Raises OSError."""
    if not _is_there(files, target) or (identity is not None and _identity(files, target) != identity):
        return
    _bring_back(files, source, target)


def _bring_back(files: fs.FileSystem, source: str, target: str) -> None:
    """Move the target's content to the source; entries that were created there meanwhile stay."""
    if not _is_there(files, source):
        directories.rename(files, target, source)
        return
    if not all(_is_directory(files, each) for each in (source, target)):
        _log.error("file_not_moved_back", path=target, to=source, reason="there is another by now")
        return
    for each in files.get_file_info(fs.FileSelector(target)):
        _bring_back(files, posixpath.join(source, posixpath.basename(each.path)), each.path)
    if not files.get_file_info(fs.FileSelector(target, allow_not_found=True)):
        directories.remove(files, target)


def undo_copy(files: fs.FileSystem, source: str, target: str) -> None:
    """Remove the target's copies of the source's files, and the target if it is empty then. Raises OSError."""
    originals, copies = (directories.listing(files, each) for each in (source, target))
    others = [name for name, each in copies.items() if each.is_file and not _is_copy(originals.get(name), each)]
    if not others:
        directories.remove(files, target)
        return
    _log.error("directory_not_removed", path=target, reason=f"{source} has not all that is in it", files=len(others))
    for name, each in copies.items():
        if each.is_file and name not in others:
            files.delete_file(each.path)


def _is_copy(original: fs.FileInfo | None, copy: fs.FileInfo) -> bool:
    """Whether a file may be a copy, complete or partial, of another."""
    return original is not None and original.is_file and copy.size <= original.size


def _same_listings(one: dict[str, fs.FileInfo], other: dict[str, fs.FileInfo]) -> bool:
    return one.keys() == other.keys() and all(_is_same_file(one[name], each) for name, each in other.items())


def _is_same_file(one: fs.FileInfo | None, other: fs.FileInfo) -> bool:
    if one is None or one.type is not other.type:
        return False
    return not other.is_file or (one.size, one.mtime_ns) == (other.size, other.mtime_ns)


def _remove_any(files: fs.FileSystem, path: str) -> None:
    if files.get_file_info(path).is_file:
        files.delete_file(path)
    else:
        directories.remove(files, path)


def _is_there(files: fs.FileSystem, path: str) -> bool:
    return files.get_file_info(path).type is not fs.FileType.NotFound


def _is_directory(files: fs.FileSystem, path: str) -> bool:
    return files.get_file_info(path).type is fs.FileType.Directory


def _identity(files: fs.FileSystem, path: str) -> str | None:
    if files.type_name != "local":
        return None
    found = Path(path).lstat()
    return f"{found.st_dev}:{found.st_ino}"
