"""Statistics of the same columns of many partitions, or of one table, by field.

Writers send thousands of columns in one call, mostly of the same names and types for each partition. Here a field, such
as the nulls of all columns that have the same fields, is one list, so that whole lists are looked at and stored.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Kind, StatisticsSet
from hmstats.model.statistics.flat_statistics import FIELDS

SKETCHES = frozenset({"bit_vector", "histogram"})
"""Sketches, which many writers leave unset."""


class KindOfColumn(NamedTuple):
    """A column's name and type, in lower case, and the kind of its statistics."""

    column: str
    column_type: str
    kind: Kind


class FieldValues(NamedTuple):
    """Statistics of one kind that have the same fields: by field a value for each, None where it is unknown.

    `places` are the values' indexes in ascending order: the index of a partition's column is the partition's index
    times the number of columns plus the column's index.
    """

    kind: Kind
    places: Sequence[int]
    values: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class StatisticsByField:
    """Statistics of one engine, of different partitions (a table's own: of None alone) and different columns."""

    partitions: Sequence[str | None]
    engine: str
    columns: Sequence[KindOfColumn]
    groups: Sequence[FieldValues]

    @property
    def size(self) -> int:
        """The number of partitions times the number of columns."""
        return len(self.partitions) * len(self.columns)

    def has_all_values(self, but: Collection[str]) -> bool:
        """Whether every value is known, except for these fields."""
        return all(
            {*values} >= {*FIELDS[kind]}.difference(but) and not any(None in of_field for of_field in values.values())
            for kind, _, values in self.groups
        )

    def sets(self, analyzed_seconds: int | None = None) -> list[StatisticsSet]:
        """One set of statistics for each partition, in the order of `partitions`."""
        data: dict[int, Any] = {}
        for kind, places, values in self.groups:
            rows = zip(*values.values(), strict=True) if values else [()] * len(places)
            made = (DATA_CLASSES[kind](**dict(zip(values, row, strict=True))) for row in rows)
            data.update(zip(places, made, strict=True))
        each = [
            ColumnStatistics(column, column_type, data[place])
            for place, (_, (column, column_type, _)) in enumerate(product(self.partitions, self.columns))
        ]
        width = len(self.columns)
        return [
            StatisticsSet(tuple(each[number * width : (number + 1) * width]), name, self.engine, analyzed_seconds)
            for number, name in enumerate(self.partitions)
        ]


def by_kind(columns: Sequence[ColumnStatistics]) -> list[FieldValues]:
    """The statistics by kind, with every field of the kind; `places` are indexes of `columns`."""
    places: dict[Kind, list[int]] = {}
    for place, column in enumerate(columns):
        places.setdefault(column.kind, []).append(place)
    return [
        FieldValues(
            kind, of_kind, {field: [getattr(columns[each].data, field) for each in of_kind] for field in FIELDS[kind]}
        )
        for kind, of_kind in places.items()
    ]


def combine(given: Sequence[StatisticsByField]) -> StatisticsByField | None:
    """The combined result of writing these statistics in order; None if one object cannot hold it.

    They must be of the same engine and columns. If two are of the same partition, the later must have all values of the
    earlier's partitions, since unknown values do not replace known ones.
    """
    first, kept = given[0], _drop_replaced(given)
    if kept is None or any((each.engine, each.columns) != (first.engine, first.columns) for each in given):
        return None
    alike: dict[tuple[Kind, frozenset[str]], list[tuple[int, FieldValues]]] = {}
    start = 0
    for each in kept:
        for group in each.groups:
            alike.setdefault((group.kind, frozenset(group.values)), []).append((start, group))
        start += each.size
    partitions = [partition for each in kept for partition in each.partitions]
    return StatisticsByField(partitions, first.engine, first.columns, [*map(_concatenate, alike.values())])


def _concatenate(parts: Sequence[tuple[int, FieldValues]]) -> FieldValues:
    """Concatenate values of the same kind and fields, each with the offset of its indexes."""
    kind, _, values = parts[0][1]
    places = [start + place for start, group in parts for place in group.places]
    of_fields = {field: [*chain.from_iterable(group.values[field] for _, group in parts)] for field in values}
    return FieldValues(kind, places, of_fields)


def _drop_replaced(given: Sequence[StatisticsByField]) -> list[StatisticsByField] | None:
    """The groups of statistics that no later group replaces, in order; None if only a part of one is replaced."""
    kept: list[StatisticsByField] = []
    seen = set[str | None]()
    said = {field for each in given for group in each.groups for field in group.values}
    unsaid = SKETCHES - said  # fields that none of them sets are not replaced
    for each in reversed(given):
        again = seen.intersection(each.partitions)
        if not again:
            kept.append(each)
            seen.update(each.partitions)
        elif len(again) < len(each.partitions) or not all(later.has_all_values(unsaid) for later in kept):
            return None
    return kept[::-1]
