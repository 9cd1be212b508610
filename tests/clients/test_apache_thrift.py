"""The plain `thrift` package of Apache, with classes that its own compiler made (they travel in pymetastore)."""

from collections.abc import Iterator
from typing import Any

import pytest
from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from tests.behaviour.structs import TYPES, of_table
from tests.clients.filled import PARTITIONS, fill
from tests.fixtures.metastores import COLUMNS, Metastore
from thrift.protocol.TBinaryProtocol import TBinaryProtocol, TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport


@pytest.fixture(params=[TBinaryProtocol, TBinaryProtocolAccelerated], ids=["python", "accelerated"])
def stranger(request: pytest.FixtureRequest, older_metastore: Metastore) -> Iterator[Any]:
    fill(older_metastore)
    transport = TBufferedTransport(TSocket("127.0.0.1", older_metastore.port))
    transport.open()
    yield ThriftHiveMetastore.Client(request.param(transport))
    transport.close()


def test_it_reads_tables_and_partitions(older_metastore: Metastore, stranger: Any) -> None:
    table = stranger.get_table(older_metastore.database, "parted")
    assert [column.name for column in table.sd.cols] == list(COLUMNS)
    assert [key.name for key in table.partitionKeys] == ["k", "j"]
    request = ttypes.GetTableRequest(dbName=older_metastore.database, tblName="plain")
    assert stranger.get_table_req(request).table.parameters["numRows"] == "12"
    assert tuple(stranger.get_partition_names(older_metastore.database, "parted", -1)) == PARTITIONS
    found = stranger.get_partitions_by_names(older_metastore.database, "parted", list(PARTITIONS))
    assert sorted(each.values for each in found) == [["a/b", "1"], ["c", "2"]]


def test_it_reads_statistics(older_metastore: Metastore, stranger: Any) -> None:
    request = ttypes.TableStatsRequest(older_metastore.database, "plain", list(TYPES))
    found = {each.colName: each.statsData for each in stranger.get_table_statistics_req(request).tableStats}
    assert set(found) == set(TYPES)
    assert found["l"].longStats == ttypes.LongColumnStatsData(
        lowValue=-(2**63), highValue=2**63 - 1, numNulls=0, numDVs=5
    )
    assert found["s"].stringStats == ttypes.StringColumnStatsData(maxColLen=9, avgColLen=3.25, numNulls=1, numDVs=6)
    assert found["dec"].decimalStats.lowValue == ttypes.Decimal(scale=2, unscaled=b"\xff\x38")
    assert found["dt"].dateStats.highValue == ttypes.Date(daysSinceEpoch=20000)


def test_it_reads_statistics_of_partitions(older_metastore: Metastore, stranger: Any) -> None:
    request = ttypes.PartitionsStatsRequest(older_metastore.database, "parted", ["l", "dec", "s"], list(PARTITIONS))
    found = stranger.get_partitions_statistics_req(request).partStats
    assert set(found) == set(PARTITIONS)
    assert all({each.colName for each in columns} == {"l", "dec"} for columns in found.values())


def test_it_writes_statistics(older_metastore: Metastore, stranger: Any) -> None:
    data = ttypes.LongColumnStatsData(lowValue=1, highValue=2, numNulls=3, numDVs=2)
    column = ttypes.ColumnStatisticsObj("l", "bigint", ttypes.ColumnStatisticsData(longStats=data))
    description = ttypes.ColumnStatisticsDesc(isTblLevel=True, dbName=older_metastore.database, tableName="plain")
    assert stranger.update_table_column_statistics(ttypes.ColumnStatistics(description, [column]))
    assert of_table(older_metastore, "l", table="plain")["l"].longStats.numNulls == 3


def test_its_exceptions_are_told_apart(older_metastore: Metastore, stranger: Any) -> None:
    with pytest.raises(ttypes.NoSuchObjectException):
        stranger.get_table(older_metastore.database, "nope")
    with pytest.raises(ttypes.AlreadyExistsException):
        stranger.create_database(ttypes.Database(name=older_metastore.database, parameters={}))


def test_a_method_that_is_missing_leaves_the_connection_alive(older_metastore: Metastore, stranger: Any) -> None:
    out = stranger._oprot
    out.writeMessageBegin("no_such_method", TMessageType.CALL, 1)
    ThriftHiveMetastore.get_all_databases_args().write(out)
    out.writeMessageEnd()
    out.trans.flush()
    with pytest.raises(TApplicationException, match="Invalid method name: 'no_such_method'") as raised:
        stranger.recv_get_all_databases()
    assert raised.value.type == TApplicationException.UNKNOWN_METHOD
    assert older_metastore.database in stranger.get_all_databases()
