"""Filters over partition keys, as trees: the parsed form of the text in `get_partitions_by_filter`.

A key of an integer type is compared as a number, any other as text by its bytes, as in Hive; dates sort as their text.
Fractions do not, and are not compared, as in Hive. Whatever a key's type, a null is found by its name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hmstats.errors import MetaError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of

Literal: TypeAlias = str | int
"""A value compared with a key: a text (dates too, as yyyy-MM-dd) or a whole number."""

OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""The operator after both sides are swapped."""
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,1000}")
"""A text that is a whole number for Hive. Python reads more of them, such as `1_0`, and refuses very long ones."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`key operator value`; the operator is one of =, !=, <, <=, >, >=."""

    key: str
    operator: str
    value: Literal


@dataclass(frozen=True, slots=True)
class Like:
    r"""The key's text matches a pattern: `.*` and `%` are anything, `.` and `_` one character, `\_` an underscore.

    Spark writes the first of each pair, Hive's SQL takes the second. A client that means the character
    itself gets too many partitions, never too few.
    """

    key: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Among:
    """The key is one of the values."""

    key: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part is false."""

    inner: "PartitionFilter"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part is true."""

    parts: tuple["PartitionFilter", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part is true."""

    parts: tuple["PartitionFilter", ...]


PartitionFilter: TypeAlias = Comparison | Like | Among | Not | AllOf | AnyOf


def divide_alternatives(
    parts: Iterable[PartitionFilter],
) -> tuple[dict[str, list[Literal]], list[PartitionFilter]]:
    """Divide alternatives into the values that each key may equal, and other conditions."""
    equal: dict[str, list[Literal]] = {}
    others: list[PartitionFilter] = []
    for part in parts:
        match part:
            case Comparison(key, "=", value):
                equal.setdefault(key, []).append(value)
            case Among(key, listed):
                equal.setdefault(key, []).extend(listed)
            case _:
                others.append(part)
    return equal, others


def asks_for_null(wanted: PartitionFilter) -> bool:
    """Whether a key is compared with the name of the null value."""
    match wanted:
        case AllOf(parts) | AnyOf(parts):
            return any(map(asks_for_null, parts))
        case Not(inner):
            return asks_for_null(inner)
        case Comparison(_, _, value):
            return value == NULL_PARTITION_VALUE
        case Among(_, listed):
            return NULL_PARTITION_VALUE in listed
        case Like():
            return False


def is_number(key: Column) -> bool:
    """Whether the key is compared as a number."""
    return kind_of(key.type) is Kind.LONG


def is_time(key: Column) -> bool:
    """Whether the key is a date or a timestamp, of which a null is not compared with others."""
    return kind_of(key.type) in (Kind.DATE, Kind.TIMESTAMP)


def comparable(key: Column, value: Literal) -> Literal:
    """The value as the key is compared with it; the null's name stays a text.

    Raises MetaError for a fraction, and a number with another text.
    """
    _check_order(key)
    if not is_number(key) or value == NULL_PARTITION_VALUE:
        return str(value)
    if isinstance(value, str) and not _WHOLE_NUMBER.fullmatch(value):
        raise MetaError(
            "Filtering is supported only on partition keys of type string, or by whole numbers: "
            f"partition key {key.name.lower()} is a number, found {value[:100]!r}"
        )
    return int(value)


def check_like(key: Column) -> None:
    """Raise MetaError if the key is a number, which has no pattern."""
    _check_order(key)
    if is_number(key):
        raise MetaError(f"partition key {key.name.lower()} is a number: like needs a text")


def _check_order(key: Column) -> None:
    """Raise MetaError for a key whose values as texts are neither equal nor ordered as the values themselves."""
    if kind_of(key.type) in (Kind.DECIMAL, Kind.DOUBLE):
        raise MetaError(
            "Filtering is supported only on partition keys of type string, of dates and of whole numbers: "
            f"partition key {key.name.lower()} is a {key.type}"
        )
