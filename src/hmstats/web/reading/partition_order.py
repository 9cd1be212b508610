"""Partitions in the order of their keys' values: numbers by their size, everything else as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import Table
from hmstats.model.statistics.column_types import base_type

_WHOLE = frozenset({"tinyint", "smallint", "int", "integer", "bigint"})
_MOST_DIGITS = 20
Order: TypeAlias = tuple[bool, int, str]


@dataclass(frozen=True, slots=True)
class NamedPartition:
    """A partition's name and its values, one for each key."""

    name: str
    values: tuple[str, ...]


def in_order(table: Table, names: Iterable[str]) -> list[NamedPartition]:
    """The partitions sorted by their values."""
    keys = [key.name for key in table.partition_keys]
    every = [(name, _values(name, keys)) for name in names]
    by_key = zip(*(values for _, values in every), strict=True)
    orders = [map(_form(key.type), values) for key, values in zip(table.partition_keys, by_key, strict=False)]
    placed = zip(zip(*orders, strict=True), every, strict=True)
    return [NamedPartition(*each) for _, each in sorted(placed, key=itemgetter(0))]


def partitions_between(placed: Sequence[NamedPartition], first: str, last: str) -> list[NamedPartition]:
    """The partitions from one name to another, both included; none when one of the names is not there."""
    places = {each.name: place for place, each in enumerate(placed)}
    if first not in places or last not in places:
        return []
    return list(placed[places[first] : places[last] + 1])


def _values(name: str, keys: Sequence[str]) -> tuple[str, ...]:
    """The values of a name in stored form; most names have no escaped character."""
    if "%" in name:
        return partition_values(name, keys)
    return tuple(part.partition("=")[2] for part in name.split("/"))


def _form(kind: str) -> Callable[[str], Order]:
    return _number if base_type(kind) in _WHOLE else _text


def _number(value: str) -> Order:
    """Numbers before values that are none, such as the null partition's."""
    sign, digits = (-1, value[1:]) if value.startswith("-") else (1, value)
    if len(digits) <= _MOST_DIGITS and digits.isascii() and digits.isdecimal():
        return (False, sign * int(digits), "")
    return _text(value)


def _text(value: str) -> Order:
    return (True, 0, value)
