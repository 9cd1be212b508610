"""Recognises tables that Flink alone reads.

Flink's catalog stores the columns and the connector (files elsewhere, Kafka, JDBC, Delta Lake) of such a table in
parameters that begin with `flink.`. To all others it is a table of text files without columns and without rows.
"""

from hmstats.model.catalog.objects import Table

_CONNECTORS = ("flink.connector", "flink.connector.type")
"""The parameters that name the connector; the latter came from Flink before 1.11."""


def flink_connector(table: Table) -> str | None:
    """The connector by which Flink reads the table; None for a table that others read too."""
    return next((table.parameters[name] for name in _CONNECTORS if name in table.parameters), None)
