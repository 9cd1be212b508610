"""A table with a column of each kind that matters here, and partitions; and statistics to write into it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.sketch.values.murmur3 import hash_longs
from hmstats.store.database.store import Store

NAME = TableName("hive", "default", "t")
TYPES = {
    "b": "boolean",
    "l": "bigint",
    "m": "int",
    "d": "double",
    "s": "string",
    "bin": "binary",
    "dec": "decimal(38,10)",
    "dt": "date",
    "ts": "timestamp",
}


def make_table(store: Store, folder: Path, partitions: Iterable[int | str]) -> None:
    """Make table t, partitioned by the int p."""
    warehouse = Warehouse(str(folder))
    Databases(store, warehouse).ensure_default()
    storage = Storage(columns=tuple(Column(name, kind) for name, kind in TYPES.items()))
    table = Table(name=NAME, storage=storage, partition_keys=(Column("p", "int"),), table_type="EXTERNAL_TABLE")
    Tables(store, warehouse).create(table)
    new = [Partition(values=(str(each),), storage=storage) for each in partitions]
    PartitionChanges(store, warehouse).add(NAME, new)


def of_partition(number: int | None, engine: str = "hive", **data: Any) -> StatisticsSet:
    """Statistics of a partition's columns, or of the table's, by column name."""
    columns = tuple(ColumnStatistics(name, TYPES[name], each) for name, each in data.items())
    return StatisticsSet(columns, None if number is None else f"p={number}", engine)


def of_longs(start: int, stop: int, *, histogram: bool = False) -> LongStatistics:
    """The statistics of the longs from `start` to before `stop`, with sketches."""
    values = np.arange(start, stop)
    kll = KllHistogram()
    kll.add(values)
    vector = bit_vector(start, stop)
    ndv = HiveHll.from_bytes(vector).count()
    kept = kll.to_bytes() if histogram else None
    return LongStatistics(low=start, high=stop - 1, nulls=1, ndv=ndv, bit_vector=vector, histogram=kept)


def bit_vector(start: int, stop: int, p: int = 12) -> bytes:
    """The sketch of the longs from `start` to before `stop`."""
    sketch = HiveHll(p)
    sketch.add_hashes(hash_longs(np.arange(start, stop)))
    return sketch.to_bytes()
