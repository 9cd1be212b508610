"""Answers with tables and partitions that include column statistics: the upstream's objects, statistics from here.

The objects are not decoded, so that fields of other releases are preserved: the statistics are inserted before the byte
that ends the struct.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

from thriftpy2.thrift import TType

from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.calling import with_arguments
from hmstats.model.catalog.names import partition_name, table_name
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.wire.messages.envelope import CALL, encode_head
from hmstats.wire.messages.scanner import end_of_value
from hmstats.wire.statistics.column_statistics import reads_timestamp_statistics, set_to_thrift

_FIELD = Struct(">Bh")
_LIST = Struct(">Bi")
_SIZE = Struct(">i")
_SUCCESS = 0
_OBJECTS = 1
"""The field with the table or the list of partitions, in the results of both calls."""
_VALUES = 1
_OF_TABLE, _OF_PARTITION = 21, 12
"""The fields of statistics."""


@dataclass(frozen=True, slots=True)
class WantedObjects:
    """The objects that a call asks for together with their statistics."""

    request: Any
    scope: StatisticsScope

    @property
    def is_table(self) -> bool:
        """Whether the call asks for a table; if not, for partitions."""
        return self.scope.own


def may_want(request: Request) -> bool:
    """Whether a call may ask for statistics, judged by its bytes alone."""
    mark = _MARKS.get(request.head.name)
    return mark is not None and mark in request.message


def wanted_of(request: Request, decode: Callable[[], Mapping[str, Any]]) -> WantedObjects | None:
    """The objects that a call asks for with statistics, or None. Calls that `may_want` excludes are not decoded."""
    if not may_want(request):
        return None
    asked = decode()["req"]
    if request.head.name == "get_table_req":
        if not asked.getColumnStats or asked.dbName is None or asked.tblName is None:
            return None
        name = table_name(asked.dbName, asked.tblName, asked.catName)
        return WantedObjects(asked, StatisticsScope(name, own=True, engine=asked.engine or DEFAULT_ENGINE))
    if not asked.get_col_stats or asked.db_name is None or asked.tbl_name is None:
        return None
    name = table_name(asked.db_name, asked.tbl_name)
    partitions = tuple(asked.names or ())
    return WantedObjects(
        asked, StatisticsScope(name, own=False, partitions=partitions, engine=asked.engine or DEFAULT_ENGINE)
    )


_MARKS = {"get_table_req": b"\x02\x00\x07\x01", "get_partitions_by_names_req": b"\x02\x00\x04\x01"}
"""The bytes by which each call asks for statistics; other bytes may look the same."""
WITH_STATISTICS = frozenset(_MARKS)
"""Calls whose answers may contain objects together with their statistics."""


def without_statistics(request: Request, wanted: WantedObjects) -> Request:
    """The call that asks for the objects alone."""
    plain = {"getColumnStats": False} if wanted.is_table else {"get_col_stats": False}
    return with_arguments(request, req=type(wanted.request)(**{**vars(wanted.request), **plain}))


def with_statistics(
    answer: bytes, name: str, wanted: WantedObjects, keys: Sequence[str], reader: StatisticsReader
) -> bytes:
    """An answer to the call of `without_statistics` with the stored statistics; `keys` are the table's partition keys.

    Raises NoSuchObject if the table is not stored.
    """
    scope = wanted.scope
    result = _field(answer, len(encode_head(name, CALL, 0)), _SUCCESS, TType.STRUCT)
    kind = TType.STRUCT if wanted.is_table else TType.LIST
    objects = None if result is None else _field(answer, result, _OBJECTS, kind)
    if objects is None:
        return answer
    if wanted.is_table:
        found = reader.table(scope.table, None, scope.engine)
        end = end_of_value(answer, TType.STRUCT, objects) - 1
        return answer[:end] + _encode_found(scope, _OF_TABLE, found) + answer[end:]
    sets = reader.partitions(scope.table, scope.partitions or (), None, scope.engine)
    by_name = {each.partition: each for each in sets}
    pieces, copied = list[bytes](), 0
    for values, end in _partitions(answer, objects):
        found = by_name.get(partition_name(keys, values)) if values else None
        pieces += [answer[copied:end], _encode_found(scope, _OF_PARTITION, found)]
        copied = end
    return b"".join((*pieces, answer[copied:]))


def _encode_found(scope: StatisticsScope, field: int, found: StatisticsSet | None) -> bytes:
    if found is None:
        return b""
    struct = set_to_thrift(scope.table, found, hive4=reads_timestamp_statistics(scope.engine))
    return _FIELD.pack(TType.STRUCT, field) + encode_struct(struct)


def _partitions(message: bytes, at: int) -> Iterator[tuple[list[str], int]]:
    """The values of each partition of a list, and the position of the byte that ends the partition."""
    kind, count = _LIST.unpack_from(message, at)
    at += _LIST.size
    for _ in range(count if kind == TType.STRUCT else 0):
        values = _field(message, at, _VALUES, TType.LIST)
        at = end_of_value(message, TType.STRUCT, at)
        yield ([] if values is None else _texts(message, values)), at - 1


def _texts(message: bytes, at: int) -> list[str]:
    kind, count = _LIST.unpack_from(message, at)
    at += _LIST.size
    found = []
    for _ in range(count if kind == TType.STRING else 0):
        end = at + _SIZE.size + _SIZE.unpack_from(message, at)[0]
        found.append(message[at + _SIZE.size : end].decode(errors="replace"))
        at = end
    return found


def _field(message: bytes, at: int, wanted: int, wanted_kind: int) -> int | None:
    """The position of a field's value in the struct at a position; None if there is no such field of this type."""
    while message[at] != TType.STOP:
        kind, field = _FIELD.unpack_from(message, at)
        at += _FIELD.size
        if (field, kind) == (wanted, wanted_kind):
            return at
        at = end_of_value(message, kind, at)
    return None
