"""The warehouse: where managed tables live, and the only place in which directories are made and removed.

Directories are reached through pyarrow.fs, so a warehouse may be a local path or any URI that Arrow knows (s3, gs,
abfs, hdfs). A path outside the root, or one that leaves it by `..` or a symbolic link, is never touched.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

import structlog
from pyarrow import fs

from hmstats.errors import InvalidOperation
from hmstats.model.names import escape

_log = structlog.get_logger(__name__)

_Change = Callable[[fs.FileSystem, str], None]


class Warehouse:
    """The root directory of managed databases and tables. `root` is a path or a URI."""

    def __init__(self, root: str) -> None:
        self.root = _as_uri(root)

    def database_location(self, database: str, catalog_location: str | None = None) -> str:
        """Where a database goes that names no place: `<database>.db` in its catalog's place, for `hive` the root.

        The database `default` is at that place itself.
        """
        parent = catalog_location.rstrip("/") if catalog_location else self.root
        return parent if database == "default" else f"{parent}/{escape(database)}.db"

    def table_location(self, database_location: str, table: str) -> str:
        """Where a table goes that names no place."""
        return f"{database_location.rstrip('/')}/{escape(table)}"

    def holds(self, location: str | None) -> bool:
        """Whether a location lies strictly inside the root, links followed."""
        return bool(self._inside([location]))

    def check_place(self, location: str) -> None:
        """Raises InvalidOperation when a file inside the root is where a directory should be."""
        if self.holds(location):
            files, path = _file_system(location)
            if files.get_file_info(path).type is fs.FileType.File:
                raise InvalidOperation(f"{location} must be a directory, found a file")

    def make_directory(self, location: str | None) -> None:
        """Make a directory inside the root; a location elsewhere is left alone. A failure is logged."""
        self.make_directories([location])

    def make_directories(self, locations: Iterable[str | None]) -> None:
        """The same for many: links above them are followed once, and those that are there cost next to nothing."""
        inside = self._inside(locations, "make")
        there = _are_there(inside)
        for location in inside:
            if location not in there:
                self._try(location, "make", lambda files, path: files.create_dir(path, recursive=True))

    def remove_directory(self, location: str | None) -> None:
        """Remove a directory inside the root with all that it holds; a location elsewhere is left alone."""
        self._change(location, "remove", _remove)

    def remove_partition_directories(self, locations: Iterable[str | None], keys: int) -> None:
        """The same for many, and of the `keys - 1` directories above each, those that are empty now."""
        for location in self._inside(locations, "remove"):
            self._try(location, "remove", lambda files, path: _remove_upwards(files, path, keys))

    def empty_directory(self, location: str | None) -> None:
        """Remove all that a directory inside the root holds; a location elsewhere is left alone."""
        self._change(location, "empty", lambda files, path: files.delete_dir_contents(path, missing_dir_ok=True))

    def move_directory(self, old: str, new: str) -> bool:
        """Move a directory inside the root to another place inside it; whether there was one to move.

        Raises InvalidOperation when it cannot be moved; it is where it was then.
        """
        if not (self.holds(old) and self.holds(new)):
            raise InvalidOperation(f"{old} or {new} lies outside the warehouse {self.root}: no directory was moved")
        files, path = _file_system(old)
        target = _file_system(new)[1]
        try:
            if files.get_file_info(path).type is fs.FileType.NotFound:
                return False
            if files.get_file_info(target).type is not fs.FileType.NotFound:
                raise InvalidOperation(f"{new} is there already: {old} was not moved")
            files.create_dir(posixpath.dirname(target), recursive=True)
            files.move(path, target)
        except OSError as error:
            raise InvalidOperation(f"{old} could not be moved to {new}: {error}") from error
        return True

    def _change(self, location: str | None, verb: str, change: _Change) -> None:
        for each in self._inside([location], verb):
            self._try(each, verb, change)

    def _inside(self, locations: Iterable[str | None], verb: str | None = None) -> dict[str, SplitResult]:
        """The locations that lie strictly inside the root, with their parts.

        `verb`: what is not done to the others, for the log.
        """
        root = urlsplit(self.root)
        real_path = _real_paths(root.scheme)
        above = real_path(root.path).rstrip("/") + "/"
        inside = {}
        for location in locations:
            parts = _parts(location) if location else None
            same = parts is not None and parts[:2] == root[:2]
            if location and parts and same and real_path(parts.path).startswith(above):
                inside[location] = parts
            elif verb:
                # Engines make the directories that they name themselves; a call may bring thousands of those.
                log = _log.debug if verb == "make" else _log.info
                log("directory left alone", verb=verb, location=location, warehouse=self.root)
        return inside

    def _try(self, location: str, verb: str, change: _Change) -> None:
        try:
            change(*_file_system(location))
        except OSError as error:
            # The catalog has committed: the engine that writes there will say what is wrong with the place.
            _log.warning("directory not changed", verb=verb, location=location, reason=str(error))


def partition_location(table_location: str, partition_name: str) -> str:
    """Where a partition goes that names no place."""
    return f"{table_location.rstrip('/')}/{partition_name}"


def qualified(location: str) -> str:
    """The location with a scheme, without a slash at its end: an absolute path is one of the local file system."""
    whole = f"file:{location}" if location.startswith("/") else location
    shorter = whole.rstrip("/")
    return whole if shorter.endswith(":") else shorter


def same_place(one: str | None, other: str | None) -> bool:
    """Whether two locations are the same place, however each is written."""
    if one is None or other is None:
        return False
    parts = urlsplit(_as_uri(one)), urlsplit(_as_uri(other))
    return parts[0][:2] == parts[1][:2] and parts[0].path.rstrip("/") == parts[1].path.rstrip("/")


def _remove(files: fs.FileSystem, path: str) -> None:
    if files.get_file_info(path).type is fs.FileType.Directory:
        files.delete_dir(path)


def _remove_upwards(files: fs.FileSystem, path: str, levels: int) -> None:
    _remove(files, path)
    for _ in range(levels - 1):
        path = posixpath.dirname(path)
        if files.get_file_info(fs.FileSelector(path, allow_not_found=True)):
            return
        _remove(files, path)


def _file_system(location: str) -> tuple[fs.FileSystem, str]:
    parts = urlsplit(_as_uri(location))
    if parts.scheme == "file":
        return fs.LocalFileSystem(), parts.path
    # Arrow reads %2F as a slash; in a location of Hive's it is three characters of a directory's name.
    files, path = fs.FileSystem.from_uri(f"{parts.scheme}://{parts.netloc}{quote(parts.path)}")
    return files, path


def _parts(location: str) -> SplitResult:
    """The parts of a location as a URI."""
    parts = urlsplit(location.rstrip("/"))
    return parts if parts.scheme else urlsplit(_as_uri(location))


def _as_uri(location: str) -> str:
    """A URI without a slash at its end; a bare path becomes `file:/path`, as Hadoop writes it."""
    if urlsplit(location).scheme:
        return location.rstrip("/")
    return "file:" + Path(location).resolve().as_posix()


def _real_paths(scheme: str) -> Callable[[str], str]:
    """From a path to what it leads to. Many paths have few parents: the links of each parent are followed once."""
    if scheme != "file":
        return posixpath.normpath

    @cache
    def resolved(path: str) -> str:
        return Path(path).resolve().as_posix()

    def real_path(path: str) -> str:
        parent, name = posixpath.split(path)
        if name in ("", ".", ".."):
            return resolved(path)
        real = posixpath.join(resolved(parent), name)
        return resolved(real) if posixpath.islink(real) else real

    return real_path


def _are_there(locations: Mapping[str, SplitResult]) -> set[str]:
    """Those of the locations that are on this machine and there, whatever they are."""
    paths = {each: parts.path for each, parts in locations.items() if parts.scheme == "file"}
    found = fs.LocalFileSystem().get_file_info(list(paths.values()))
    return {each for each, info in zip(paths, found, strict=True) if info.type is not fs.FileType.NotFound}
