"""Where the peers' jars are kept, each folder filled once by whoever asks first."""

import fcntl
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
