"""Statistics on their way to a metastore: what of one table goes there together, in one go."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hmstats.client.batches import batches_by_columns
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import StatisticsSet


@dataclass(frozen=True, slots=True)
class Item:
    """Statistics of a partition, or of the table itself (`statistics.partition` is None), and its parameters.

    A parameter whose value is None is removed.
    """

    statistics: StatisticsSet
    parameters: Mapping[str, str | None]

    @property
    def partition(self) -> str | None:
        """The partition's name; None for the table itself."""
        return self.statistics.partition


@dataclass(frozen=True, slots=True)
class Parcel:
    """Items of one table: one of the table itself, or some of its partitions.

    `keys` are the table's partition keys. `made_at_seconds`: epoch time at which the statistics were computed.
    """

    table: TableName
    keys: tuple[str, ...]
    items: tuple[Item, ...]
    made_at_seconds: int

    @property
    def of_table(self) -> bool:
        """Whether it is about the table itself."""
        return any(item.partition is None for item in self.items)


def packed(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    """The items in lots of a bearable size for one message; an item is taken when it is needed."""
    return map(tuple, batches_by_columns(items, columns=lambda item: len(item.statistics.columns)))
