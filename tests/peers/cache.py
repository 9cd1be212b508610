"""The folders with the peers' jars, each filled once by the first process that needs it."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path(os.environ.get("HMSTATS_TEST_CACHE", Path.home() / ".cache" / "hmstats-tests"))
_COMPLETE = "complete"


@contextmanager
def filling(folder: Path) -> Iterator[bool]:
    """Whether the folder has yet to be filled inside; other processes wait until it is, or until that failed."""
    if is_filled(folder):
        yield False
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not is_filled(folder)
        (folder / _COMPLETE).touch()


def is_filled(folder: Path) -> bool:
    """Whether the folder was filled to its end."""
    return (folder / _COMPLETE).exists()


def digest(folder: Path) -> str:
    """A short digest of all files in the folder, for the name of what is built from them."""
    files = sorted(each for each in folder.rglob("*") if each.is_file() and each.suffix != ".pyc")
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()[:12]
