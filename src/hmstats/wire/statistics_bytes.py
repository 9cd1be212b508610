"""Column statistics straight from the model to the bytes of an answer: what wire/statistics.py and thriftpy2 say.

An answer can hold thousands of columns, and a struct for each takes longer than all the rest. Here a column is a head,
made once for its name and type, and its numbers.
Format: thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from hmstats.model.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.wire.decimals import decimal_parts

_BOOL, _DOUBLE, _I16, _I64, _STRING, _STRUCT, _MAP, _LIST = 2, 4, 6, 10, 11, 12, 13, 15
_STOP = b"\0"
_UNKNOWN = -1
_LONG, _TIMESTAMP = 2, 8
"""The ids of longStats and timestampStats in the union ColumnStatisticsData."""

_field = struct.Struct(">bh").pack
_elements = struct.Struct(">bi").pack
_entries = struct.Struct(">bbi").pack
_size = struct.Struct(">i").pack
_integer = struct.Struct(">bhq").pack
_double = struct.Struct(">bhd").pack
_short = struct.Struct(">bhh").pack
_flag = struct.Struct(">bhb").pack
_two_integers = struct.Struct(">bhqbhq").pack
_three_integers = struct.Struct(">bhqbhqbhq").pack
_lengths = struct.Struct(">bhqbhdbhq").pack


def table_result(columns: Iterable[ColumnStatistics], *, hive4: bool, sketches: bool = False) -> bytes:
    """The result of get_table_statistics_req."""
    return _result(_field(_LIST, 1) + _columns(columns, hive4=hive4, sketches=sketches))


def partitions_result(
    partitions: Mapping[str, Sequence[ColumnStatistics]], *, hive4: bool, sketches: bool = False
) -> bytes:
    """The result of get_partitions_statistics_req, by partition name."""
    entries = [
        part
        for name, columns in partitions.items()
        for part in (_text(name), _columns(columns, hive4=hive4, sketches=sketches))
    ]
    return _result(_field(_MAP, 1) + _entries(_STRING, _LIST, len(partitions)) + b"".join(entries))


def aggregate_result(
    columns: Iterable[ColumnStatistics], partitions_found: int, *, hive4: bool, sketches: bool = False
) -> bytes:
    """The result of get_aggr_stats_for."""
    listed = _columns(columns, hive4=hive4, sketches=sketches)
    return _result(_field(_LIST, 1) + listed + _integer(_I64, 2, partitions_found))


def _result(success: bytes) -> bytes:
    return _field(_STRUCT, 0) + success + _STOP + _STOP


def _columns(columns: Iterable[ColumnStatistics], *, hive4: bool, sketches: bool) -> bytes:
    """A list of ColumnStatisticsObj."""
    encoded = [_column(column, hive4=hive4, sketches=sketches) for column in columns]
    return _elements(_STRUCT, len(encoded)) + b"".join(encoded)


def _column(column: ColumnStatistics, *, hive4: bool, sketches: bool) -> bytes:
    data: Any = column.data
    member, numbers = _MEMBERS[type(data)]
    if member == _TIMESTAMP and not hive4:
        member, numbers = _LONG, _long_numbers
    kept = _sketches(data) if sketches else b""
    return _head(column.column, column.column_type, member) + numbers(data) + kept + b"\0\0\0"


@lru_cache(maxsize=10_000)
def _head(column: str, column_type: str, member: int) -> bytes:
    """A ColumnStatisticsObj up to the first number."""
    names = _field(_STRING, 1) + _text(column) + _field(_STRING, 2) + _text(column_type)
    return names + _field(_STRUCT, 3) + _field(_STRUCT, member)


def _text(text: str) -> bytes:
    return _bytes(text.encode())


def _bytes(content: bytes) -> bytes:
    return _size(len(content)) + content


def _sketches(data: Any) -> bytes:
    kept = b""
    if (vector := getattr(data, "bit_vector", None)) is not None:
        kept += _field(_STRING, 5) + _bytes(vector)
    if (histogram := getattr(data, "histogram", None)) is not None:
        kept += _field(_STRING, 6) + _bytes(histogram)
    return kept


def _or(value: Any, sentinel: int) -> Any:
    return sentinel if value is None else value


def _boolean_numbers(data: BooleanStatistics) -> bytes:
    known = data.trues is not None and data.falses is not None
    trues, falses = (data.trues, data.falses) if known else (0, _UNKNOWN)
    return _three_integers(_I64, 1, trues, _I64, 2, falses, _I64, 3, _or(data.nulls, _UNKNOWN))


def _string_numbers(data: StringStatistics) -> bytes:
    return _binary_numbers(data) + _integer(_I64, 4, _or(data.ndv, 0))


def _binary_numbers(data: StringStatistics | BinaryStatistics) -> bytes:
    longest, average = _or(data.max_length, 0), _or(data.average_length, 0)
    return _lengths(_I64, 1, longest, _DOUBLE, 2, average, _I64, 3, _or(data.nulls, _UNKNOWN))


def _bounded(bound: Callable[[int, Any], bytes]) -> Callable[[Any], bytes]:
    """What encodes the numbers of a kind with bounds, of which `bound` encodes one as a field."""

    def numbers(data: Any) -> bytes:
        low = b"" if data.low is None else bound(1, data.low)
        high = b"" if data.high is None else bound(2, data.high)
        return low + high + _two_integers(_I64, 3, _or(data.nulls, _UNKNOWN), _I64, 4, _or(data.ndv, 0))

    return numbers


def _long_bound(field: int, value: int) -> bytes:
    return _integer(_I64, field, value)


def _double_bound(field: int, value: float) -> bytes:
    return _double(_DOUBLE, field, value)


def _struct_bound(field: int, value: int) -> bytes:
    """A date or a timestamp: a struct with one integer."""
    return _field(_STRUCT, field) + _integer(_I64, 1, value) + _STOP


def _decimal_bound(field: int, value: Any) -> bytes:
    unscaled, scale = decimal_parts(value)
    return _field(_STRUCT, field) + _field(_STRING, 1) + _bytes(unscaled) + _short(_I16, 3, scale) + _STOP


_long_numbers = _bounded(_long_bound)
_MEMBERS: dict[type, tuple[int, Callable[[Any], bytes]]] = {
    BooleanStatistics: (1, _boolean_numbers),
    LongStatistics: (_LONG, _long_numbers),
    DoubleStatistics: (3, _bounded(_double_bound)),
    StringStatistics: (4, _string_numbers),
    BinaryStatistics: (5, _binary_numbers),
    DecimalStatistics: (6, _bounded(_decimal_bound)),
    DateStatistics: (7, _bounded(_struct_bound)),
    TimestampStatistics: (_TIMESTAMP, _bounded(_struct_bound)),
}
"""For each kind its id in the union, and what encodes its numbers."""
