"""Queries in a stock PySpark session on a metastore, with an event log: run as a program.

python spark_queries.py thrift://HOST:PORT WAREHOUSE LOG_FOLDER fill|ask [KEY=VALUE ...]
"""

import os
import sys

from pyspark.sql import SparkSession

_STATEMENTS = {
    "fill": [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders USING parquet AS SELECT id, id % 1500 AS customer, "
        "CASE WHEN id % 100 < 95 THEN 'done' WHEN id % 100 < 99 THEN 'open' ELSE 'lost' END AS status, "
        "CAST(id % 7 AS double) AS price FROM range(20000)",
        "CREATE TABLE shop.customers USING parquet AS SELECT id AS customer_id, concat('c', id) AS name, "
        "id % 25 AS nation FROM range(1500)",
    ],
    "ask": [
        "SELECT count(*), sum(price) FROM shop.orders WHERE customer = 77",
        "SELECT name, count(*) FROM shop.orders JOIN shop.customers ON customer = customer_id WHERE customer = 78 "
        "GROUP BY name",
        "SELECT count(*) FROM shop.orders WHERE status = 'lost'",
        "SELECT count(*) FROM shop.customers WHERE name LIKE '%7'",
    ],
}


def main(metastore: str, warehouse: str, log: str, what: str, *settings: str) -> None:
    """Run the statements."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    given = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": warehouse,
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{log}",
        "spark.sql.ui.explainMode": "cost",
        "spark.sql.cbo.enabled": "true",
        **dict(each.split("=", 1) for each in settings),
    }
    builder = SparkSession.builder.master("local[2]").enableHiveSupport()
    for name, value in given.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for statement in _STATEMENTS[what]:
        spark.sql(statement).collect()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
