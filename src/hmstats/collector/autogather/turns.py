"""Turns for gathering statistics of one table in this process: of writes of their own rows, and of followed sessions.

Both add new rows to the stored statistics. A followed session is also told of the writes that gather their own; if both
gathered at the same time, the rows would be counted twice.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from hmstats.model.catalog.objects import TableName

_changed = Condition()
_writing: Counter[TableName] = Counter()
"""The number of writes to each table under way that gather their own statistics."""
_following: Counter[TableName] = Counter()
"""The number of followed sessions that are gathering statistics of each table."""


@contextmanager
def turn_of_write(table: TableName) -> Iterator[None]:
    """A write's turn, which begins when no followed session gathers statistics of the table."""
    with _turn(table, _writing, _following):
        yield


@contextmanager
def turn_of_followed_session(table: TableName) -> Iterator[None]:
    """A followed session's turn, which begins when no write is under way that gathers its own statistics."""
    with _turn(table, _following, _writing):
        yield


@contextmanager
def _turn(table: TableName, own: Counter[TableName], others: Counter[TableName]) -> Iterator[None]:
    with _changed:
        _changed.wait_for(lambda: table not in others)
        own[table] += 1
    try:
        yield
    finally:
        with _changed:
            own[table] -= 1
            if not own[table]:
                del own[table]
            _changed.notify_all()
