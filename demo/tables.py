"""The tables of the demonstration, written by Spark."""

from pathlib import Path

from pyspark.sql import SparkSession

DATABASE = "tpch"


def create_tables(spark: SparkSession, source: Path) -> None:
    """customer and orders as they are, lineitem partitioned by the year and month of shipping."""
    spark.sql(f"CREATE DATABASE {DATABASE}")
    for table in ("customer", "orders"):
        spark.read.parquet(str(source / f"{table}.parquet")).write.saveAsTable(f"{DATABASE}.{table}")
    keys = ("ship_year", "ship_month")
    lineitem = spark.read.parquet(str(source / "lineitem.parquet"))
    dated = lineitem.selectExpr("*", "year(l_shipdate) AS ship_year", "month(l_shipdate) AS ship_month")
    dated.repartition(*keys).write.partitionBy(*keys).saveAsTable(f"{DATABASE}.lineitem")
