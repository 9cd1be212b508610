"""The values of many partitions' keys as columns of numbers, and filters over them.

A filter selects as its SQL does (store/partitions/partition_filters.py): what compares a value that is no number with a
number is unknown, and a partition is selected if the filter is true for it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, values_of_names
from hmstats.model.catalog.objects import Column
from hmstats.model.catalog.wildcards import compile_like
from hmstats.model.partitions.partition_filter import (
    AllOf,
    Among,
    AnyOf,
    Comparison,
    Like,
    Literal,
    Not,
    PartitionFilter,
    check_like,
    comparable,
    divide_alternatives,
    is_number,
)

_Truths: TypeAlias = npt.NDArray[np.int8]
"""For each partition whether a filter is false, unknown or true: and is the lowest of its parts, or the highest."""
_UNKNOWN, _TRUE = 1, 2
_NUMBER = re.compile("-?[0-9]+")
_NO_NUMBER = -1
_PLACE_BYTES, _VALUE_BYTES = 4, 80


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A key's distinct values in ascending order, and for each partition the place of its value, or -1.

    -1 is a text of a numeric key that is no number.
    """

    key: Column
    values: Sequence[Any]
    places: npt.NDArray[np.int32]


class KeyColumns:
    """The values of all keys of a table's partitions, in the order of the partitions' names."""

    def __init__(self, columns: Sequence[KeyColumn]) -> None:
        self._columns = {each.key.name.lower(): each for each in columns}

    @classmethod
    def of_names(cls, keys: Sequence[Column], names: Sequence[str]) -> "KeyColumns | None":
        """The values in the names; None if these do not tell them: a null text and an empty one have the same name.

        Names that another program wrote may have no values.
        """
        try:
            rows = values_of_names(names, [key.name for key in keys])
        except (InvalidObject, MetaError):
            return None
        texts = [[row[index] for row in rows] for index in range(len(keys))]
        if any(NULL_PARTITION_VALUE in own for key, own in zip(keys, texts, strict=True) if not is_number(key)):
            return None
        return cls([_column(key, own) for key, own in zip(keys, texts, strict=True)])

    @property
    def size(self) -> int:
        """The bytes of memory that the columns take, nearly."""
        return sum(_PLACE_BYTES * len(each.places) + _VALUE_BYTES * len(each.values) for each in self._columns.values())

    def select(self, wanted: PartitionFilter) -> list[int]:
        """The places of the partitions that a filter selects. Raises MetaError if it has unlike types."""
        return np.flatnonzero(self._truths(wanted) == _TRUE).tolist()

    def _truths(self, wanted: PartitionFilter) -> _Truths:
        match wanted:
            case AllOf(parts):
                return reduce(np.minimum, map(self._truths, parts))
            case AnyOf(parts):
                equal, others = divide_alternatives(parts)
                together = [Among(key, tuple(listed)) for key, listed in equal.items()]
                return reduce(np.maximum, map(self._truths, [*together, *others]))
            case Not(inner):
                return _TRUE - self._truths(inner)
            case Comparison(key, operator, value):
                column = self._columns[key]
                return _truths_of(column, _COMPARE[operator](column, comparable(column.key, value)))
            case Among(key, listed):
                column = self._columns[key]
                return _truths_of(column, _is_one_of(column, {comparable(column.key, value) for value in listed}))
            case Like(key, pattern):
                column = self._columns[key]
                check_like(column.key)
                matches = compile_like(pattern).fullmatch
                fitting = np.array([matches(str(value)) is not None for value in column.values], bool)
                return _truths_of(column, fitting[column.places])


def _column(key: Column, texts: Sequence[str]) -> KeyColumn:
    value_of = {each: _value(key, each) for each in set(texts)}
    values = sorted({each for each in value_of.values() if each is not None})
    place_of_value = {each: place for place, each in enumerate(values)}
    place_of = {text: _NO_NUMBER if each is None else place_of_value[each] for text, each in value_of.items()}
    places = np.fromiter(map(place_of.__getitem__, texts), np.int32, len(texts))
    return KeyColumn(key, values, places)


def _value(key: Column, text: str) -> Any:
    if not is_number(key):
        return text
    return int(text) if _NUMBER.fullmatch(text) else None


def _truths_of(column: KeyColumn, holds: npt.NDArray[np.bool_]) -> _Truths:
    truths = _TRUE * holds.view(np.int8)
    if is_number(column.key):
        truths[column.places == _NO_NUMBER] = _UNKNOWN
    return truths


def _is_one_of(column: KeyColumn, listed: set[Literal]) -> npt.NDArray[np.bool_]:
    wanted = np.zeros(len(column.values) + 1, bool)  # the last is for what is no number
    for value in listed:
        place = bisect_left(column.values, value)
        if place < len(column.values) and column.values[place] == value:
            wanted[place] = True
    return wanted[column.places]


_COMPARE: dict[str, Callable[[KeyColumn, Literal], npt.NDArray[np.bool_]]] = {
    "=": lambda column, value: _is_one_of(column, {value}),
    "!=": lambda column, value: ~_is_one_of(column, {value}),
    "<": lambda column, value: column.places < bisect_left(column.values, value),
    "<=": lambda column, value: column.places < bisect_right(column.values, value),
    ">": lambda column, value: column.places >= bisect_right(column.values, value),
    ">=": lambda column, value: column.places >= bisect_left(column.values, value),
}
