"""Statistics -> an array of Arrow's statistics schema (format/StatisticsSchema, experimental as of Arrow 21).

    struct<column: int32,
           statistics: map<dictionary<int32, utf8> not null, dense_union<...> not null> not null>

One row a column; null stands for the whole. Columns are numbered depth first (columns.py). The union has a child
for each type that occurs, in the order in which they do; the dictionary has the names in the same way.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hmstats.errors import InvalidInput

MOST_TYPES = 128
"""The most types in a union, whose type code is a signed byte from 0 on."""

_NAMES = pa.dictionary(pa.int32(), pa.string())


class Statistic(NamedTuple):
    """One number, or other value, about a column (None: about the whole).

    `value` is Arrow's value of `type`: dates, times and timestamps are integers in the type's unit.
    """

    column: int | None
    name: str
    value: Any
    type: pa.DataType


def schema_of(items: pa.DataType) -> pa.Schema:
    """The schema of statistics whose values are of this dense union."""
    held = pa.map_(pa.field("key", _NAMES, nullable=False), pa.field("value", items, nullable=False))
    return pa.schema([pa.field("column", pa.int32()), pa.field("statistics", held, nullable=False)])


def array(statistics: Iterable[Statistic]) -> pa.StructArray:
    """The array of one target's statistics; those of one column that follow each other make a row."""
    return arrays([list(statistics)])[0]


def arrays(targets: Sequence[Sequence[Statistic]]) -> list[pa.StructArray]:
    """An array for each target, all of one type and with one dictionary, so that they fit into one stream.

    Raises InvalidInput when the values have more types than a union can hold.
    """
    rows = [[(column, len(list(group))) for column, group in groupby(each, attrgetter("column"))] for each in targets]
    every = [statistic for target in targets for statistic in target]
    keys, items = _keys(every), _items(every)
    schema = schema_of(items.type)
    lengths = [length for target in rows for _, length in target]
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), pa.int32())
    held = pa.MapArray.from_arrays(offsets, keys, items, type=schema.field("statistics").type)
    columns = pa.array([column for target in rows for column, _ in target], pa.int32())
    built = pa.StructArray.from_arrays([columns, held], fields=list(schema))
    ends = np.cumsum([len(each) for each in rows])
    return [built.slice(end - len(each), len(each)) for end, each in zip(ends.tolist(), rows, strict=True)]


def _keys(statistics: Sequence[Statistic]) -> pa.DictionaryArray:
    codes: dict[str, int] = {}
    indices = [codes.setdefault(each.name, len(codes)) for each in statistics]
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(list(codes), pa.string()))


def _items(statistics: Sequence[Statistic]) -> pa.UnionArray:
    codes: dict[pa.DataType, int] = {}
    values: list[list[Any]] = []
    types, offsets = [], []
    for each in statistics:
        code = codes.setdefault(each.type, len(codes))
        if code == len(values):
            values.append([])
        types.append(code)
        offsets.append(len(values[code]))
        values[code].append(each.value)
    if len(codes) > MOST_TYPES:
        raise InvalidInput(f"statistics in Arrow's form must have {MOST_TYPES} types at most, found {len(codes)}")
    children = [pa.array(held, type_) for held, type_ in zip(values, codes, strict=True)]
    names = [str(each) for each in codes]
    codes_array, offsets_array = pa.array(types, pa.int8()), pa.array(offsets, pa.int32())
    return pa.UnionArray.from_dense(codes_array, offsets_array, children, names, list(range(len(children))))
