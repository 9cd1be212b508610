"""The same check on every metastore, ours and real ones: what is right passes, what is wrong is found."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client, collector
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

pytestmark = pytest.mark.spark

COLUMNS = {"n": "bigint", "s": "string", "d": "decimal(8,2)", "b": "boolean"}


@pytest.fixture
def address(spark: Any, metastore: Metastore, tmp_path: Path) -> str:
    """The metastore with table t of two partitions of 1,000 rows, analysed."""
    metastore.table("t", COLUMNS, keys=("ds",))
    numbers = range(1_000)
    rows = pa.table(
        {
            "n": numbers,
            "s": [f"s{each % 50}" for each in numbers],
            "d": pa.array(numbers).cast(pa.decimal128(19, 0)).cast(pa.decimal128(21, 2)).cast(pa.decimal128(8, 2)),
            "b": [each % 2 == 0 for each in numbers],
        }
    )
    partitions = []
    for ds in ("1", "2"):
        partition = metastore.partition(ds, columns=COLUMNS)
        partition.sd.location = f"file:{tmp_path}/{ds}"
        (tmp_path / ds).mkdir()
        pq.write_table(rows, tmp_path / ds / "part-0", row_group_size=100)
        partitions.append(partition)
    assert metastore.client().add_partitions(partitions) == 2
    uris = f"thrift://127.0.0.1:{metastore.port}"
    collector.analyze(spark, f"{metastore.database}.t", metastore=uris)
    return uris


@pytest.mark.slow
def test_a_check_on_every_metastore(spark: Any, metastore: Metastore, address: str) -> None:
    table = f"{metastore.database}.t"
    right = collector.check(spark, table, metastore=address, sample_fraction=1)
    assert right.wrong == ()
    assert (right.tally.targets, right.tally.without_statistics, right.tally.rows_read) == (2, 0, 2_000)
    assert right.tally.checked >= 2 * 14
    wrong = ColumnStatistics("n", "bigint", LongStatistics(low=0, high=500, nulls=7, ndv=20))
    with client.connect(address) as service:
        name = TableName("hive", metastore.database, "t")
        service.put_partition_statistics(name, [StatisticsSet((wrong,), "ds=2")])
    found = collector.check(spark, table, metastore=address, sample_fraction=0.5, columns=["n"])
    assert {(each.partition, each.column, each.statistic) for each in found.wrong} >= {
        ("ds=2", "n", "high"),
        ("ds=2", "n", "ndv"),
    }
    assert {each.partition for each in found.wrong} == {"ds=2"}
