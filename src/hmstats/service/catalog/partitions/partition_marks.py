"""Marks of events on partitions, such as that a load is done. The partition itself need not exist."""

from collections.abc import Mapping

from hmstats.errors import InvalidPartition, UnknownTable
from hmstats.model.catalog.objects import TableName
from hmstats.store.catalog import tables
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_events
from hmstats.store.unit.unit import Connection, Unit


class PartitionMarks:
    """The marks on partitions; `event` is a value of PartitionEventType."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def mark(self, name: TableName, values: Mapping[str, str], event: int) -> None:
        """Mark the partition with these values, given by key. Marking it again changes nothing.

        Raises UnknownTable, and InvalidPartition unless there is one value for each key.
        """

        def insert(unit: Unit) -> None:
            partition = _values(unit.connection, name, values)
            if not partition_events.is_marked(unit.connection, name, partition, event):
                partition_events.insert_one(unit, name, partition, event)

        self._store.write(insert)

    def is_marked(self, name: TableName, values: Mapping[str, str], event: int) -> bool:
        """Whether the partition is marked. Raises as `mark` does."""
        with self._store.read() as connection:
            return partition_events.is_marked(connection, name, _values(connection, name, values), event)


def _values(connection: Connection, name: TableName, values: Mapping[str, str]) -> str:
    """The values joined by commas, in the order of the table's keys. Raises as `mark`."""
    table = tables.get(connection, name)
    if table is None:
        raise UnknownTable(f"Table: {name} is not found.")
    keys = [key.name for key in table.partition_keys]
    if len(keys) != len(values):
        raise InvalidPartition(
            f"Number of partition columns in table: {len(keys)} doesn't match with number of supplied partition "
            f"values: {len(values)}"
        )
    missing = [key for key in keys if values.get(key) is None]
    if missing:
        raise InvalidPartition(f"No value found for partition column: {missing[0]}")
    return ",".join(values[key] for key in keys)
