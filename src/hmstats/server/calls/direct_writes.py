"""Calls that write column statistics, straight from the bytes of a request to lists by field.

If a request is unusual, or does not fit its table, the result is None and nothing was written: the call itself then
decodes the request, with all rules and errors.

Whether a request is whole is found by reading its values: a scan for its end first would take twice as long.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hmstats.model.access.actions import Action
from hmstats.server.access.guard import AccessGuard
from hmstats.server.access.needs import parts
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.statistics.writing.plain_writes import PlainWrites
from hmstats.wire.idl import hive_metastore, methods
from hmstats.wire.messages.envelope import Head
from hmstats.wire.statistics.written_statistics import Written, of_request, of_set

DirectCall = Callable[[Session, Request], bytes | None]
"""Makes the encoded result of a request; None leaves it to the call."""


class _Call(NamedTuple):
    """How a call's request is read, and whether it is about a table, about one partition, or about either (None)."""

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
"""Bytes of a request of some 200 columns: a longer one mostly arrives in parts, which would be read in vain."""


class DirectWrites:
    """Runs plain writes of statistics. Thread-safe."""

    def __init__(self, writes: PlainWrites, guard: AccessGuard | None = None) -> None:
        """A `guard` is asked about the table that the bytes name, since nothing else decodes them."""
        self._writes = writes
        self._guard = guard

    def calls(self) -> dict[str, DirectCall]:
        """The function that runs each call, by method."""
        return {name: partial(self._run, call, _encoded_success(name)) for name, call in _CALLS.items()}

    def recognise(self, head: Head, data: bytearray) -> Request | None:
        """The request, with the values that it writes, if the bytes are one whole request to write; else None."""
        call = _CALLS.get(head.name)
        if call is None or len(data) > _LONGEST_READ:
            return None
        message = bytes(data)
        written = call.read(message, head.body_at)
        return Request(message, head, written) if written is not None else None

    def _run(self, call: _Call, success: bytes, session: Session, request: Request) -> bytes | None:
        written = request.written or call.read(request.message, request.head.body_at)
        if written is None or call.of_table not in (None, written.of_table):
            return None
        if call.of_table is not None and len(written.statistics.partitions) != 1:
            return None
        name, author = subject.add_to_log(written.table), subject.author(session)
        if self._guard is not None:
            self._guard.require(request, session, Action.WRITE_STATISTICS, parts(name))
        return (
            success if self._writes.write(name, written.statistics, of_table=written.of_table, author=author) else None
        )


def _encoded_success(name: str) -> bytes:
    """The encoded result of a successful call."""
    of_request = name.endswith("_req")
    success = hive_metastore.SetPartitionsStatsResponse(result=True) if of_request else True
    return encode_struct(methods()[name].result(success=success))
