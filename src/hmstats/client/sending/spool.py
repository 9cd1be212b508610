"""A spool folder: parcels that a metastore could not take, one file each, until someone sends them.

Files are accessed through pyarrow.fs, so the folder may be a path or any URI that Arrow knows; if several machines
spool, all of them must see the folder. A file is written under another name and renamed, so it is never incomplete;
writing it again replaces it.
"""

import contextlib
import hashlib
import posixpath
from pathlib import Path
from uuid import uuid4

from pyarrow import fs

from hmstats.client.sending import parcel_bytes
from hmstats.client.sending.parcel import Parcel
from hmstats.errors import SpoolError
from hmstats.files.file_systems import open_location
from hmstats.model.catalog.location import LOCAL, parse, parts_of
from hmstats.private_files import make_private_in

DEFAULT_FOLDER = "hmstats-spool"
"""The default folder, in the working directory."""
SUFFIX = ".hmstats"


class Spool:
    """A spool folder. `location` is a path or a URI; it is made when the first file is written."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._files, self._root = _open_folder(location)

    def put(self, name: str, parcel: Parcel) -> None:
        """Write a parcel under a name. Raises SpoolError if it cannot be written; an older file stays then."""
        path, beside = self._path(name), self._path(f".{name}.{uuid4().hex}")
        try:
            self._files.create_dir(self._root, recursive=True)
            make_private_in(self._files, beside)
            with self._files.open_output_stream(beside) as file:
                file.write(parcel_bytes.encode(parcel))
            self._files.move(beside, path)
        except OSError as error:
            self._discard(beside)
            raise SpoolError(f"spool folder {self.location} cannot be written: {error}") from error

    def _discard(self, path: str) -> None:
        """Remove what was written of a file, since a full disk would keep it for good."""
        with contextlib.suppress(OSError):
            if self._files.get_file_info(path).is_file:
                self._files.delete_file(path)

    def names(self) -> list[str]:
        """The names of all files, in the order in which they are to be sent. Raises SpoolError without the folder."""
        try:
            found = self._files.get_file_info(fs.FileSelector(self._root))
        except FileNotFoundError as error:
            raise SpoolError(f"spool folder {self.location} must be there, found nothing at {self._root}") from error
        except OSError as error:
            raise SpoolError(f"spool folder {self.location} cannot be read: {error}") from error
        return sorted(each.base_name for each in found if each.is_file and _is_parcel(each.base_name))

    def get(self, name: str) -> Parcel:
        """The parcel of a name. Raises SpoolError naming the file when it is damaged or cannot be read."""
        path = self._path(name)
        try:
            with self._files.open_input_file(path) as file:
                return parcel_bytes.decode(file.read())
        except SpoolError as error:
            raise SpoolError(f"{path} is no file of a spool folder: {error}") from error
        except OSError as error:
            raise SpoolError(f"{path} cannot be read: {error}") from error

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._files.delete_file(self._path(name))

    def _path(self, name: str) -> str:
        return posixpath.join(self._root, name)


def file_name(run: str, parcel: Parcel) -> str:
    """The name of a parcel's file; files sort by run, the table itself after its partitions.

    The same items of the same run have the same name, so that a task that runs twice stores them once. `run` begins
    with the time at which it began.
    """
    items = "\n".join([str(parcel.table), *(item.partition or "" for item in parcel.items)])
    place = "table" if parcel.of_table else "partitions"
    return f"{run}-{'2' if parcel.of_table else '1'}-{place}-{hashlib.sha256(items.encode()).hexdigest()[:16]}{SUFFIX}"


def _is_parcel(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _open_folder(location: str) -> tuple[fs.FileSystem, str]:
    if parts_of(location)[0] == LOCAL and not parse(location).is_absolute:
        return fs.LocalFileSystem(), Path(location).absolute().as_posix()
    try:
        return open_location(location)
    except OSError as error:
        raise SpoolError(f"a spool folder must be a path or a URI, found {location!r}: {error}") from error
