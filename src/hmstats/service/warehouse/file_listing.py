"""Counts the files and bytes of tables and partitions that an engine changes (docs/adr/0004).

A count is read-only and has a timeout: the engine's call waits no longer. Locations not counted by then are unknown.
After a timeout nothing is counted in that store for a minute, so that a slow store delays one call and not all.
"""

import posixpath
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Event, Thread

import structlog
from pyarrow import fs

from hmstats.files.file_systems import open_location
from hmstats.files.walk import files_below
from hmstats.model.catalog.location import LOCAL, parse
from hmstats.model.parameters.basic_statistics import FileSizes

_log = structlog.get_logger(__name__)

LISTING_SECONDS = 5.0
_PAUSE_SECONDS = 60.0
_REMOTE_THREADS = 8
"""Threads of one call that list object stores; they wait for answers most of the time."""
_HIDDEN = ("_", ".")
"""Prefixes of the names of files and directories without data, as in Hive."""


class FileListing:
    """Lists directories for at most `seconds` a call; 0 lists none. Thread-safe."""

    def __init__(self, seconds: float = LISTING_SECONDS) -> None:
        self._seconds = seconds
        self._paused_until: dict[str, float] = {}

    def size(self, location: str) -> FileSizes | None:
        """Files and bytes at a location; None if it cannot be listed in time."""
        return self.sizes([location]).get(location)

    def sizes(self, locations: Iterable[str]) -> Mapping[str, FileSizes]:
        """Files and bytes by location, without locations that cannot be listed in time."""
        listable = [each for each in dict.fromkeys(locations) if self._may_list(each)]
        if not listable:
            return {}
        sizes: dict[str, FileSizes] = {}
        stop = Event()
        if not _list_in_time(listable, sizes, stop, time.monotonic() + self._seconds):
            stop.set()
            self._pause(next((each for each in listable if each not in sizes), listable[-1]))
        return dict(sizes)

    def _may_list(self, location: str) -> bool:
        if self._seconds <= 0:
            return False
        return self._paused_until.get(_store_of(location), 0.0) <= time.monotonic()

    def _pause(self, location: str) -> None:
        now = time.monotonic()
        paused = {store: until for store, until in self._paused_until.items() if until > now}
        self._paused_until = {**paused, _store_of(location): now + _PAUSE_SECONDS}
        _log.warning("files_not_counted_in_time", location=location, seconds=self._seconds, pause=_PAUSE_SECONDS)


def _store_of(location: str) -> str:
    """The store of a location, which times out as one: a bucket, a name node, or a local directory."""
    parsed = parse(location)
    return f"{parsed.scheme}://{parsed.authority}" if parsed.authority else location


def _list_in_time(locations: Sequence[str], sizes: dict[str, FileSizes], stop: Event, until: float) -> bool:
    """List into `sizes`. Returns False at the timeout; a thread that hangs in a file system is abandoned."""
    queue = iter(locations)
    count = min(len(locations), _REMOTE_THREADS) if any(parse(each).scheme != LOCAL for each in locations) else 1
    listers = [Thread(target=_list_all, args=(queue, sizes, stop), daemon=True) for _ in range(count)]
    for each in listers:
        each.start()
    for each in listers:
        each.join(max(0.0, until - time.monotonic()))
    return not any(each.is_alive() for each in listers)


def _list_all(locations: Iterator[str], listed: dict[str, FileSizes], stop: Event) -> None:
    for location in locations:
        try:
            sizes = _sizes(*open_location(location), stop)
        except OSError as error:
            _log.info("files_not_counted", location=location, reason=str(error))
            continue
        if stop.is_set():
            return
        listed[location] = sizes


def _sizes(files: fs.FileSystem, path: str, stop: Event) -> FileSizes:
    info = files.get_file_info(path)
    if info.type is fs.FileType.NotFound:
        return FileSizes()
    if info.type is fs.FileType.File:
        return FileSizes(1, info.size or 0, exists=True)
    if isinstance(files, fs.LocalFileSystem):
        return _local_sizes(path, stop)
    count = size_bytes = 0
    directories = [path]
    while directories and not stop.is_set():
        for each in files.get_file_info(fs.FileSelector(directories.pop(), allow_not_found=True)):
            if _is_hidden(posixpath.basename(each.path)):
                continue
            if each.type is fs.FileType.Directory:
                directories.append(each.path)
            else:
                count, size_bytes = count + 1, size_bytes + (each.size or 0)
    return FileSizes(count, size_bytes, exists=True)


def _local_sizes(path: str, stop: Event) -> FileSizes:
    count = size_bytes = 0
    for each in files_below(path, _is_hidden):
        if stop.is_set():
            break
        count, size_bytes = count + 1, size_bytes + each.bytes
    return FileSizes(count, size_bytes, exists=True)


def _is_hidden(name: str) -> bool:
    return name.startswith(_HIDDEN)
