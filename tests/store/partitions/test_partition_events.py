import pytest

from hmstats.model.catalog.objects import TableName
from hmstats.store.database.store import Store
from hmstats.store.partitions import partition_events

NAME = TableName("hive", "d", "t")


def marked(store: Store, name: TableName, partition: str, event: int) -> bool:
    with store.read() as connection:
        return partition_events.is_marked(connection, name, partition, event)


def test_a_mark_is_of_one_table_partition_and_event(store: Store) -> None:
    assert not marked(store, NAME, "1,2", 1)
    store.write(lambda unit: partition_events.insert_one(unit, NAME, "1,2", 1))
    assert marked(store, NAME, "1,2", 1)


@pytest.mark.parametrize(
    ("name", "partition", "event"),
    [
        (TableName("other", "d", "t"), "1,2", 1),
        (TableName("hive", "e", "t"), "1,2", 1),
        (TableName("hive", "d", "u"), "1,2", 1),
        (NAME, "2,1", 1),
        (NAME, "1,2", 2),
    ],
)
def test_others_are_not_marked(store: Store, name: TableName, partition: str, event: int) -> None:
    store.write(lambda unit: partition_events.insert_one(unit, NAME, "1,2", 1))
    assert not marked(store, name, partition, event)
