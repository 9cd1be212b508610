"""Filters over partition keys, as trees: the parsed form of the text in `get_partitions_by_filter`."""

from dataclasses import dataclass
from typing import TypeAlias

Literal: TypeAlias = str | int
"""A value compared with a key: a text (dates too, as yyyy-MM-dd) or a whole number."""

OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""The operator after both sides are swapped."""


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
    """The part does not hold."""

    inner: "PartitionFilter"


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple["PartitionFilter", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part holds."""

    parts: tuple["PartitionFilter", ...]


PartitionFilter: TypeAlias = Comparison | Like | Among | Not | AllOf | AnyOf
