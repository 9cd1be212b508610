"""Calls that write column statistics, straight from the bytes of a request to lists by field.

What is unusual in a request, or does not fit what it is about, is left to the call itself (None), which decodes the
request and knows all rules and errors: nothing was written then.

A request that came whole is read to find out that it is: to look for its end and then for its values takes twice as
long.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hmstats.server.codec import encode_struct
from hmstats.server.messages import Head
from hmstats.server.rpc import subject
from hmstats.server.session import Session
from hmstats.service.statistics.plain_writes import PlainWrites
from hmstats.wire.idl import hive_metastore, methods
from hmstats.wire.written_statistics import Written, of_request, of_set

DirectCall = Callable[[Session, bytes, int], bytes | None]
"""Makes the encoded result of a whole request whose arguments begin at a byte; None leaves it to the call."""


class _Call(NamedTuple):
    """What reads a call's request, and whether it writes statistics of a table, of one partition, or either (None)."""

    read: Callable[[bytes, int], Written | None]
    of_table: bool | None


_CALLS = {
    "set_aggr_stats_for": _Call(of_request, of_table=None),
    "update_table_column_statistics": _Call(of_set, of_table=True),
    "update_partition_column_statistics": _Call(of_set, of_table=False),
    "update_table_column_statistics_req": _Call(of_request, of_table=True),
    "update_partition_column_statistics_req": _Call(of_request, of_table=False),
}


_LONGEST_READ = 16 * 1024
"""Bytes, of some 200 columns: of longer requests mostly a part is there at first, which would be read in vain."""
_MOST_READ = 100
"""Requests that are kept after they were read; their calls may never come."""


class DirectWrites:
    """Runs requests that write what is plain. `reads` is for one thread, the calls for many."""

    def __init__(self, writes: PlainWrites) -> None:
        self._writes = writes
        self._read: dict[bytes, Written] = {}

    def calls(self) -> dict[str, DirectCall]:
        """By method what runs it."""
        return {name: partial(self._run, call, _done(name)) for name, call in _CALLS.items()}

    def reads(self, head: Head, data: bytearray) -> bool:
        """Whether the bytes are one whole request of these, which is read: its call need not read it again."""
        call = _CALLS.get(head.name)
        if call is None or len(data) > _LONGEST_READ:
            return False
        message = bytes(data)
        written = call.read(message, head.body_at)
        if written is None:
            return False
        if len(self._read) >= _MOST_READ:
            self._read.clear()
        self._read[message] = written
        return True

    def _run(self, call: _Call, done: bytes, session: Session, message: bytes, body_at: int) -> bytes | None:
        written = self._read.pop(message, None) or call.read(message, body_at)
        if written is None or call.of_table not in (None, written.of_table):
            return None
        if call.of_table is not None and len(written.statistics.partitions) != 1:
            return None
        name, author = subject.noted(written.table), subject.author(session)
        return done if self._writes.write(name, written.statistics, of_table=written.of_table, author=author) else None


def _done(name: str) -> bytes:
    """The encoded result of a call that did what it was asked to."""
    of_request = name.endswith("_req")
    success = hive_metastore.SetPartitionsStatsResponse(result=True) if of_request else True
    return encode_struct(methods()[name].result(success=success))
