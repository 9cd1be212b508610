"""The rows of what is to be analysed as a DataFrame, for data that Spark has to read itself."""

from dataclasses import astuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hmstats.collector.plan import Plan
from hmstats.model.catalog import DEFAULT_CATALOG, TableName
from hmstats.model.names import NULL_PARTITION_VALUE

_SEPARATOR = "\0"
"""Stands between the values of a partition where they are one text; none of them holds it."""


def rows(spark: SparkSession, plan: Plan) -> DataFrame:
    """The table's rows, of the wanted partitions only."""
    found = spark.table(_spark_name(plan.table))
    for key, value in plan.spec.items():
        column = F.col(f"`{key}`")
        if value is not None:
            found = found.where(column.isNull() if value == NULL_PARTITION_VALUE else column == value)
    if not plan.unchanged:
        return found
    texts = [F.coalesce(F.col(f"`{key}`").cast("string"), F.lit(NULL_PARTITION_VALUE)) for key in plan.keys]
    wanted = [_SEPARATOR.join(piece.values) for piece in plan.pieces]
    return found.where(F.concat_ws(_SEPARATOR, *texts).isin(wanted))


def _spark_name(table: TableName) -> str:
    """The table's name in Spark, where the metastore's own catalog is the one of the session."""
    parts = (table.database, table.table) if table.catalog == DEFAULT_CATALOG else astuple(table)
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
