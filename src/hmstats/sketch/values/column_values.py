"""Converts a column's values for its kind of statistics: without nulls, in one Arrow type for each kind.

Each value of a dictionary that occurs is taken once, with its count.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import Kind

Weights = npt.NDArray[np.int64]

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BINARIES = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
_ACCEPTED: dict[Kind, Callable[[pa.DataType], bool]] = {
    Kind.BOOLEAN: pa.types.is_boolean,
    Kind.LONG: pa.types.is_integer,
    Kind.DOUBLE: pa.types.is_floating,
    Kind.DECIMAL: pa.types.is_decimal,
    Kind.DATE: pa.types.is_date,
    Kind.TIMESTAMP: pa.types.is_timestamp,
    Kind.STRING: lambda given: any(is_one(given) for is_one in _TEXTS),
    Kind.BINARY: lambda given: any(is_one(given) for is_one in _BINARIES),
}


def non_null_values(array: pa.Array, kind: Kind) -> tuple[pa.Array, Weights | None]:
    """The values without nulls, in the kind's own Arrow type, and the count of each; None: each once.

    Raises SketchError if the array's type does not fit the kind.
    """
    encoded = pa.types.is_dictionary(array.type)
    if pa.types.is_null(array.type.value_type if encoded else array.type):
        return array.slice(0, 0), None
    if not encoded:
        return _without_nulls(_cast(array, kind)), None
    indices = _without_nulls(array.indices)
    dictionary = _cast(array.dictionary, kind)
    counts = np.bincount(indices.to_numpy(), minlength=len(dictionary))
    # A dictionary may hold values that do not occur, and a null.
    occurring = np.flatnonzero((counts > 0) & dictionary.is_valid().to_numpy(zero_copy_only=False))
    return dictionary.take(pa.array(occurring)), counts[occurring]


def _without_nulls(array: pa.Array) -> pa.Array:
    return array.drop_null() if array.null_count else array


def _cast(array: pa.Array, kind: Kind) -> pa.Array:
    if not _ACCEPTED[kind](array.type):
        raise SketchError(f"a column of kind {kind.name} does not take values of Arrow's type {array.type}")
    own = _cast_type(array.type, kind)
    if own is None or array.type == own:
        return array
    try:
        return array.cast(own) if kind is not Kind.DATE else array.cast(pa.date32()).view(pa.int32()).cast(own)
    except pa.ArrowInvalid as error:
        raise SketchError(f"a column of kind {kind.name} got a value that does not fit: {error}") from error


def _cast_type(given: pa.DataType, kind: Kind) -> Any:
    """The Arrow type that values of this kind are cast to; None: no cast."""
    if kind in (Kind.LONG, Kind.DATE):
        return pa.int64()
    if kind is Kind.DOUBLE:
        return pa.float64()
    if kind is Kind.DECIMAL and not pa.types.is_decimal256(given):
        return pa.decimal128(given.precision, given.scale)
    if pa.types.is_string_view(given):
        return pa.large_string()
    if pa.types.is_binary_view(given) or pa.types.is_fixed_size_binary(given):
        return pa.large_binary()
    return None
