"""Creates the directories of catalog objects: all of a call, or none.

One call checks thousands of local directories; those of other stores are created in parallel.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from pyarrow import fs

from hmstats.files.file_systems import NoFileSystem, open_location
from hmstats.model.catalog.location import LOCAL, parse
from hmstats.program_log import ProgramLog

_STORE_THREADS = 32
"""Directories that are created in parallel in a store, since the threads wait for it, not for a core."""
_CHECKED_AT_ONCE = 10_000
"""Directories about which the system is asked at once: what it tells of each takes more memory than its name."""
_log = ProgramLog(__name__)


class CannotMake(OSError):
    """Raised for a directory that cannot be created, with its location and the reason as text."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(reason)
        self.location = location


def make_all(locations: Iterable[str], *, may_be_files: bool = False) -> None:
    """Create directories with their parents; existing ones stay, and existing files if `may_be_files`.

    Raises CannotMake, after the new directories were removed. Directories of a store without a client on this machine
    are left to the engines.
    """
    missing = _missing(list(locations), may_be_files=may_be_files)
    make = partial(_make, may_be_file=may_be_files)
    if len(missing) < 2 or all(parse(each).scheme == LOCAL for each in missing):
        outcomes = [make(each) for each in missing]
    else:
        with ThreadPoolExecutor(_STORE_THREADS) as threads:
            outcomes = list(threads.map(make, missing))
    failure = next((each for each in outcomes if isinstance(each, CannotMake)), None)
    if failure is not None:
        _remove_empty([location for location, made in zip(missing, outcomes, strict=True) if made is True])
        raise failure


def _missing(locations: Sequence[str], *, may_be_files: bool) -> list[str]:
    """The locations without existing local directories; one that the system cannot look up counts as missing."""
    there = (fs.FileType.Directory, fs.FileType.File) if may_be_files else (fs.FileType.Directory,)
    missing = list[str]()
    for start in range(0, len(locations), _CHECKED_AT_ONCE):
        some = locations[start : start + _CHECKED_AT_ONCE]
        local = {each: parse(each).path for each in some if parse(each).scheme == LOCAL}
        try:
            found = fs.LocalFileSystem().get_file_info(list(local.values()))
        except OSError:  # the name of one is too long, or its parents may not be entered: to make it will say so
            missing += some
            continue
        known = {each for each, info in zip(local, found, strict=True) if info.type in there}
        missing += [each for each in some if each not in known]
    return missing


def _make(location: str, *, may_be_file: bool) -> bool | CannotMake:
    """Create a directory; whether it is new, or why it cannot be created."""
    try:
        files, path = open_location(location)
        found = files.get_file_info(path).type
        if found is fs.FileType.Directory or (found is fs.FileType.File and may_be_file):
            return False
        if found is fs.FileType.File:
            return CannotMake(location, "a file is there")
        files.create_dir(path, recursive=True)
    except NoFileSystem as error:
        _log.warning("directory_not_made", location=location, reason=str(error))
        return False
    except OSError as error:
        return CannotMake(location, str(error))
    return True


def _remove_empty(locations: Iterable[str]) -> None:
    for location in locations:
        files, path = open_location(location)
        with suppress(OSError):
            if not files.get_file_info(fs.FileSelector(path, allow_not_found=True)):
                files.delete_dir(path)
