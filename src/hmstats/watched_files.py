"""Files that are read again when they change, but not while they are being written.

The part that is there already may say something else than the whole: rules may allow more, a user may be in fewer
groups, a list may name fewer revoked certificates.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

_Stamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in nanoseconds, inode and size."""


class WatchedFiles:
    """Files that are read together; an instance is made before they are read for the first time."""

    def __init__(self, *files: str) -> None:
        self._files = files
        self._read = self._seen = self._stamps()
        """The files that were read, and those that were there at the last look."""

    def have_changed(self) -> bool:
        """Whether the files are to be read again: they changed since then, and stood still since the last look."""
        now = self._stamps()
        stand_still, self._seen = now == self._seen, now
        if now == self._read or not stand_still:
            return False
        self._read = now
        return True

    def stand_still(self) -> bool:
        """Whether the files have not changed since the last look, so that what was read meanwhile is whole."""
        return self._stamps() == self._seen

    def _stamps(self) -> Sequence[_Stamp | None]:
        return [_stamp_of(each) for each in self._files]


def _stamp_of(file: str) -> _Stamp | None:
    """Return a file's stamp; None for a missing file."""
    try:
        status = Path(file).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
