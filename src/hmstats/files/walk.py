"""The files below a local directory, at any depth.

Links are followed, except for links to a directory that contains them: one such loop yields as many paths as the system
allows, and two in one directory exponentially many. Files that vanish meanwhile are skipped.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_Identity = tuple[int, int]
"""Device and inode, which are equal for all paths of a directory."""


class LocalFile(NamedTuple):
    """A file by its path, its size, and when it was written (epoch time)."""

    path: str
    bytes: int
    modified_ns: int


def files_below(path: str, hidden: Callable[[str], bool]) -> Iterator[LocalFile]:
    """The files below a directory, without files and directories whose names are `hidden`.

    Raises OSError when a directory cannot be listed, or if the first one is no directory.
    """
    waiting = [(path, frozenset({_identity(Path(path).stat())}))]
    while waiting:
        directory, around = waiting.pop()
        for below, found in _entries(directory, hidden, first=directory == path):
            if stat.S_ISREG(found.st_mode):
                yield LocalFile(below, found.st_size, found.st_mtime_ns)
            elif stat.S_ISDIR(found.st_mode) and _identity(found) not in around:
                waiting.append((below, around | {_identity(found)}))


def file_at(path: str) -> LocalFile:
    """The file at a path. Raises OSError."""
    found = Path(path).stat()
    return LocalFile(path, found.st_size, found.st_mtime_ns)


def _entries(directory: str, hidden: Callable[[str], bool], *, first: bool) -> Iterator[tuple[str, os.stat_result]]:
    """The paths in a directory with the status of their targets; broken links are skipped."""
    try:
        with os.scandir(directory) as entries:
            found = [entry for entry in entries if not hidden(entry.name)]
    except FileNotFoundError:
        if first:
            raise
        return
    for entry in found:
        if (leads_to := _stat(entry)) is not None:
            yield entry.path, leads_to


def _stat(entry: "os.DirEntry[str]") -> os.stat_result | None:
    try:
        return entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        if entry.is_symlink() and error.errno == errno.ELOOP:
            return None
        raise


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino
