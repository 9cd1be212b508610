"""Files that only their owner may read, since bounds and frequent values are values of users' data."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hmstats.errors import SettingsError

if TYPE_CHECKING:  # whoever needs a secret need not load Arrow
    from pyarrow import fs

_OWNER_ALONE = 0o600


def make_private(path: str | Path) -> None:
    """Create an empty file that only its owner may read, unless it exists. Errors are left to the later write."""
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OWNER_ALONE))


@contextlib.contextmanager
def replaced_when_whole(path: str | Path) -> Iterator[Path]:
    """A private file beside a path, which takes its place when the block ends, and goes when the block fails.

    Of a link, what it leads to is replaced, so that as root /dev/stdout stays what it is. Raises OSError, as for a
    path that is no file, such as a pipe.
    """
    whole = Path(path).resolve()
    if whole.exists() and not whole.is_file():
        raise OSError("it is no file")
    part = whole.with_name(f"{whole.name}.{os.getpid()}.part")
    try:
        make_private(part)
        yield part
        part.replace(whole)
    finally:
        with contextlib.suppress(OSError):  # of a folder that nobody may write to
            part.unlink(missing_ok=True)


def make_private_in(files: "fs.FileSystem", path: str) -> None:
    """Create a private file if the file system is local; in an object store, the store's own settings decide."""
    if files.type_name == "local":
        make_private(path)


def require_private(setting: str, path: str) -> None:
    """Raise SettingsError if everybody can read or write the file of a setting, or if it is not there."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        raise SettingsError(f"{setting} {path} cannot be read: {error.strerror}") from error
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise SettingsError(
            f"{setting} {path} can be read by everybody, found mode {mode & 0o777:o}; expected 600 or 640"
        )
