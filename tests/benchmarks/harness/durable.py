"""A PostgreSQL that flushes each commit to the disk, as a user's does; prints how long a flush takes."""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fixtures.databases.postgres import DURABLE, own_server

_PAGE = bytes(8_192)
_FLUSHES = 200


@contextmanager
def durable_server() -> Iterator[str]:
    """The URL of a server that lives as long as the context; its commits are on the disk before they are answered."""
    seconds = flush_seconds()
    half, most = 1_000 * statistics.median(seconds), 1_000 * statistics.quantiles(seconds, n=10)[-1]
    print("durable: fsync, full_page_writes and synchronous_commit are on")
    print(f"a flush of 8 kB takes {half:.2f} ms, one of ten {most:.2f} ms or more")
    with own_server(DURABLE) as url:
        yield url


def flush_seconds() -> list[float]:
    """The seconds of flushes of a page, each written over the last, as PostgreSQL's log is (fdatasync)."""
    spent = []
    with tempfile.TemporaryFile() as file:
        for _ in range(_FLUSHES):
            began = time.perf_counter()
            os.pwrite(file.fileno(), _PAGE, 0)
            os.fdatasync(file.fileno())
            spent.append(time.perf_counter() - began)
    return spent
