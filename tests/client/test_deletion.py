"""Deleting statistics through the client, on our server and on real Hives."""

from collections.abc import Iterator

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

COLUMNS = ("l", "d")


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as connected:
        yield connected


def statistics(partition: str | None = None) -> StatisticsSet:
    data = LongStatistics(low=1, high=2, nulls=0, ndv=2)
    return StatisticsSet(tuple(ColumnStatistics(name, "bigint", data) for name in COLUMNS), partition)


def test_of_a_table(metastore: Metastore, service: client.Metastore) -> None:
    table = f"{metastore.database}.{metastore.table('t', columns=dict.fromkeys(COLUMNS, 'bigint'))}"
    service.put_table_statistics(table, statistics())
    service.delete_statistics(table, columns=["l"])
    assert [each.column for each in service.table_statistics(table, COLUMNS)] == ["d"]
    service.delete_statistics(table)
    service.delete_statistics(table)
    assert service.table_statistics(table, COLUMNS) == ()


def test_of_partitions(metastore: Metastore, service: client.Metastore) -> None:
    columns = dict.fromkeys(COLUMNS, "bigint")
    table = f"{metastore.database}.{metastore.table('p', columns=columns, keys=('k',))}"
    metastore.add_partitions(("a",), ("b",), table="p", columns=columns)
    names = ["k=a", "k=b"]
    service.put_partition_statistics(table, [statistics(name) for name in names])
    service.delete_statistics(table, partitions=[])
    service.delete_statistics(table)
    assert len(list(service.partition_statistics(table, COLUMNS, names))) == 2
    service.delete_statistics(table, columns=["d"], partitions=["k=a"])
    found = {
        each.partition: [c.column for c in each.columns] for each in service.partition_statistics(table, COLUMNS, names)
    }
    assert found == {"k=a": ["l"], "k=b": ["l", "d"]}
    service.delete_statistics(table, partitions=names)
    assert [each.columns for each in service.partition_statistics(table, COLUMNS, names)] in ([], [(), ()])
