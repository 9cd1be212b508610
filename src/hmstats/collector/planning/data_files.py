"""Lists data files under a Hadoop location through pyarrow.fs, in any file system that Arrow knows."""

import errno
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from pyarrow import fs

from hmstats.collector.planning.shared_listings import SharedListing, shared_listings
from hmstats.files.file_systems import NO_SETTINGS, Settings, open_location
from hmstats.files.walk import file_at, files_below
from hmstats.model.catalog.location import parse

_LISTING_THREADS = 32
"""The number of locations that are listed in parallel, since the threads wait for an object store, not for a core."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file: its path in its file system, its size, and when it was written (epoch nanoseconds), if known."""

    path: str
    bytes: int
    modified_ns: int | None = None


def list_files(locations: Mapping[str, str], settings: Settings = NO_SETTINGS) -> dict[str, list[DataFile]]:
    """The data files under each location, by the location's key; empty if it does not exist.

    Raises OSError for a location that cannot be listed.
    """
    return {key: _files_or_none(found) for key, found in list_each(locations, settings).items()}


def list_each(locations: Mapping[str, str], settings: Settings = NO_SETTINGS) -> dict[str, list[DataFile] | OSError]:
    """The data files under each location, or the error if it cannot be listed.

    Many locations are listed in parallel; very many of an object store by common parent directories
    (shared_listings.py).
    """
    listing = partial(_list_or_error, settings=settings)
    if len(locations) == 1:
        return {key: listing(location) for key, location in locations.items()}
    found: dict[str, list[DataFile] | OSError] = {}
    with ThreadPoolExecutor(_LISTING_THREADS) as threads:
        for some in threads.map(
            partial(_list_together, settings=settings), shared_listings(filter(None, locations.values()))
        ):
            found |= some
        alone = dict.fromkeys(location for location in locations.values() if location not in found)
        found |= zip(alone, threads.map(listing, alone), strict=True)
    return {key: found[location] for key, location in locations.items()}


def missing_locations(locations: Mapping[str, str], settings: Settings = NO_SETTINGS) -> set[str]:
    """The keys of the locations that do not exist; a location "" is not among them."""
    found = list_each({key: location for key, location in locations.items() if location}, settings)
    return {key for key, each in found.items() if isinstance(each, FileNotFoundError)}


def data_files(location: str, settings: Settings = NO_SETTINGS) -> list[DataFile]:
    """The data files under a location, at any depth, sorted by path.

    Raises OSError, FileNotFoundError if it is missing. A location may be one file. As everywhere in Hadoop, files whose
    names begin with _ or . are no data; neither are empty files.
    """
    if not location:
        return []
    files, path = open_location(location, settings)
    found = _list_local(path) if isinstance(files, fs.LocalFileSystem) else _list_remote(files, path)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "there is no such directory", location)
    return _sort_files(found)


def _list_or_error(location: str, settings: Settings) -> list[DataFile] | OSError:
    try:
        return data_files(location, settings)
    except OSError as error:
        return error


def _list_together(listing: SharedListing, settings: Settings) -> dict[str, list[DataFile]]:
    """The data files by location from a shared listing, except for locations without files, which are listed alone."""
    try:
        files, top = open_location(listing.directory, settings)
        every = _list_below(files, top)
    except OSError:
        return {}
    base = top.removesuffix(parse(listing.directory).path)
    by_path: dict[str, list[fs.FileInfo]] = {base + path: [] for path in listing.places.values()}
    for info in every:
        for path in _upwards(info.path, top):
            if path in by_path:
                by_path[path].append(info)
    found = {path: _sort_files(_data(infos, path)) for path, infos in by_path.items() if infos}
    return {location: found[base + path] for location, path in listing.places.items() if base + path in found}


def _upwards(path: str, top: str) -> Iterator[str]:
    """A path and the directories above it, up to the top of a listing."""
    while len(path) >= len(top):
        yield path
        path = path.rpartition("/")[0]


def _files_or_none(found: list[DataFile] | OSError) -> list[DataFile]:
    if isinstance(found, FileNotFoundError):
        return []
    if isinstance(found, OSError):
        raise found
    return found


def _list_local(path: str) -> list[DataFile] | None:
    try:
        return [DataFile(*each) for each in files_below(path, _is_hidden)]
    except NotADirectoryError:
        return [DataFile(*file_at(path))]
    except FileNotFoundError:
        return None


def _list_remote(files: fs.FileSystem, path: str) -> list[DataFile] | None:
    """The files in an object store, mostly with one request; None if the location does not exist."""
    every = _list_below(files, path) or [files.get_file_info(path)]
    return None if every[0].type is fs.FileType.NotFound else _data(every, path)


def _data(every: Iterable[fs.FileInfo], path: str) -> list[DataFile]:
    """The files at a path or below it, without directories and hidden files."""
    below = len(path.rstrip("/")) + 1
    found = (each for each in every if each.is_file and is_data(each.path[below:]))
    return [DataFile(each.path, each.size, each.mtime_ns) for each in found]


def _sort_files(found: Iterable[DataFile]) -> list[DataFile]:
    """The files that are not empty, sorted by path."""
    return sorted((each for each in found if each.bytes), key=attrgetter("path"))


def _list_below(files: fs.FileSystem, path: str) -> list[fs.FileInfo]:
    try:
        found: list[fs.FileInfo] = files.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    except NotADirectoryError:
        return []
    return found


def is_data(path: str) -> bool:
    """Whether a file is data: no part of its path below the location is hidden."""
    return not any(map(_is_hidden, path.split("/")))


def _is_hidden(name: str) -> bool:
    hidden = name.startswith(".") or (name.startswith("_") and "=" not in name)
    return hidden or name.endswith("._COPYING_")  # which `hdfs dfs -put` is still writing
