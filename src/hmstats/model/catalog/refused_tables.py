"""The reasons why no analysis reads a table, for errors and lists: its folder has no rows, or rows of other tables.

A reason is the end of a sentence that begins with the table.
"""

from hmstats.model.catalog.flink_tables import flink_connector
from hmstats.model.catalog.objects import Table
from hmstats.model.catalog.table_formats import table_format

READ_BY_METADATA = frozenset({"Iceberg", "Delta Lake"})
"""The formats whose metadata is read instead of the folder."""


def refusal(table: Table) -> str | None:
    """The reason why a table is not analysed; None if it is, by its folder or by its own metadata."""
    return None if table_format(table) in READ_BY_METADATA else folder_refusal(table)


def folder_refusal(table: Table) -> str | None:
    """The reason why a table is not analysed by its folder; None if it is."""
    format_name = table_format(table)
    if format_name is not None:
        return format_refusal(format_name)
    if table.parameters.get("transactional", "").lower() == "true":
        return (
            "is transactional: its files hold rows of transactions that were aborted too, which only Hive tells apart"
        )
    if table.parameters.get("presto_view") == "true":
        return "is a view whose text Trino or Presto alone reads: the tables below it have statistics"
    connector = flink_connector(table)
    if connector is not None:
        return (
            f"is read by Flink alone, through its connector {connector}: the metastore has neither its columns nor its"
            " files"
        )
    return None


def format_refusal(format_name: str) -> str:
    """The reason why a table of a format with its own metadata is not analysed by its folder."""
    return (
        f"is of the format {format_name}, which is not supported: its folder holds files too that are not in the table"
    )
