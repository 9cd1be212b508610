"""An array of Arrow's statistics schema -> statistics, even if a writer deviates from the schema.

Nullability is ignored. A map may be a list of pairs; names may be plain text, or a dictionary with any indices; values
may be in a sparse union, or of one type without a union; a column's number may be any integer. Nulls are skipped, and
unknown names are returned unchanged.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.columns import values_type

_Positions = npt.NDArray[np.int64]
_TEMPORAL = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration)
_LISTS = (pa.types.is_map, pa.types.is_list, pa.types.is_large_list)


def statistics(source: Any) -> list[Statistic]:
    """All statistics of an array, of a record batch, or of what another library has as either.

    Raises InvalidInput when it is no struct of `column` and `statistics`.
    """
    array = _struct(source)
    column, held = _field(array, "column"), _field(array, "statistics")
    if not pa.types.is_integer(column.type) or not any(is_one(held.type) for is_one in _LISTS):
        raise InvalidInput(f"statistics must be a map for each column's number, found {array.type}")
    rows, positions = _entries(array, held)
    columns = column.to_pylist()
    keys, items = _pairs(held)
    names = _without_views(keys).take(pa.array(positions))
    values = _without_views(items).take(pa.array(positions))
    return [
        Statistic(columns[row], name, value, type_)
        for row, name, (value, type_) in zip(rows.tolist(), _python(names), _values(values), strict=True)
        if name is not None and value is not None
    ]


def _struct(source: Any) -> pa.StructArray:
    """Convert the source to a struct array. Raises InvalidInput for anything else."""
    if isinstance(source, pa.RecordBatch):
        return source.to_struct_array()
    array = source if isinstance(source, pa.Array) or not hasattr(source, "__arrow_c_array__") else pa.array(source)
    if not isinstance(array, pa.StructArray):
        raise InvalidInput(f"statistics must be a struct array, found {getattr(array, 'type', type(array).__name__)}")
    return array


def _field(array: pa.StructArray, name: str) -> pa.Array:
    place = array.type.get_field_index(name)
    if place < 0:
        raise InvalidInput(f"statistics must have the field {name}, found {array.type}")
    return array.field(place)


def _entries(array: pa.StructArray, held: pa.Array) -> tuple[_Positions, _Positions]:
    """For each entry of all maps its row, and its place among the keys and values."""
    offsets = held.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    there = (array.is_valid().to_numpy(zero_copy_only=False)) & held.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.where(there, np.diff(offsets), 0)
    first = np.cumsum(lengths) - lengths
    rows = np.repeat(np.arange(len(held)), lengths)
    return rows, np.repeat(offsets[:-1] - first, lengths) + np.arange(lengths.sum())


def _pairs(held: pa.Array) -> tuple[pa.Array, pa.Array]:
    if pa.types.is_map(held.type):
        return held.keys, held.items
    pairs = held.values
    if not pa.types.is_struct(pairs.type) or pairs.type.num_fields != 2:
        raise InvalidInput(f"statistics must be pairs of name and value, found {pairs.type}")
    return pairs.field(0), pairs.field(1)


def _values(items: pa.Array) -> list[tuple[Any, pa.DataType]]:
    """Each value and its type. `items` was just taken, so a union in it begins at 0."""
    if not pa.types.is_union(items.type):
        return [(value, values_type(items.type)) for value in _python(items)]
    codes = items.type_codes.to_numpy()
    dense = items.type.mode == "dense"
    places = items.offsets.to_numpy() if dense else np.arange(len(items))
    found: list[tuple[Any, pa.DataType]] = [(None, pa.null())] * len(items)
    for number, code in enumerate(items.type.type_codes):
        here = np.flatnonzero(codes == code)
        child = items.field(number).take(pa.array(places[here]))
        for place, value in zip(here.tolist(), _python(child), strict=True):
            found[place] = (value, values_type(child.type))
    return found


def _without_views(array: pa.Array) -> pa.Array:
    """The array in a type that pyarrow can pick values from."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if pa.types.is_binary_view(array.type) else array


def _python(array: pa.Array) -> list[Any]:
    """Python's values; dates, times and timestamps as integers of their unit, whatever year they are in."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if any(is_one(array.type) for is_one in _TEMPORAL):
        array = array.view(pa.int64() if array.type.bit_width == 64 else pa.int32())
    found: list[Any] = array.to_pylist()
    return found
