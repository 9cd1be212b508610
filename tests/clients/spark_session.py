"""A stock PySpark session on a metastore: run as a program, it prints one JSON object of what it saw.

python spark_session.py thrift://HOST:PORT WAREHOUSE
"""

import json
import os
import sys
from typing import Any

from pyspark.sql import SparkSession


def session(metastore: str, warehouse: str) -> SparkSession:
    """A session with Hive support, as Spark's documentation makes one."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.hadoop.hive.metastore.uris", metastore)
        .enableHiveSupport()
        .getOrCreate()
    )


def run(spark: SparkSession) -> dict[str, Any]:
    """From CREATE DATABASE to a table that others can look at."""
    spark.sql("CREATE DATABASE shop")
    spark.range(100).selectExpr("id", "id % 4 AS region", "cast(id AS string) AS name").write.partitionBy(
        "region"
    ).format("parquet").saveAsTable("shop.sales")
    spark.sql("CREATE TABLE shop.log (line string) PARTITIONED BY (day string) STORED AS ORC")
    spark.sql("INSERT INTO shop.log PARTITION (day = '1/2=3') VALUES ('a'), ('b')")
    spark.sql("CREATE VIEW shop.names AS SELECT name FROM shop.sales")
    spark.range(5).write.format("parquet").saveAsTable("shop.old")
    spark.sql("ALTER TABLE shop.old RENAME TO shop.new")
    spark.sql("ANALYZE TABLE shop.new COMPUTE STATISTICS FOR ALL COLUMNS")
    seen = {
        "filtered": spark.table("shop.sales").where("region = 2").count(),
        "partitions": [row[0] for row in spark.sql("SHOW PARTITIONS shop.sales").collect()],
        "log": [row.line for row in spark.table("shop.log").where("day like '1/%'").orderBy("line").collect()],
        "view": spark.table("shop.names").count(),
        "renamed": spark.table("shop.new").count(),
        "tables": sorted(row.tableName for row in spark.sql("SHOW TABLES IN shop").collect()),
    }
    spark.sql("DROP TABLE shop.new")
    seen["after"] = sorted(row.tableName for row in spark.sql("SHOW TABLES IN shop").collect())
    return seen


if __name__ == "__main__":
    started = session(sys.argv[1], sys.argv[2])
    print(json.dumps(run(started)))
    started.stop()
