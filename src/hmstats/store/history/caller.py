"""The caller of the running call, for the history, which records who has changed statistics, and by which call."""

from contextvars import ContextVar
from typing import NamedTuple


class Caller(NamedTuple):
    """A user or client, and the name of its call; None if unknown."""

    writer: str | None = None
    call: str | None = None


NOBODY = Caller()
caller: ContextVar[Caller] = ContextVar("caller", default=NOBODY)
RESTORE = "restore_statistics"
"""The call that puts back earlier statistics."""
