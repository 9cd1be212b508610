"""A stock Spark appends to tables whose statistics are marked as accurate, and replaces their rows.

    python spark_appends.py thrift://HOST:PORT WAREHOUSE > out.jsonl

A line of JSON per statement and table or partition: {"table", "partition", "sql", "rows": how many there are,
"parameters"}. Spark has the user's name of HADOOP_USER_NAME.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from tests.engines.spark.sessions.spark_session import session

from hmstats.client import connect
from hmstats.client.metastore import Metastore
from hmstats.model.catalog.names import partition_name, table_name
from hmstats.model.catalog.objects import Table
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

MARK = '{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}'
TABLES = {
    "hive_plain": "(a BIGINT) STORED AS PARQUET",
    "spark_plain": "(a BIGINT) USING parquet",
    "hive_keyed": "(a BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET",
    "spark_keyed": "(a BIGINT, k STRING) USING parquet PARTITIONED BY (k)",
}
PLAIN = ("INSERT INTO {t} VALUES (2)", "INSERT OVERWRITE {t} VALUES (3), (4), (5)", "TRUNCATE TABLE {t}")
KEYED = (
    "INSERT INTO {t} PARTITION (k = 'x') VALUES (2)",
    "INSERT INTO {t} VALUES (6, 'x'), (7, 'y')",
    "INSERT OVERWRITE {t} PARTITION (k = 'x') VALUES (3), (4), (5), (6)",
    "INSERT OVERWRITE {t} VALUES (8, 'y'), (9, 'y')",
)


def main(address: str, warehouse: str) -> None:
    """Run all statements on all tables."""
    conf = {"spark.sql.sources.partitionOverwriteMode": "dynamic", "hive.exec.dynamic.partition.mode": "nonstrict"}
    spark = session(address, warehouse, conf)
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE DATABASE appends")
    with connect(address) as client:
        for name, made in TABLES.items():
            spark.sql(f"CREATE TABLE appends.{name} {made}")
            first = "PARTITION (k = 'x') VALUES (1)" if "keyed" in name else "VALUES (1)"
            spark.sql(f"INSERT INTO appends.{name} {first}")
            for statement in KEYED if "keyed" in name else PLAIN:
                _mark(spark, client, name)
                sql = statement.format(t=f"appends.{name}")
                spark.sql(sql)
                for partition, rows, parameters in _answers(spark, client, name):
                    line = {"table": name, "partition": partition, "sql": sql, "rows": rows, "parameters": parameters}
                    print(json.dumps(line), flush=True)
    spark.stop()


def _mark(spark: SparkSession, client: Metastore, name: str) -> None:
    """Say of each part of the table its rows, files and bytes, and that these and the column's statistics are right."""
    named = table_name("appends", name)
    table = client.find_table(named)
    assert table is not None
    assert table.storage is not None
    folder = Path((table.storage.location or "").removeprefix("file:"))
    for partition, rows, _ in _answers(spark, client, name):
        data = ColumnStatistics("a", "bigint", LongStatistics(low=0, high=9, nulls=0, ndv=rows))
        files = list((folder / (partition or "")).glob("[!._]*"))
        sizes = {"numFiles": str(len(files)), "totalSize": str(sum(each.stat().st_size for each in files))}
        changes = {"numRows": str(rows), "COLUMN_STATS_ACCURATE": MARK, **sizes}
        if partition is None:
            client.put_table_statistics(named, StatisticsSet((data,)))
            client.put_table_parameters(named, changes)
        else:
            client.put_partition_statistics(named, [StatisticsSet((data,), partition)])
            client.put_partition_parameters(named, ["k"], {partition: changes})
    # A session that knows the table from before it had sizes tells the metastore nothing of what it writes.
    spark.catalog.refreshTable(f"appends.{name}")


def _answers(spark: SparkSession, client: Metastore, name: str) -> Iterator[tuple[str | None, int, Mapping[str, str]]]:
    """Of the table, or of each of its partitions: its rows, read from files, and its parameters."""
    table: Table | None = client.find_table(table_name("appends", name))
    assert table is not None
    spark.catalog.refreshTable(f"appends.{name}")
    if not table.partition_keys:
        yield None, len(spark.sql(f"SELECT a FROM appends.{name}").collect()), dict(table.parameters)
        return
    rows = [row.k for row in spark.sql(f"SELECT a, k FROM appends.{name}").collect()]
    for each in client.partitions(table.name, client.partition_names(table.name)):
        yield partition_name(["k"], each.values), rows.count(each.values[0]), dict(each.parameters)


if __name__ == "__main__":
    main(*sys.argv[1:])
