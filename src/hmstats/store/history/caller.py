"""The caller of the call that runs: the history says who has changed statistics, and how."""

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
