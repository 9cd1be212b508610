"""The calls that are measured, with the tables that they ask about: each connection has its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from tests.fixtures.metastores import Metastore

from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.values.murmur3 import hash_longs
from hmstats.wire.idl import hive_metastore as api

DATABASE = "bench"
ENGINE = "hive"
WIDE = {f"c{number}": "bigint" for number in range(50)}
NARROW = dict(list(WIDE.items())[:20])
PARTITIONS = [f"k=v{number:04}" for number in range(1_000)]
AT_ONCE = 100
"""Partitions of a call that reads or writes them one by one; an aggregate is of them all."""
SKETCHED = 10
"""Partitions of a call that writes bit vectors: of more a Hive takes seconds."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A call, and its arguments for the tables of one connection."""

    title: str
    method: str
    arguments: Callable[[int], Mapping[str, Any]]
    reads: bool = True


def _statistics(
    table: str, columns: Mapping[str, str], partition: str | None = None, vectors: Sequence[bytes] = ()
) -> Any:
    data = [api.LongColumnStatsData(lowValue=1, highValue=1_000_000, numNulls=10, numDVs=90_000) for _ in columns]
    for each, vector in zip(data, vectors, strict=bool(vectors)):
        each.bitVectors = vector
    objects = [
        api.ColumnStatisticsObj(colName=name, colType=kind, statsData=api.ColumnStatisticsData(longStats=each))
        for (name, kind), each in zip(columns.items(), data, strict=True)
    ]
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName=DATABASE, tableName=table, partName=partition
    )
    return api.ColumnStatistics(statsDesc=description, statsObj=objects, engine=ENGINE)


def _one_column(connection: int) -> Mapping[str, Any]:
    return {"db_name": DATABASE, "tbl_name": f"wide{connection}", "col_name": "c7"}


def _many_columns(connection: int) -> Mapping[str, Any]:
    wanted = api.TableStatsRequest(dbName=DATABASE, tblName=f"wide{connection}", colNames=list(WIDE), engine=ENGINE)
    return {"request": wanted}


def _one_partition(connection: int) -> Mapping[str, Any]:
    return {"db_name": DATABASE, "tbl_name": f"parted{connection}", "part_name": PARTITIONS[7], "col_name": "c7"}


def _partitions(connection: int, names: Sequence[str]) -> Mapping[str, Any]:
    wanted = api.PartitionsStatsRequest(
        dbName=DATABASE, tblName=f"parted{connection}", colNames=list(NARROW), partNames=names, engine=ENGINE
    )
    return {"request": wanted}


def _update(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _statistics(f"wide{connection}", WIDE)}


def _update_partition(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _statistics(f"parted{connection}", NARROW, PARTITIONS[7])}


def _set(connection: int, names: Sequence[str]) -> Mapping[str, Any]:
    sets = [_statistics(f"parted{connection}", NARROW, name) for name in names]
    return {"request": api.SetPartitionsStatsRequest(colStats=sets, needMerge=False, engine=ENGINE)}


@cache
def _vectors(partition: int) -> Sequence[bytes]:
    """A bit vector for each column of a partition, as large as those of Hive's own ANALYZE; no two are the same."""
    return [_vector(partition * len(NARROW) + column) for column in range(len(NARROW))]


def _vector(number: int) -> bytes:
    sketch = HiveHll(10)
    sketch.add_hashes(hash_longs(np.arange(5_000) * (number + 1)))
    return sketch.to_bytes()


def _sketched(connection: int, partition: int) -> Any:
    return _statistics(f"sketched{connection}", NARROW, PARTITIONS[partition], _vectors(partition))


def _update_sketched(connection: int) -> Mapping[str, Any]:
    return {"stats_obj": _sketched(connection, 0)}


def _set_sketched(connection: int) -> Mapping[str, Any]:
    sets = [_sketched(connection, partition) for partition in range(SKETCHED)]
    return {"request": api.SetPartitionsStatsRequest(colStats=sets, needMerge=False, engine=ENGINE)}


SCENARIOS = (
    Scenario("get_table_column_statistics, 1 column", "get_table_column_statistics", _one_column),
    Scenario("get_table_statistics_req, 50 columns", "get_table_statistics_req", _many_columns),
    Scenario("get_partition_column_statistics, 1 column", "get_partition_column_statistics", _one_partition),
    Scenario(
        "get_partitions_statistics_req, 100 x 20",
        "get_partitions_statistics_req",
        lambda connection: _partitions(connection, PARTITIONS[:AT_ONCE]),
    ),
    Scenario(
        "get_aggr_stats_for, 1,000 x 20", "get_aggr_stats_for", lambda connection: _partitions(connection, PARTITIONS)
    ),
    Scenario("update_table_column_statistics, 50", "update_table_column_statistics", _update, reads=False),
    Scenario(
        "update_partition_column_statistics, 20", "update_partition_column_statistics", _update_partition, reads=False
    ),
    Scenario(
        "set_aggr_stats_for, 100 x 20",
        "set_aggr_stats_for",
        lambda connection: _set(connection, PARTITIONS[:AT_ONCE]),
        reads=False,
    ),
    Scenario(
        "update_partition_column_statistics, 20, bit vectors",
        "update_partition_column_statistics",
        _update_sketched,
        reads=False,
    ),
    Scenario("set_aggr_stats_for, 10 x 20, bit vectors", "set_aggr_stats_for", _set_sketched, reads=False),
)


def fill(port: int, connections: int) -> None:
    """Make the tables of every connection, with their statistics."""
    metastore = Metastore("bench", port, 4.0, DATABASE)
    with metastore.clients:
        client = metastore.client()
        client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        for connection in range(connections):
            metastore.table(f"wide{connection}", WIDE)
            metastore.table(f"parted{connection}", NARROW, keys=["k"])
            values = [[name.partition("=")[2]] for name in PARTITIONS]
            metastore.add_partitions(*values, table=f"parted{connection}", columns=NARROW)
            metastore.table(f"sketched{connection}", NARROW, keys=["k"])
            metastore.add_partitions(*values[:SKETCHED], table=f"sketched{connection}", columns=NARROW)
            client.update_table_column_statistics(*_update(connection).values())
            for start in range(0, len(PARTITIONS), AT_ONCE):
                client.set_aggr_stats_for(*_set(connection, PARTITIONS[start : start + AT_ONCE]).values())
