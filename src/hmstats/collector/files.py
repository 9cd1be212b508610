"""Data files under a Hadoop location, through pyarrow.fs: any file system that Arrow knows."""

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from pyarrow import fs

from hmstats.collector.file_systems import NO_SETTINGS, Settings, open_root

_LOCATION = re.compile(r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/]*))?(?P<path>.*)", re.DOTALL)
_LISTING_THREADS = 32
"""Places that are listed at once: they wait for an object store, not for a core."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file by its path in its file system, its size, and when it was written (epoch time), where that is known."""

    path: str
    bytes: int
    modified_ns: int | None = None


def open_location(location: str, settings: Settings = NO_SETTINGS) -> tuple[fs.FileSystem, str]:
    """The file system of a location, and the path in it. `settings` are Hadoop's.

    A location is what Hadoop's Path prints: a % in it is a %, not the beginning of an escape as in a URI.
    """
    scheme, authority, path = parts_of(location)
    if scheme == "file":
        return fs.LocalFileSystem(), path
    files, base = open_root(scheme, authority, settings)
    return files, base + path


def parts_of(location: str) -> tuple[str, str, str]:
    """Scheme (`file` where there is none), authority and path."""
    parts = _LOCATION.fullmatch(location)
    scheme, authority, path = parts.group("scheme", "authority", "path") if parts else (None, None, location)
    return scheme or "file", authority or "", path


def list_files(locations: Mapping[str, str], settings: Settings = NO_SETTINGS) -> dict[str, list[DataFile]]:
    """The data files under each location, by the key that it has here; many places are listed at once."""
    if len(locations) == 1:
        return {key: data_files(location, settings) for key, location in locations.items()}
    with ThreadPoolExecutor(_LISTING_THREADS) as threads:
        return dict(
            zip(locations, threads.map(partial(data_files, settings=settings), locations.values()), strict=True)
        )


def data_files(location: str, settings: Settings = NO_SETTINGS) -> list[DataFile]:
    """The data files under a location, at any depth, by path; none when there is no such place.

    Names that begin with _ or . are not data, as everywhere in Hadoop; nor are empty files.
    """
    if not location:
        return []
    files, path = open_location(location, settings)
    found = files.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    below = len(path.rstrip("/")) + 1
    wanted = (each for each in found if each.is_file and each.size and not _hidden(each.path[below:].split("/")))
    return sorted((DataFile(each.path, each.size, each.mtime_ns) for each in wanted), key=lambda each: each.path)


def _hidden(names: Iterable[str]) -> bool:
    return any(name.startswith(".") or (name.startswith("_") and "=" not in name) for name in names)
