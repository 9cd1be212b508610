"""pymetastore, a public client that knows nothing of us, reads what it would read from a Hive Metastore."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from pymetastore import stats
from pymetastore.hive_metastore import ttypes
from pymetastore.metastore import HMS
from tests.behaviour.structs import TYPES
from tests.clients.filled import PARTITIONS, fill
from tests.fixtures.metastores import COLUMNS, Metastore


@pytest.fixture
def stranger(older_metastore: Metastore) -> Iterator[Any]:
    fill(older_metastore)
    with HMS.create("127.0.0.1", older_metastore.port) as client:
        yield client


def test_it_lists_databases_and_tables(older_metastore: Metastore, stranger: Any) -> None:
    assert older_metastore.database in stranger.list_databases()
    assert stranger.get_database(older_metastore.database).name == older_metastore.database
    assert sorted(stranger.list_tables(older_metastore.database)) == ["parted", "plain"]
    assert stranger.list_columns(older_metastore.database, "plain") == list(COLUMNS)


def test_it_reads_a_table(older_metastore: Metastore, stranger: Any) -> None:
    table = stranger.get_table(older_metastore.database, "parted")
    assert (table.database_name, table.name, table.table_type) == (older_metastore.database, "parted", "MANAGED_TABLE")
    assert [column.name for column in table.columns] == list(COLUMNS)
    assert [column.name for column in table.partition_columns] == ["k", "j"]
    assert (table.columns[5].type.precision, table.columns[5].type.scale) == (10, 2)


def test_it_reads_partitions(older_metastore: Metastore, stranger: Any) -> None:
    assert tuple(stranger.list_partitions(older_metastore.database, "parted")) == PARTITIONS
    found = stranger.get_partition(older_metastore.database, "parted", PARTITIONS[0])
    assert (found.database_name, found.table_name, found.values) == (older_metastore.database, "parted", ["a/b", "1"])


def test_it_reads_all_partitions(older_metastore: Metastore, stranger: Any) -> None:
    """It fails on the partitions of Hive 2.3, which knows no catalogs."""
    if older_metastore.flavour == "hive-2.3":
        with pytest.raises(AssertionError):
            stranger.get_partitions(older_metastore.database, "parted")
        return
    found = stranger.get_partitions(older_metastore.database, "parted")
    assert [(each.cat_name, each.values) for each in found] == [("hive", ["a/b", "1"]), ("hive", ["c", "2"])]


def test_it_reads_statistics_of_every_kind(older_metastore: Metastore, stranger: Any) -> None:
    table = stranger.get_table(older_metastore.database, "plain")
    found = stranger.get_table_stats(table)
    assert [(each.columnName, each.columnType) for each in found] == list(TYPES.items())
    assert all(each.isTblLevel and each.tableName == "plain" for each in found)
    assert all(abs(each.lastAnalyzed - time.time()) < 100 for each in found)
    decimal = stats.DecimalTypeStats(
        lowValue=ttypes.Decimal(scale=2, unscaled=b"\xff\x38"),
        highValue=ttypes.Decimal(scale=1, unscaled=b"\x03"),
        numNulls=0,
        cardinality=4,
    )
    assert {each.columnName: each.stats for each in found} == {
        "b": stats.BooleanTypeStats(numTrues=3, numFalses=4, numNulls=2),
        "l": stats.LongTypeStats(lowValue=-(2**63), highValue=2**63 - 1, numNulls=0, cardinality=5),
        "d": stats.DoubleTypeStats(lowValue=-1.5, highValue=1e300, numNulls=1, cardinality=7),
        "s": stats.StringTypeStats(maxColLen=9, avgColLen=3.25, numNulls=1, cardinality=6),
        "bin": stats.BinaryTypeStats(maxColLen=10, avgColLen=2.5, numNulls=3),
        "dec": decimal,
        "dt": stats.DateTypeStats(
            lowValue=ttypes.Date(-141428), highValue=ttypes.Date(20000), numNulls=0, cardinality=3
        ),
        "ts": stats.LongTypeStats(lowValue=-5, highValue=1_700_000_000, numNulls=0, cardinality=3),
    }


def test_a_missing_table_is_its_own_exception(older_metastore: Metastore, stranger: Any) -> None:
    with pytest.raises(ttypes.NoSuchObjectException):
        stranger.get_table(older_metastore.database, "nope")
