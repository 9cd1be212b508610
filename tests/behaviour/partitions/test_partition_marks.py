"""Partitions marked for an event, such as that their data is whole."""

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

DONE = api.PartitionEventType.LOAD_DONE
VALUES = {"day": "1", "hour": "2"}


def test_a_partition_is_marked_whether_it_is_there_or_not(metastore: Metastore) -> None:
    metastore.table(keys=("day", "hour"))
    client, database = metastore.client(), metastore.database
    assert not client.isPartitionMarkedForEvent(database, "t", VALUES, DONE)
    client.markPartitionForEvent(database, "t", VALUES, DONE)
    assert client.isPartitionMarkedForEvent(database, "t", VALUES, DONE)
    assert not client.isPartitionMarkedForEvent(database, "t", {"day": "2", "hour": "1"}, DONE)
    client.markPartitionForEvent(database, "t", VALUES, DONE)
    assert client.isPartitionMarkedForEvent(database, "t", VALUES, DONE)


def test_another_tables_partition_is_not_marked(metastore: Metastore) -> None:
    for name in ("t", "u"):
        metastore.table(name, keys=("day", "hour"))
    client, database = metastore.client(), metastore.database
    client.markPartitionForEvent(database, "t", VALUES, DONE)
    assert not client.isPartitionMarkedForEvent(database, "u", VALUES, DONE)


def test_a_missing_table_is_unknown(metastore: Metastore) -> None:
    client, database = metastore.client(), metastore.database
    with pytest.raises(api.UnknownTableException):
        client.markPartitionForEvent(database, "none", VALUES, DONE)
    with pytest.raises(api.UnknownTableException):
        client.isPartitionMarkedForEvent(database, "none", VALUES, DONE)


@pytest.mark.parametrize("values", [{"day": "1"}, {"day": "1", "minute": "2"}])
def test_values_that_are_not_the_keys_are_invalid(metastore: Metastore, values: dict[str, str]) -> None:
    metastore.table(keys=("day", "hour"))
    client, database = metastore.client(), metastore.database
    with pytest.raises(api.InvalidPartitionException, match=r"Number of partition|No value found .* hour"):
        client.markPartitionForEvent(database, "t", values, DONE)
    with pytest.raises(api.InvalidPartitionException, match=r"Number of partition|No value found .* hour"):
        client.isPartitionMarkedForEvent(database, "t", values, DONE)
