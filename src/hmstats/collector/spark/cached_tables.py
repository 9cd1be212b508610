"""Makes a session look up a table again after its statistics were stored.

A session keeps the description of a table of Spark's own form. If it was looked up before the table had statistics, the
session plans without them, and does not tell the metastore of its inserts: the statistics would stay marked as
accurate.
"""

from typing import Any

from pyspark.sql import SparkSession

from hmstats.model.catalog.objects import TableName


def forget_table(spark: SparkSession, table: TableName) -> None:
    """Have the session look up the table again; unlike REFRESH TABLE, this keeps rows that it caches."""
    state: Any = spark._jsparkSession.sessionState()  # noqa: SLF001 - spark.catalog.refreshTable forgets rows too
    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in (table.database, table.table))
    state.catalog().refreshTable(state.sqlParser().parseTableIdentifier(quoted))
