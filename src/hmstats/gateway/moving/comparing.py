"""Compares two places that have the same database, by their answers to calls, not by their storage."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import zip_longest
from typing import Any

from hmstats.gateway.moving.described import ENGINES, Described
from hmstats.model.catalog.objects import DatabaseName, Partition, Table, TableName, is_view
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.mirrors.digests import digest

_Answers = Mapping[str, object]


class Comparing:
    """Compares two places. Every method raises as those of Described do."""

    def __init__(self, one: Described, other: Described) -> None:
        self._one = one
        self._other = other

    def database(self, name: DatabaseName) -> Iterator[str]:
        """A sentence for each difference in a database: in its own properties, functions, preferences and tables."""
        one, other = self._one.database(name), self._other.database(name)
        if one is None or other is None:
            missing = self._one if one is None else self._other
            yield f"{missing.title} has no database {name.database}"
            return
        yield from self._compare_fields(f"database {name.database}", one, other)
        functions = [{each.name.function: each for each in place.functions(name)} for place in self._both]
        yield from self._compare_answers(f"function {name.database}.", *functions)
        stated = [
            {f"{each.name} of {each.subject}": each.text for each in place.preferences(name)} for place in self._both
        ]
        yield from self._compare_answers("preference ", *stated)
        tables = [dict.fromkeys(place.tables(name), "") for place in self._both]
        yield from self._compare_answers(f"table {name.database}.", *tables)
        for each in sorted(tables[0].keys() & tables[1].keys()):
            yield from self.table(TableName(name.catalog, name.database, each))

    def table(self, name: TableName) -> Iterator[str]:
        """A sentence for each difference in a table: in its own properties, constraints, partitions and statistics."""
        one, other = self._one.table(name), self._other.table(name)
        yield from self._compare_fields(f"table {name.typed}", _without_ids(one), _without_ids(other))
        constraints = [{f"{each.name} {each.column}": each for each in place.constraints(name)} for place in self._both]
        yield from self._compare_answers(f"constraint of {name.typed} ", *constraints)
        if is_view(one):
            return
        yield from self._statistics(name, None)
        for ours, theirs in zip_longest(self._one.partitions(one), self._other.partitions(other)):
            yield from self._partitions(name, ours or {}, theirs or {})

    @property
    def _both(self) -> tuple[Described, Described]:
        return self._one, self._other

    def _partitions(
        self, name: TableName, one: Mapping[str, Partition], other: Mapping[str, Partition]
    ) -> Iterator[str]:
        plain = [{key: _without_times(each) for key, each in found.items()} for found in (one, other)]
        yield from self._compare_answers(f"partition of {name.typed} ", *plain)
        yield from self._statistics(name, sorted(one.keys() & other.keys()))

    def _statistics(self, name: TableName, partitions: list[str] | None) -> Iterator[str]:
        for engine in ENGINES:
            found = [_by_place(place.statistics(name, partitions, engine)) for place in self._both]
            yield from self._compare_answers(f"statistics of {name.typed} ", *found)

    def _compare_fields(self, subject: str, one: Any, other: Any) -> Iterator[str]:
        if one == other:
            return
        for each in fields(one):
            values = [getattr(found, each.name) for found in (one, other)]
            if values[0] == values[1]:
                continue
            if isinstance(values[0], Mapping) and isinstance(values[1], Mapping):
                yield from self._compare_answers(f"{subject}: {each.name} ", *values)
            else:
                yield self._sentence(f"{subject}: {each.name}", *values)

    def _compare_answers(self, subject: str, one: _Answers, other: _Answers) -> Iterator[str]:
        for key in sorted(one.keys() | other.keys()):
            if one.get(key) != other.get(key) or (key in one) != (key in other):
                yield self._sentence(f"{subject}{key}", one.get(key), other.get(key))

    def _sentence(self, subject: str, one: object, other: object) -> str:
        return f"{subject} is {_value_text(one)} in {self._one.title}, and {_value_text(other)} in {self._other.title}"


def _by_place(sets: list[StatisticsSet]) -> dict[str, str]:
    """A digest of each column's statistics, by place, column and engine."""
    return {
        f"{each.partition or 'itself'} {column.column} ({each.engine})": digest(column, sketches=True)
        for each in sets
        for column in each.columns
    }


def _without_ids(table: Table) -> Table:
    return replace(table, id=None, last_access_seconds=0)


def _without_times(partition: Partition) -> Partition:
    return replace(partition, id=None, last_access_seconds=0)


def _value_text(value: object) -> str:
    if value is None:
        return "missing"
    return "there" if isinstance(value, Table | Partition) or value == "" else str(value)
