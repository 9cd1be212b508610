"""The requested rows as a DataFrame, for data that only Spark can read."""

from dataclasses import astuple

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from hmstats.collector.planning.plan import Plan
from hmstats.collector.scan.placing import identity
from hmstats.errors import UnreadableFile
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, quote_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, Column, TableName
from hmstats.model.statistics.column_types import base_type, kind_of

_SEPARATOR = "\0"
"""The separator between a partition's values in one text; no value contains it."""
_MANY_TEXTS = {"decimal", "float", "double"}
"""Types whose texts in Spark differ from those of model/partitions/partition_values.py."""


def rows(spark: SparkSession, plan: Plan) -> DataFrame:
    """The table's rows, of the wanted partitions only.

    The session lists the files again: its remembered listing, or rows that it caches, may be older than the plan's
    files. Raises UnreadableFile if Spark, which lacks the class of the table's SerDe, ignores the table's columns, or
    has columns that the metastore does not have.
    """
    name = _spark_name(plan.table)
    spark.catalog.refreshTable(name)
    found = spark.table(name)
    if plan.types and plan.types.keys().isdisjoint(map(str.lower, found.columns)):
        raise UnreadableFile(
            f"table {plan.table.typed} cannot be read by Spark, which finds none of its columns: the class of its SerDe"
            " is in no jar of the session"
        )
    _check_columns(found, plan)
    for key, value in plan.spec.items():
        column = F.col(quote_name(key))
        if value is not None:
            found = found.where(column.isNull() if value == NULL_PARTITION_VALUE else column == value)
    if not plan.unchanged and not plan.chosen:
        return found
    return _only(found, plan)


def _check_columns(found: DataFrame, plan: Plan) -> None:
    """Raises UnreadableFile if Spark has no such column, or one of another kind, as with some SerDes."""
    given = {name.lower(): type_.partition(" collate ")[0] for name, type_ in found.dtypes}
    for name, type_ in plan.types.items():
        if kind_of(given.get(name, "")) is kind_of(type_):
            continue
        what = f"one of type {given[name]}" if name in given else f"none, only {', '.join(given)}"
        raise UnreadableFile(
            f"table {plan.table.typed} has a column {name} of type {type_} in the metastore, but Spark finds {what}, as"
            " the table's SerDe says: change the metastore's column, or name the other columns"
        )


def _only(found: DataFrame, plan: Plan) -> DataFrame:
    """The rows of the wanted partitions, filtered by their keys' texts; placing.py removes the remaining others."""
    places = [number for number, key in enumerate(plan.key_columns) if base_type(key.type) not in _MANY_TEXTS]
    if not places:
        return found
    every = (identity(plan.key_columns, piece.values) for piece in plan.pieces)
    wanted = {_SEPARATOR.join(values[place] for place in places) for values in every}
    texts = [F.coalesce(_text(plan.key_columns[place]), F.lit(NULL_PARTITION_VALUE)) for place in places]
    return found.where(F.concat_ws(_SEPARATOR, *texts).isin(sorted(wanted)))


def _text(key: Column) -> SparkColumn:
    text = F.col(quote_name(key.name)).cast("string")
    return F.rtrim(text) if base_type(key.type) == "char" else text


def _spark_name(table: TableName) -> str:
    """The table's name in Spark, whose session catalog is the metastore's default one."""
    parts = (table.database, table.table) if table.catalog == DEFAULT_CATALOG else astuple(table)
    return quote_name(*parts)
