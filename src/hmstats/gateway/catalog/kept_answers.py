"""Keeps the upstream's answers about tables while its notification log proves that they are current.

An answer is valid as of a number of the log, and each use asks for the log's last number again: a change by any client
is visible to every later question. An answer is used only for the user that asked, and for at most a minute, since the
log does not record changes of users' rights. Refusals are not kept, since a missing object may be created. Answers
about materialized views are not kept either, since not all of their changes are logged.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hmstats.errors import ProtocolError, UpstreamClosed, UpstreamUnavailable
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.metrics import KEPT_ANSWERS
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import REPLY, Pieces, encode_head

SECONDS = 60.0
_MOST_OF_ONE = 1_000_000
"""The most bytes of an answer; a longer one is not kept."""
_NOT_LOGGED = b"MATERIALIZED_VIEW"
_ENTRY_BYTES = 500
"""The approximate bytes that an answer takes besides its own bytes and those of its request."""
Key = tuple[User, str, bytes]
"""The user, the method, and the bytes of the arguments."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A result, and the number of the log as of which it was made."""

    result: bytes
    table: TableName
    number: int
    at: float
    of_upstream_alone: bool
    """Whether no part of the answer could have come from this server."""


class Read(NamedTuple):
    """A kept result that is valid at `number`, up to which the log was read."""

    result: bytes
    number: int


class KeptAnswers:
    """Keeps answers of the upstream called `name`, at most `most_bytes` in all. Thread-safe.

    `of_upstream_alone` tells whether a call is answered by the upstream alone, whatever is stored here.
    """

    def __init__(
        self, log: NotificationLog, most_bytes: int, upstream: str, of_upstream_alone: Callable[[Request], bool]
    ) -> None:
        self._of_upstream_alone = of_upstream_alone
        self._counted = KEPT_ANSWERS.labels(upstream)
        self._log = log
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def answer(
        self, calls: UpstreamCalls, user: User, request: Request, stream: Stream, relay: Callable[[Stream], Relayed]
    ) -> Relayed:
        """A kept answer to a call of KEPT, or else the one of `relay`, which may then be kept. Raises as `relay` does.

        `calls` ask the upstream for its log.
        """
        number = self._ask_number(calls)
        if number is None:
            return relay(stream)
        head = request.head
        key = user, head.name, request.message[head.body_at :]
        found = self._find(key, number)
        if found is not None:
            self.count()
            return Relayed((encode_head(head.name, REPLY, head.sequence), found))
        heard = _RecordedStream(stream)
        answered = relay(heard)
        whole = None if answered.refused else heard.whole(answered.rest)
        table = None if whole is None else _table_of(request)
        if whole is not None and table is not None:
            begin = encode_head(head.name, REPLY, head.sequence)
            if whole.startswith(begin):
                alone = self._of_upstream_alone(request)
                self._keep(key, _Kept(whole[len(begin) :], table, number, time.monotonic(), alone))
        return answered

    def find_read(self, key: Key) -> Read | None:
        """A kept answer of the upstream alone, valid as far as the log was read; None while the log is being read.

        Never waits for the upstream.
        """
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        known = self._log.state_of(found.table) if found is not None and found.of_upstream_alone else None
        if found is None or known is None or time.monotonic() - found.at > SECONDS:
            return None
        return Read(found.result, known.read_to) if known.last <= found.number <= known.read_to else None

    @property
    def keeps_none(self) -> bool:
        """Whether answers are never kept, by the settings or since the log proves nothing."""
        return not self._most_bytes or self._log.proves_nothing

    def count(self) -> None:
        """Count a call to which a kept answer was sent."""
        self._counted.inc()

    def _ask_number(self, calls: UpstreamCalls) -> int | None:
        """The last number of the log; None if the log proves nothing, or if it cannot be asked now."""
        try:
            return self._log.number(calls) if self._most_bytes else None
        except (UpstreamUnavailable, UpstreamClosed):
            return None

    def _find(self, key: Key, number: int) -> bytes | None:
        with self._lock:
            found = self._kept.get(key)
        if found is None or found.number > number:
            return None
        last = self._log.last(found.table)  # may wait for the upstream
        with self._lock:
            if self._kept.get(key) is not found:
                return None
            if time.monotonic() - found.at > SECONDS or found.number < last:
                self._remove(key)
                return None
            self._kept.move_to_end(key)
            return found.result

    def _keep(self, key: Key, kept: _Kept) -> None:
        if _NOT_LOGGED in kept.result:
            return
        with self._lock:
            if key in self._kept:
                self._remove(key)
            self._kept[key] = kept
            self._bytes += _size(key, kept)
            while self._bytes > self._most_bytes:
                self._remove(next(iter(self._kept)))

    def _remove(self, key: Key) -> None:
        self._bytes -= _size(key, self._kept.pop(key))


class _RecordedStream:
    """A client's stream that also records the parts of the reply, as long as the reply is short enough to be kept."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._parts: list[bytes] = []
        self._bytes = 0

    @property
    def possible(self) -> bool:
        """Whether the client's protocol accepts a reply in parts."""
        return self._stream.possible

    @property
    def begun(self) -> bool:
        """Whether a part was sent."""
        return self._stream.begun

    @property
    def abandoned(self) -> bool:
        """Whether the client has stopped waiting for the reply."""
        return self._stream.abandoned

    def send(self, pieces: Pieces) -> None:
        """Send a part, and return when the client's socket has taken it. Raises ClientGone."""
        self._stream.send(pieces)
        self._bytes += sum(map(len, pieces))
        if self._bytes > _MOST_OF_ONE:
            self._parts.clear()
        else:
            self._parts += pieces

    def whole(self, rest: Pieces) -> bytes | None:
        """The whole reply, with `rest` as its unsent end; None if it is too long to be kept."""
        if self._bytes + sum(map(len, rest)) > _MOST_OF_ONE:
            return None
        return b"".join((*self._parts, *rest))


def _size(key: Key, kept: _Kept) -> int:
    return len(key[2]) + len(kept.result) + _ENTRY_BYTES


def _table_of(request: Request) -> TableName | None:
    """The table that a call of KEPT is about; None if it names none."""
    try:
        arguments = decode_arguments(methods()[request.head.name], request.message, request.head.body_at)
        return _TABLES[request.head.name](arguments)
    except (AttributeError, TypeError, ProtocolError):  # whatever the error is, the upstream has answered the call
        return None


_Arguments = Mapping[str, Any]


def _name_of(database: str, table: str) -> Callable[[_Arguments], TableName]:
    return lambda arguments: table_name(arguments[database], arguments[table])


def _of_table_request(arguments: _Arguments) -> TableName:
    request = arguments["req"]
    return table_name(request.dbName, request.tblName, request.catName)


def _of_names_request(arguments: _Arguments) -> TableName:
    return table_name(arguments["req"].db_name, arguments["req"].tbl_name)


_PLAIN = _name_of("db_name", "tbl_name")
_TABLES: Mapping[str, Callable[[_Arguments], TableName]] = {
    "get_table": _name_of("dbname", "tbl_name"),
    "get_table_req": _of_table_request,
    "get_fields": _name_of("db_name", "table_name"),
    "get_schema": _name_of("db_name", "table_name"),
    "get_partition_names": _PLAIN,
    "get_partition_names_ps": _PLAIN,
    "get_partition": _PLAIN,
    "get_partition_by_name": _PLAIN,
    "get_partitions": _PLAIN,
    "get_partitions_by_filter": _PLAIN,
    "get_partitions_by_names": _PLAIN,
    "get_partitions_by_names_req": _of_names_request,
    "get_partitions_ps": _PLAIN,
}
KEPT = frozenset(_TABLES)
"""Calls whose answers depend on one table alone and on changes that are all logged; none returns privileges."""
