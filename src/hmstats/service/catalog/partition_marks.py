"""Partitions marked for an event, such as that their data is whole; there need be no such partition."""

from collections.abc import Mapping

from hmstats.errors import InvalidPartition, UnknownTable
from hmstats.model.catalog import TableName
from hmstats.store import partition_events, tables
from hmstats.store.engine import Store
from hmstats.store.unit import Connection, Unit


class PartitionMarks:
    """The marks on partitions; `event` is a number of PartitionEventType."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def mark(self, name: TableName, values: Mapping[str, str], event: int) -> None:
        """Mark the partition that has these values by key; marked again it stays so.

        Raises UnknownTable, and InvalidPartition when the values are not one for each key.
        """

        def insert(unit: Unit) -> None:
            partition = _values(unit.connection, name, values)
            if not partition_events.has(unit.connection, name, partition, event):
                partition_events.insert_one(unit, name, partition, event)

        self._store.write(insert)

    def is_marked(self, name: TableName, values: Mapping[str, str], event: int) -> bool:
        """Whether the partition is marked. Raises as `mark` does."""
        with self._store.read() as connection:
            return partition_events.has(connection, name, _values(connection, name, values), event)


def _values(connection: Connection, name: TableName, values: Mapping[str, str]) -> str:
    """The values in the order of the table's keys, with commas between them."""
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
