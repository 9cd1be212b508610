"""What tells that a file was replaced, for files that are read again when they change."""

from pathlib import Path
from typing import TypeAlias

FileStamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in nanoseconds, inode and size."""


def read_stamp(file: str) -> FileStamp | None:
    """Return a file's stamp; None for a missing file."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
