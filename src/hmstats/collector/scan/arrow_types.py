"""Casts Arrow arrays to the type of their column in the metastore.

Files may be older than their table, or have a similar type: narrower integers, another scale, bytes instead of text.
Arrays that have the type already, including dictionaries, are returned as they are.
"""

import re
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from hmstats.outlets.arrow import hive_types

_CHAR = re.compile(r"char\((\d+)\)")
_MICROSECONDS = pa.timestamp("us")
_NS_PER_US = 1000


@lru_cache(maxsize=10_000)
def arrow_type(column_type: str) -> pa.DataType:
    """The Arrow type of a Hive type that has statistics; timestamps are microseconds of UTC without a zone.

    Raises InvalidInput for an invalid type.
    """
    found = hive_types.arrow_type(column_type)
    return _MICROSECONDS if pa.types.is_timestamp(found) else found


def as_column(array: pa.Array, column_type: str) -> pa.Array:
    """The array as values of a Hive type: a char(n) is padded to n characters.

    Raises pyarrow.ArrowInvalid if a value does not fit.
    """
    values = conform(array, arrow_type(column_type))
    char = _CHAR.fullmatch(column_type)
    return _pad(values, int(char[1])) if char else values


def conform(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The array cast to `wanted`. Raises pyarrow.ArrowInvalid if a value does not fit."""
    values = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if values == wanted or _is_same_text(values, wanted):
        return array
    if pa.types.is_binary(values) and pa.types.is_string(wanted):
        return _as_text(array)
    if pa.types.is_timestamp(values) and pa.types.is_timestamp(wanted):
        return pc.cast(_without_nanoseconds(array, values), wanted)  # a time zone does not change the instant
    return pc.cast(array, wanted)


def _without_nanoseconds(array: pa.Array, values: pa.DataType) -> pa.Array:
    """Timestamps of nanoseconds, rounded down to microseconds, also before 1970; other arrays as they are."""
    if values.unit != "ns":
        return array
    nanoseconds = pc.cast(pc.cast(array, values), pa.int64())
    cut = pc.divide(nanoseconds, _NS_PER_US)  # division rounds toward 1970
    is_later = pc.greater(pc.multiply(cut, _NS_PER_US), nanoseconds)
    return pc.cast(pc.subtract(cut, pc.cast(is_later, pa.int64())), _MICROSECONDS)


def _as_text(array: pa.Array) -> pa.Array:
    """Bytes that the file does not mark as text, such as Impala's strings: they are taken as they are, UTF-8 or not."""
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.view(pa.string()))
    return array.view(pa.string())


def _is_same_text(one: pa.DataType, other: pa.DataType) -> bool:
    return bool(pa.types.is_large_string(one) and pa.types.is_string(other))


def _pad(array: pa.Array, width: int) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return pa.DictionaryArray.from_arrays(array.indices, pc.utf8_rpad(array.dictionary, width))
    return pc.utf8_rpad(array, width)
