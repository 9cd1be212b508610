"""The types of Parquet files that can be read as a column's type: those that every engine reads as the same values.

Files may be older than their table: their numbers are narrower, or a column of numbers has since become one of text.
Nothing is converted that some engines refuse and others convert in their own ways, such as texts that look like
numbers.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa
from pyarrow import types

from hmstats.collector.scan.arrow_types import arrow_type
from hmstats.model.statistics.column_types import base_type


def _is_text(one: pa.DataType) -> bool:
    return any(is_such(one) for is_such in _TEXTS)


def _is_duration(one: pa.DataType) -> bool:
    return bool(types.is_time(one) or types.is_duration(one))


_TEXTS = (
    *(types.is_string, types.is_large_string, types.is_string_view),
    *(types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary),
)
_KINDS: Mapping[str, Callable[[pa.DataType], bool]] = {
    "unknown": types.is_null,
    "boolean": types.is_boolean,
    "whole": types.is_integer,
    "floating": types.is_floating,
    "decimal": types.is_decimal,
    "text": _is_text,
    "date": types.is_date,
    "timestamp": types.is_timestamp,
    "duration": _is_duration,
}
_READ_AS: Mapping[str, tuple[str, ...]] = {
    "unknown": tuple(_KINDS),
    "boolean": ("boolean",),
    "whole": ("whole", "floating", "decimal", "text", "date"),
    "floating": ("floating",),
    "decimal": ("decimal",),
    "text": ("text",),
    "date": ("date", "whole"),
    "timestamp": ("timestamp", "whole"),
    "duration": ("whole",),
}
"""The kinds of columns that can be read from each kind of type in a file, if the values fit."""


def is_read_alike(given: pa.DataType, column_type: str) -> bool:
    """Whether every engine reads the values of a file's type that fit a column's Hive type alike."""
    values = _stored_type(given)
    wanted, kind = arrow_type(column_type), _kind(values)
    if kind == "date" and base_type(column_type) == "timestamp_ntz":
        return True
    if kind == "floating" and types.is_floating(wanted):
        return bool(values.bit_width <= wanted.bit_width)
    return _kind(wanted) in _READ_AS.get(kind, ())


def _stored_type(given: pa.DataType) -> pa.DataType:
    """The type of the values, below a dictionary or an extension type such as UUID."""
    if isinstance(given, pa.BaseExtensionType):
        return _stored_type(given.storage_type)
    return _stored_type(given.value_type) if types.is_dictionary(given) else given


def _kind(one: pa.DataType) -> str:
    return next((name for name, is_such in _KINDS.items() if is_such(one)), "nested")
