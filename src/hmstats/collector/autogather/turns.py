"""Turns of those who gather statistics of one table in this process: writes of their own rows, and followed sessions.

Both add new rows to what is stored. A followed session hears of the other's writes too; if both did it at the same
time, the rows would be counted twice.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from hmstats.model.catalog.objects import TableName

_changed = Condition()
_writing: Counter[TableName] = Counter()
"""How many writes to each table are under way that gather their own statistics: several may be at once."""
_following: Counter[TableName] = Counter()
"""How many followed sessions are gathering statistics of each table."""


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
