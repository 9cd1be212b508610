"""Partitions in the order of their keys' values: numbers by their size, everything else as text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias

from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import Column, Table
from hmstats.model.statistics.column_types import base_type

_WHOLE = frozenset({"tinyint", "smallint", "int", "integer", "bigint"})
_MOST_DIGITS = 20
MANY = 2_000
"""From so many partitions on, their order is kept for the next request: sorting them takes up to a second."""
MOST_KEPT = 2
"""Tables whose order is kept; 100,000 partitions take 40 MB."""
Order: TypeAlias = tuple[bool, int, str]


@dataclass(frozen=True, slots=True)
class NamedPartition:
    """A partition's name and its values, one for each key."""

    name: str
    values: tuple[str, ...]


class Ordered(tuple[NamedPartition, ...]):
    """Partitions in order. Compared by identity, since comparing a hundred thousand partitions takes long."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def in_order(table: Table, names: Iterable[str]) -> Ordered:
    """The partitions sorted by their values; of the same many names it is the same object as before."""
    every = tuple(names)
    return (_place if len(every) < MANY else _place_before)(table.partition_keys, every)


def partitions_between(placed: Sequence[NamedPartition], first: str, last: str) -> list[NamedPartition]:
    """The partitions from one name to another, both included; none when one of the names is not there."""
    places = {each.name: place for place, each in enumerate(placed)}
    if first not in places or last not in places:
        return []
    return list(placed[places[first] : places[last] + 1])


def _place(columns: tuple[Column, ...], names: tuple[str, ...]) -> Ordered:
    keys = [key.name for key in columns]
    every = [(name, _values(name, keys)) for name in names]
    by_key = zip(*(values for _, values in every), strict=True)
    orders = [map(_form(key.type), values) for key, values in zip(columns, by_key, strict=False)]
    placed = zip(zip(*orders, strict=True), every, strict=True)
    return Ordered(NamedPartition(*each) for _, each in sorted(placed, key=itemgetter(0)))


_place_before = lru_cache(maxsize=MOST_KEPT)(_place)


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
