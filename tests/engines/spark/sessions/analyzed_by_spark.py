"""Two tables with the same rows: one that our collector analyses, one that Spark's own ANALYZE does.

python analyzed_by_spark.py thrift://HOST:PORT WAREHOUSE
"""

import sys

from hmstats import collector
from hmstats.collector.spark.session import local_session

ROWS = """SELECT id, id * 0.5 AS price, cast(id AS decimal(10,2)) AS paid, cast(id % 10 AS string) AS region,
date_add(DATE '2024-01-01', cast(id AS int)) AS day, nullif(id % 4, 0) AS quarter FROM range(1000)"""


def main(metastore: str, warehouse: str) -> None:
    """Make both, and analyse them."""
    spark = local_session(metastore, master="local[2]", conf={"spark.sql.warehouse.dir": warehouse})
    spark.sql("CREATE DATABASE shop")
    for table in ("ours", "theirs"):
        spark.sql(f"CREATE TABLE shop.{table} STORED AS PARQUET AS {ROWS}")
    collector.analyze(spark, "shop.ours")
    spark.sql("ANALYZE TABLE shop.theirs COMPUTE STATISTICS FOR ALL COLUMNS")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
