"""Rows for Iceberg's tables from one Spark among several.

    python -m tests.engines.iceberg.iceberg_writer METASTORE WAREHOUSE TABLE,... [KEY=VALUE ...]

Prints the number of its inserts when all are done.
"""

import sys

from tests.engines.spark.sessions.spark_session import session

INSERTS = 4


def main(metastore: str, warehouse: str, tables: str, *conf: str) -> None:
    """Insert one row at a time, into one table after the other."""
    spark = session(metastore, warehouse, dict(each.split("=", 1) for each in conf))
    spark.sparkContext.setLogLevel("ERROR")
    for _ in range(INSERTS):
        for table in tables.split(","):
            spark.sql(f"INSERT INTO {table} VALUES (1)")
    spark.stop()
    print(INSERTS)


if __name__ == "__main__":
    main(*sys.argv[1:])
