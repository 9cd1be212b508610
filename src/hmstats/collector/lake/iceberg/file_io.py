"""PyIceberg's access to files, with the same rules for places as server and collector (files/file_systems.py).

So a table in an object store needs no settings of its own, and reads are counted. A # or ? in a path is a part of the
path, while PyIceberg by itself takes it for the end.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyarrow import fs
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

from hmstats.files import hdfs
from hmstats.files.counted_reads import Reads
from hmstats.files.file_systems import open_root, settings_of
from hmstats.model.catalog.location import LOCAL, parse, parts_of


class PlacesFileIO(PyArrowFileIO):
    """Files by their location. `hadoop` returns a setting of Hadoop by its name, None if it is unset."""

    def __init__(self, properties: Mapping[str, str], hadoop: Callable[[str], str | None], reads: Reads) -> None:
        super().__init__(dict(properties))
        self._hadoop = hadoop
        self._reads = reads
        self.fs_by_scheme = lru_cache(self._file_system)

    @staticmethod
    def parse_location(location: str, properties: Any = None) -> tuple[str, str, str]:  # noqa: ARG004 - PyIceberg's
        """Scheme, authority, and the path in their file system."""
        scheme, authority, path = parts_of(location)
        if scheme == LOCAL:
            return scheme, "", parse(location).path
        # Double slashes are preserved: Iceberg's own access to S3 writes such keys.
        return scheme, authority, _base(scheme, authority) + path

    def new_input(self, location: str) -> PyArrowFile:
        """A file to read."""
        scheme, authority, path = self.parse_location(location, self.properties)
        return _CountedFile(location, path, self.fs_by_scheme(scheme, authority), self._reads)

    def _file_system(self, scheme: str, authority: str | None = None) -> fs.FileSystem:
        if scheme == LOCAL:
            return fs.LocalFileSystem()
        place = (scheme, authority or "")
        return open_root(*place, settings_of([place], self._hadoop))[0]


class _CountedFile(PyArrowFile):
    """A file whose reads are counted."""

    def __init__(self, location: str, path: str, system: fs.FileSystem, reads: Reads) -> None:
        super().__init__(location, path, system)
        self._reads = reads

    def open(self, seekable: bool = True) -> pa.NativeFile:  # noqa: ARG002, FBT001, FBT002 - as PyIceberg has it
        return self._reads.open(self._filesystem, self._path)


def _base(scheme: str, authority: str) -> str:
    """The part of a path in its file system that names the bucket or container."""
    if scheme in hdfs.SCHEMES:
        return ""
    container, at, _ = authority.rpartition("@")
    return container if at else authority
