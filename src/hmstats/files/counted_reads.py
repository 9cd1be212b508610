"""Files whose reads are counted: how many bytes were read, and how many requests an object store gets for them.

An object store answers each opened file with one request, for its size, and each read with another.
"""

from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import pyarrow as pa
from pyarrow import fs

from hmstats.files.block_file import BlockFile
from hmstats.files.retries import retry


@dataclass(frozen=True, slots=True)
class ReadCount:
    """Bytes that were read from files, and the requests that an object store gets for them (None: unknown)."""

    bytes: int = 0
    requests: int | None = 0

    def plus(self, other: "ReadCount | None") -> "ReadCount | None":
        """Both together; None if the other is unknown."""
        if other is None:
            return None
        unknown = self.requests is None or other.requests is None
        requests = None if unknown else (self.requests or 0) + (other.requests or 0)
        return ReadCount(self.bytes + other.bytes, requests)

    @property
    def sentence(self) -> str:
        """Both as a sentence for people."""
        if self.requests is None:
            return f"read {self.bytes:,} bytes in an unknown number of requests"
        return f"read {self.bytes:,} bytes in {self.requests:,} requests"


NOTHING_READ = ReadCount()


class Reads:
    """Counts the reads of the files that are opened through it, by any number of threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bytes = 0
        self._requests = 0

    @property
    def count(self) -> ReadCount:
        """The reads so far."""
        return ReadCount(self._bytes, self._requests)

    def open(self, system: fs.FileSystem, path: str, block_bytes: int | None = None) -> pa.PythonFile:
        """A file as Arrow reads it; with `block_bytes` it is read in blocks of so many. Raises OSError."""
        file = _CountedFile(retry(partial(self._open, system, path)), self)
        return pa.PythonFile(file if block_bytes is None else BlockFile(file, block_bytes), mode="r")

    def _open(self, system: fs.FileSystem, path: str) -> pa.NativeFile:
        self.add(0)
        return system.open_input_file(path)

    def add(self, read_bytes: int) -> None:
        """Count one request with so many bytes."""
        with self._lock:
            self._bytes += read_bytes
            self._requests += 1


class _CountedFile:
    """The methods that Arrow calls of a file of Python."""

    def __init__(self, file: pa.NativeFile, reads: Reads) -> None:
        self._file = file
        self._reads = reads

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int) -> bytes:
        return bytes(self.read_buffer(size))

    def read_buffer(self, size: int) -> pa.Buffer:
        place = self._file.tell()
        found = retry(partial(self._read_at, place, size))
        self._reads.add(found.size)
        return found

    def _read_at(self, place: int, size: int) -> pa.Buffer:
        if self._file.tell() != place:
            self._file.seek(place)
        return self._file.read_buffer(size)
