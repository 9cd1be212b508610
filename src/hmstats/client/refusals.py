"""Finds the tables that `hmstats analyze` refuses, so that no plan and no advice names them."""

from collections.abc import Iterable

from hmstats.client.metastore import Metastore
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.catalog.refused_tables import refusal


def refusals(service: Metastore, names: Iterable[TableName]) -> dict[TableName, str]:
    """The reasons why tables are refused, as ends of sentences, by name; read in batches, for each database.

    Those that are not refused, and those that do not exist, are absent.
    """
    by_database: dict[DatabaseName, list[str]] = {}
    for name in names:
        by_database.setdefault(name.parent, []).append(name.table)
    return {
        table.name: reason
        for of, tables in by_database.items()
        for table in service.tables(of.database, tables, catalog=of.catalog)
        if (reason := refusal(table)) is not None
    }
