"""Finds tables that Hive reads differently from Spark, because of settings that Spark ignores.

Hive answers queries from statistics that are marked as accurate, so those of such tables must not be marked.
"""

from hmstats.model.catalog.objects import Table
from hmstats.model.spark.spark_schema import PROVIDER

_LINES_LEFT_OUT = ("skip.header.line.count", "skip.footer.line.count")
_BY_PLACE = "parquet.column.index.access"
"""Hive's setting to find columns of Parquet files by their positions."""


def reads_alike(table: Table) -> bool:
    """Whether Hive reads the same rows and values of a table as Spark; Spark's own tables are not read by Hive."""
    if PROVIDER in table.parameters:
        return True
    given = {**table.parameters, **(table.storage.serde.parameters if table.storage else {})}
    leaves_out = any(given.get(name, "0").strip() not in ("", "0") for name in _LINES_LEFT_OUT)
    return not leaves_out and given.get(_BY_PLACE, "").strip().lower() != "true"
