"""Makes a session look a table up again whose statistics were stored.

A session keeps what it read of a table of its own form. One that looked the table up before it had statistics plans
without them, and tells the metastore nothing of what it inserts: the statistics would stay marked as accurate.
"""

from typing import Any

from pyspark.sql import SparkSession

from hmstats.model.catalog.objects import TableName


def forget_table(spark: SparkSession, table: TableName) -> None:
    """Have the session look the table up again; unlike by REFRESH TABLE, rows that it caches stay."""
    state: Any = spark._jsparkSession.sessionState()  # noqa: SLF001 - spark.catalog.refreshTable forgets rows too
    quoted = ".".join(f"`{part.replace('`', '``')}`" for part in (table.database, table.table))
    state.catalog().refreshTable(state.sqlParser().parseTableIdentifier(quoted))
