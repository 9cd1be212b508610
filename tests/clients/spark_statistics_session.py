"""Spark's own statements about statistics, in a stock Spark: run as a program, it prints lines of JSON.

python -m tests.clients.spark_statistics_session thrift://HOST:PORT WAREHOUSE

At each stop it prints a line, and goes on when it reads one: its caller looks at the metastore, or pushes statistics.
"""

import json
import os
import sys
from typing import Any

from pyspark.sql import SparkSession
from tests.engines.spark.sessions.spark_session import session

CONF = {
    "spark.sql.cbo.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.statistics.histogram.enabled": "true",
}
VALUES = """id AS Id, id % 4 = 0 AS b, cast(id % 5 AS tinyint) AS ti, cast(id AS smallint) AS si, cast(id AS int) AS i,
cast(id * 0.1 AS float) AS f, id * 1e10 AS d, cast(id * 1.5 AS decimal(12,2)) AS dec,
cast(id * 1.5 AS decimal(30,5)) AS wide, concat('x', id) AS s, cast('abc' AS varchar(5)) AS vc,
cast(concat('x', id) AS binary) AS bin, date_add(DATE'2000-01-01', cast(id AS int)) AS dt,
timestamp_micros(id * 1000000) AS ts"""


def described(spark: SparkSession, table: str) -> dict[str, dict[str, str]]:
    """What Spark says of each column that its optimizer knows something of; of histograms the bounds alone."""
    spark.sql(f"REFRESH TABLE {table}")
    return {name: _described(spark, table, name) for name in spark.table(table).columns}


def _described(spark: SparkSession, table: str, column: str) -> dict[str, str]:
    rows = spark.sql(f"DESCRIBE EXTENDED {table} {column}").collect()
    found = {row.info_name: row.info_value for row in rows}
    bins = [name for name in found if name.startswith("bin_")]
    if bins:
        found["low"], found["high"] = found[bins[0]].split(",")[0], found[bins[-1]].split(",")[1]
    wanted = ("min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "low", "high")
    return {name: found[name] for name in wanted if found.get(name) not in (None, "NULL")}


def stop(**seen: Any) -> None:
    """Say what was seen, and wait."""
    print(json.dumps(seen), flush=True)
    sys.stdin.readline()


def run(spark: SparkSession) -> None:
    """ANALYZE, a push, statements that write the table back, another ANALYZE, and an INSERT."""
    spark.sql("CREATE DATABASE shop")
    spark.sql(f"CREATE TABLE shop.t USING parquet AS SELECT {VALUES} FROM range(1, 101)")
    spark.sql("CREATE TABLE shop.h STORED AS PARQUET AS SELECT id, concat('x', id) AS s FROM range(50)")
    spark.sql("ANALYZE TABLE shop.t COMPUTE STATISTICS FOR ALL COLUMNS")
    stop(analyzed=described(spark, "shop.t"))
    stop(pushed=described(spark, "shop.t"), of_hive=described(spark, "shop.h"))
    spark.sql("ALTER TABLE shop.t SET TBLPROPERTIES ('note' = 'mine')")
    spark.sql("ALTER TABLE shop.t ADD COLUMNS (later int)")
    spark.sql("ALTER TABLE shop.h CHANGE COLUMN s s string COMMENT 'a text'")
    spark.sql("ALTER TABLE shop.h RENAME TO shop.hh")
    properties = {row.key: row.value for row in spark.sql("SHOW TBLPROPERTIES shop.hh").collect()}
    stop(altered=described(spark, "shop.t"), of_hive=described(spark, "shop.hh"), properties=properties)
    spark.sql("ANALYZE TABLE shop.hh COMPUTE STATISTICS FOR COLUMNS s")
    stop(carried=described(spark, "shop.hh"))
    spark.sql("INSERT INTO shop.hh VALUES (1000, 'y')")
    spark.sql("INSERT INTO shop.t (Id) VALUES (1000)")
    stop(inserted=described(spark, "shop.t"), of_hive=described(spark, "shop.hh"))
    spark.sql("DROP TABLE shop.hh")
    stop(rows=spark.table("shop.t").count())


if __name__ == "__main__":
    os.environ["HADOOP_USER_NAME"] = "spark"
    started = session(sys.argv[1], sys.argv[2], CONF)
    run(started)
    started.stop()
