"""A parcel: statistics of one table that are sent to a metastore together."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hmstats.client.connection.batches import batches_by_columns
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import StatisticsSet


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


def pack_items(items: Iterable[Item]) -> Iterator[tuple[Item, ...]]:
    """The items in lots that fit into one message each; items are consumed lazily."""
    return map(tuple, batches_by_columns(items, columns=lambda item: len(item.statistics.columns)))
