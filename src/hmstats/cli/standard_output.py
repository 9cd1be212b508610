"""Standard output: its encoding, and the handling of errors of writing to it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, EIO, ENOSPC, EPIPE
from io import TextIOWrapper

from hmstats.errors import HmstatsError

_FULL = (ENOSPC, EDQUOT, EFBIG, EIO)
"""Errors of a full device, which are no faults of the program."""


def allow_all_characters() -> None:
    """Write UTF-8 to files and other programs, and a question mark for what a terminal of an older locale lacks."""
    out = sys.stdout
    if not isinstance(out, TextIOWrapper) or out.encoding.lower() == "utf-8":
        return
    if out.isatty():
        out.reconfigure(errors="replace")
    else:
        out.reconfigure(encoding="utf-8")


@contextmanager
def all_written() -> Iterator[None]:
    """Flush the output at the end of the block. Raises HmstatsError if a device takes no more of it.

    A reader that has left, such as `head`, is no error.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # it is None where the shell has closed it
                sys.stdout.flush()
    except OSError as error:
        if error.errno not in (EPIPE, *_FULL):
            raise
        _drop_rest()
        if error.errno == EPIPE:
            return
        raise HmstatsError(f"the output cannot be written: {os.strerror(error.errno)}") from error


def _drop_rest() -> None:
    """Let Python's own flush at exit succeed, which would fail on the same device once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
