"""Partitions of a table by column, a compact form for thousands of partitions that differ in little."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Self

from hmstats.model.catalog.objects import Parameters, Partition, Storage


class PartitionRow(NamedTuple):
    """A partition of PartitionsByColumn. `format` is its storage without a location, None without a storage."""

    name: str
    id: int
    values: tuple[str, ...]
    created_seconds: int
    last_access_seconds: int
    write_id: int
    format: Storage | None
    location: str | None
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class PartitionsByColumn:
    """Partitions by column, all of the same length.

    `formats` are storages without locations (None: no storage). Equal ones are one object.
    """

    names: Sequence[str]
    ids: Sequence[int]
    values: Sequence[tuple[str, ...]]
    created_seconds: Sequence[int]
    last_access_seconds: Sequence[int]
    write_ids: Sequence[int]
    formats: Sequence[Storage | None]
    locations: Sequence[str | None]
    parameters: Sequence[Parameters]

    @classmethod
    def of_rows(cls, rows: Sequence[PartitionRow]) -> Self:
        """The partitions of these rows, in their order."""
        return cls(*zip(*rows, strict=True)) if rows else cls(*[()] * len(fields(cls)))

    def rows(self) -> Iterator[PartitionRow]:
        """The partitions, a row each."""
        columns = (getattr(self, each.name) for each in fields(self))
        return map(PartitionRow._make, zip(*columns, strict=True))


class PartitionsByName(Mapping[str, Partition]):
    """Partitions by name, in name order. Each is made when it is asked for the first time."""

    __slots__ = ("_made", "_places", "columns")

    def __init__(self, columns: PartitionsByColumn) -> None:
        self.columns = columns
        self._places = {name: place for place, name in enumerate(columns.names)}
        self._made: dict[str, Partition] = {}

    def __getitem__(self, name: str) -> Partition:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(self._places[name])
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _make(self, place: int) -> Partition:
        columns, form = self.columns, self.columns.formats[place]
        return Partition(
            values=columns.values[place],
            id=columns.ids[place],
            created_seconds=columns.created_seconds[place],
            last_access_seconds=columns.last_access_seconds[place],
            storage=None if form is None else replace(form, location=columns.locations[place]),
            parameters=columns.parameters[place],
            write_id=columns.write_ids[place],
        )


NO_PARTITIONS = PartitionsByName(PartitionsByColumn.of_rows(()))
