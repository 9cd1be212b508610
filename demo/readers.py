"""Reads statistics with public clients: pymetastore, and stubs of Apache's compiler over the plain thrift package."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from pymetastore.hive_metastore import ThriftHiveMetastore, ttypes
from pymetastore.metastore import HMS
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport


@dataclass(frozen=True)
class Read:
    """What a client was told of a column; None where the column's kind has no such statistic."""

    column: str
    type: str
    nulls: int
    ndv: int | None
    low: object
    high: object
    average_length: float | None
    max_length: int | None


def read_with_pymetastore(host: str, port: int, database: str, table: str) -> list[Read]:
    """The statistics of every column of a table."""
    with HMS.create(host, port) as metastore:
        found = metastore.get_table_stats(metastore.get_table(database, table))
    return [_read(each.columnName, each.columnType, each.stats, ndv="cardinality") for each in found]


def read_with_apache_thrift(host: str, port: int, database: str, table: str, partition: str) -> list[Read]:
    """The statistics of every column of a partition."""
    with _apache_client(host, port) as client:
        columns = [column.name for column in client.get_table(database, table).sd.cols]
        request = ttypes.PartitionsStatsRequest(database, table, columns, [partition])
        found = client.get_partitions_statistics_req(request).partStats[partition]
    reads = [_read(each.colName, each.colType, _member(each.statsData), ndv="numDVs") for each in found]
    return sorted(reads, key=lambda read: columns.index(read.column))


@contextmanager
def _apache_client(host: str, port: int) -> Iterator[Any]:
    transport = TBufferedTransport(TSocket(host, port))
    transport.open()
    try:
        yield ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    finally:
        transport.close()


def _member(union: Any) -> Any:
    return next(member for member in vars(union).values() if member is not None)


def _read(column: str, column_type: str, data: Any, *, ndv: str) -> Read:
    return Read(
        column=column,
        type=column_type,
        nulls=data.numNulls,
        ndv=getattr(data, ndv, None),
        low=_bound(getattr(data, "lowValue", None)),
        high=_bound(getattr(data, "highValue", None)),
        average_length=getattr(data, "avgColLen", None),
        max_length=getattr(data, "maxColLen", None),
    )


def _bound(value: object) -> object:
    if isinstance(value, ttypes.Decimal):
        return Decimal(int.from_bytes(value.unscaled, "big", signed=True)).scaleb(-value.scale)
    if isinstance(value, ttypes.Date):
        return date(1970, 1, 1) + timedelta(days=value.daysSinceEpoch)
    return value
