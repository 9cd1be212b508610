"""Data files under a Hadoop location, through pyarrow.fs: any file system that Arrow knows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyarrow import fs

_LOCATION = re.compile(r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/]*))?(?P<path>.*)", re.DOTALL)
_ARROW_SCHEMES = {"s3a": "s3", "s3n": "s3"}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file by its path in its file system, and its size."""

    path: str
    bytes: int


def open_location(location: str) -> tuple[fs.FileSystem, str]:
    """The file system of a location, and the path in it.

    A location is what Hadoop's Path prints: a % in it is a %, not the beginning of an escape as in a URI.
    """
    parts = _LOCATION.fullmatch(location)
    scheme, authority, path = parts.group("scheme", "authority", "path") if parts else (None, None, location)
    if scheme in (None, "file"):
        return fs.LocalFileSystem(), path
    root = f"{_ARROW_SCHEMES.get(scheme, scheme)}://{authority or ''}/"
    files, base = fs.FileSystem.from_uri(root)
    return files, base.rstrip("/") + path


def data_files(location: str) -> list[DataFile]:
    """The data files under a location, at any depth, by path; none when there is no such place.

    Names that begin with _ or . are not data, as everywhere in Hadoop; nor are empty files.
    """
    if not location:
        return []
    files, path = open_location(location)
    found = files.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    below = len(path.rstrip("/")) + 1
    wanted = (each for each in found if each.is_file and each.size and not _hidden(each.path[below:].split("/")))
    return sorted((DataFile(each.path, each.size) for each in wanted), key=lambda each: each.path)


def _hidden(names: Iterable[str]) -> bool:
    return any(name.startswith(".") or (name.startswith("_") and "=" not in name) for name in names)
