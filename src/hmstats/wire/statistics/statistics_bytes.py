"""Column statistics straight from flat tuples to the bytes of an answer, equal to those of column_statistics.py.

An answer can hold thousands of columns, and making a struct for each would take most of the time. Here a column is
encoded as a head, made once for its name and type, and its numbers. Format: thrift/doc/specs/thrift-binary-protocol.md
of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.flat_statistics import FIELDS, FlatStatistics, place
from hmstats.wire.statistics.decimals import decimal_parts

_BOOL, _DOUBLE, _I16, _I64, _STRING, _STRUCT, _MAP, _LIST = 2, 4, 6, 10, 11, 12, 13, 15
_STOP = b"\0"
_UNKNOWN = -1
_LONG, _TIMESTAMP = 2, 8
"""The ids of longStats and timestampStats in the union ColumnStatisticsData."""
_END = b"\0\0\0"

_field = struct.Struct(">bh").pack
_elements = struct.Struct(">bi").pack
_entries = struct.Struct(">bbi").pack
_size = struct.Struct(">i").pack
_integer = struct.Struct(">bhq").pack
_double = struct.Struct(">bhd").pack
_short = struct.Struct(">bhh").pack
_flag = struct.Struct(">bh?").pack
_lengths = struct.Struct(">bhqbhdbhq").pack
# These fields end an object: the stop bytes of the numbers, the union and the object follow.
_last_integer = struct.Struct(">bhq3x").pack
_last_two_integers = struct.Struct(">bhqbhq3x").pack
_last_three_integers = struct.Struct(">bhqbhqbhq3x").pack
_last_four_integers = struct.Struct(">bhqbhqbhqbhq3x").pack

Encoder: TypeAlias = Callable[[FlatStatistics], bytes]
"""Encodes one column's statistics as a ColumnStatisticsObj; there is an encoder for each name and type."""


def objects(columns: Iterable[FlatStatistics], *, hive4: bool, sketches: bool = False) -> list[bytes]:
    """A ColumnStatisticsObj of each column; timestamps as longStats for a reader older than Hive 4."""
    return [_encoder(column[0], column[1], hive4, sketches)(column) for column in columns]


def table_result(columns: Sequence[bytes]) -> bytes:
    """The result of get_table_statistics_req, of the columns' objects."""
    return _result(_field(_LIST, 1) + _listed(columns))


def partitions_result(partitions: Mapping[str, Sequence[bytes]]) -> bytes:
    """The result of get_partitions_statistics_req, of the columns' objects by partition name."""
    return joined_result([_text(name) + _listed(columns) for name, columns in partitions.items()])


def joined_result(partitions: Sequence[bytes]) -> bytes:
    """The result of get_partitions_statistics_req, from the encoded partitions.

    The bytes of each are its name, a list's head, and its objects.
    """
    head = _field(_STRUCT, 0) + _field(_MAP, 1) + _entries(_STRING, _LIST, len(partitions))
    return b"".join((head, *partitions, _STOP, _STOP))


def partition_key(name: str) -> bytes:
    """A partition's name as `joined_result` takes it."""
    return _text(name)


@cache
def objects_head(count: int) -> bytes:
    """The head of a partition's list of so many objects."""
    return _elements(_STRUCT, count)


def column_result(
    name: TableName, column: bytes, partition: str | None, analyzed_seconds: int | None, engine: str
) -> bytes:
    """The result of get_table_column_statistics or, with a partition, of get_partition_column_statistics."""
    described = [_flag(_BOOL, 1, partition is None), _field(_STRING, 2), _text(name.database)]
    described += [_field(_STRING, 3), _text(name.table)]
    if partition is not None:
        described += [_field(_STRING, 4), _text(partition)]
    if analyzed_seconds is not None:
        described.append(_integer(_I64, 5, analyzed_seconds))
    described += [_field(_STRING, 6), _text(name.catalog), _STOP]
    listed = _field(_LIST, 2) + _listed([column])
    return _result(_field(_STRUCT, 1) + b"".join(described) + listed + _field(_STRING, 4) + _text(engine))


def aggregate_result(columns: Sequence[bytes], partitions_found: int) -> bytes:
    """The result of get_aggr_stats_for, of the columns' objects."""
    return _result(_field(_LIST, 1) + _listed(columns) + _integer(_I64, 2, partitions_found))


def _result(success: bytes) -> bytes:
    return _field(_STRUCT, 0) + success + _STOP + _STOP


def _listed(columns: Sequence[bytes]) -> bytes:
    return _elements(_STRUCT, len(columns)) + b"".join(columns)


@lru_cache(maxsize=10_000)
def _encoder(column: str, column_type: str, hive4: bool, sketches: bool) -> Encoder:  # noqa: FBT001
    kind = kind_of(column_type)
    if kind is None:
        raise InvalidInput(f"column {column} cannot have statistics, since its type is {column_type}")
    member, make = _MEMBERS[kind]
    if member == _TIMESTAMP and not hive4:
        member, make = _MEMBERS[Kind.LONG]
    names = _field(_STRING, 1) + _text(column) + _field(_STRING, 2) + _text(column_type)
    encode = make(names + _field(_STRUCT, 3) + _field(_STRUCT, member))
    indexes = [(field_id, place(kind, name)) for name, field_id in _SKETCHES.items() if name in FIELDS[kind]]
    if not sketches or not indexes:
        return encode
    return lambda flat: encode(flat).removesuffix(_END) + _sketches(flat, indexes) + _END


_SKETCHES = {"bit_vector": 5, "histogram": 6}


def _sketches(flat: FlatStatistics, indexes: Iterable[tuple[int, int]]) -> bytes:
    sketches = ((field_id, flat[index]) for field_id, index in indexes)
    return b"".join(_field(_STRING, field_id) + _bytes(sketch) for field_id, sketch in sketches if sketch is not None)


def _text(text: str) -> bytes:
    return _bytes(text.encode())


def _bytes(content: bytes) -> bytes:
    return _size(len(content)) + content


def _or(value: Any, sentinel: int) -> Any:
    return sentinel if value is None else value


def _booleans(head: bytes) -> Encoder:
    def encode(flat: FlatStatistics) -> bytes:
        trues, falses, nulls = flat[2:]
        if trues is None or falses is None:
            trues, falses = 0, _UNKNOWN
        return head + _last_three_integers(_I64, 1, trues, _I64, 2, falses, _I64, 3, _or(nulls, _UNKNOWN))

    return encode


def _texts(head: bytes) -> Encoder:
    return lambda flat: head + _lengths_and_nulls(flat) + _last_integer(_I64, 4, _or(flat[5], 0))


def _binaries(head: bytes) -> Encoder:
    return lambda flat: head + _lengths_and_nulls(flat) + _END


def _lengths_and_nulls(flat: FlatStatistics) -> bytes:
    _, _, longest, average, nulls, *_ = flat
    return _lengths(_I64, 1, _or(longest, 0), _DOUBLE, 2, _or(average, 0), _I64, 3, _or(nulls, _UNKNOWN))


def _bounded(bound: Callable[[int, Any], bytes]) -> Callable[[bytes], Encoder]:
    """Makes the encoders of a kind with bounds; `bound` encodes a bound as a field."""

    def encoder(head: bytes) -> Encoder:
        def encode(flat: FlatStatistics) -> bytes:
            _, _, low, high, nulls, ndv, *_ = flat
            below = b"" if low is None else bound(1, low)
            above = b"" if high is None else bound(2, high)
            return head + below + above + _last_two_integers(_I64, 3, _or(nulls, _UNKNOWN), _I64, 4, _or(ndv, 0))

        return encode

    return encoder


def _longs(head: bytes) -> Encoder:
    """An encoder for a column of integers, with a fast way if low, high, nulls and NDV are all set."""
    with_gaps = _bounded(lambda field_id, value: _integer(_I64, field_id, value))(head)

    def encode(flat: FlatStatistics) -> bytes:
        if None in flat[2:6]:
            return with_gaps(flat)
        _, _, low, high, nulls, ndv, _, _ = flat
        return head + _last_four_integers(_I64, 1, low, _I64, 2, high, _I64, 3, nulls, _I64, 4, ndv)

    return encode


def _double_bound(field_id: int, value: float) -> bytes:
    return _double(_DOUBLE, field_id, value)


def _struct_bound(field_id: int, value: int) -> bytes:
    """A date or a timestamp: a struct with one integer."""
    return _field(_STRUCT, field_id) + _integer(_I64, 1, value) + _STOP


def _decimal_bound(field_id: int, value: Any) -> bytes:
    unscaled, scale = decimal_parts(value)
    return _field(_STRUCT, field_id) + _field(_STRING, 1) + _bytes(unscaled) + _short(_I16, 3, scale) + _STOP


_MEMBERS: dict[Kind, tuple[int, Callable[[bytes], Encoder]]] = {
    Kind.BOOLEAN: (1, _booleans),
    Kind.LONG: (_LONG, _longs),
    Kind.DOUBLE: (3, _bounded(_double_bound)),
    Kind.STRING: (4, _texts),
    Kind.BINARY: (5, _binaries),
    Kind.DECIMAL: (6, _bounded(_decimal_bound)),
    Kind.DATE: (7, _bounded(_struct_bound)),
    Kind.TIMESTAMP: (_TIMESTAMP, _bounded(_struct_bound)),
}
"""For each kind its id in the union, and the function that makes its encoder from the bytes before the numbers."""
