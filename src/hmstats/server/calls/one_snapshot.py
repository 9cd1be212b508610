"""One snapshot of the database for each call that reads, however many statements it takes.

Without it an answer could combine numbers of one moment with the frequent values, sizes or columns of another.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from hmstats.server.calls.call_kinds import READS
from hmstats.store.database.store import Store

Calls = Mapping[str, Callable[..., Any]]


def with_one_snapshot(calls: Calls, store: Store) -> Calls:
    """The calls, of which each one that only reads runs in one transaction."""
    return {name: _in_one_snapshot(call, store) if name in READS else call for name, call in calls.items()}


def _in_one_snapshot(call: Callable[..., Any], store: Store) -> Callable[..., Any]:
    @wraps(call)
    def read(*arguments: Any, **named: Any) -> Any:
        with store.one_snapshot():
            return call(*arguments, **named)

    return read
