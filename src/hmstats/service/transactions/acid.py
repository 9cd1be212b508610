"""Rules for transactional tables: insert-only ones are accepted, full ACID ones refused.

An insert-only table has its files in folders named by write ids: locks, transactions and write ids are all that it
needs of a metastore. A table whose rows change in place also needs compaction, which this metastore does not do.
"""

from collections.abc import Collection, Mapping

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import EXTERNAL_TABLE, Table

INSERT_ONLY_TABLES = 2
"""Hive's ClientCapability of a client that can read insert-only tables."""


def check_transactional(table: Table) -> None:
    """Raise MetaError for a full ACID table, an external transactional one, and an invalid `transactional` value."""
    parameters = _lower_keys(table.parameters)
    text = parameters.get("transactional", "false").lower()
    if text == "false":
        return
    if text != "true":
        raise MetaError(
            f"'transactional' property of TBLPROPERTIES may only have value 'true': {table.name}, found {text}"
        )
    if table.table_type == EXTERNAL_TABLE or parameters.get("external", "").lower() == "true":
        raise MetaError(f"{table.name} cannot be declared transactional because it's an external table")
    if not is_insert_only(table):
        raise MetaError(
            f"table {table.name} cannot be transactional: ACID tables need compaction, which this metastore does not"
            " do; set transactional=false, or transactional_properties=insert_only"
        )


def check_readable(table: Table, capabilities: Collection[int]) -> None:
    """Raise MetaError if the table is insert-only and the client does not declare that it can read one."""
    if is_insert_only(table) and INSERT_ONLY_TABLES not in capabilities:
        raise MetaError(
            f"Your client does not appear to support insert-only tables, and {table.name} is one: it would read rows"
            " of transactions that are open or aborted"
        )


def is_insert_only(table: Table) -> bool:
    """Whether a table is transactional and insert-only."""
    parameters = _lower_keys(table.parameters)
    transactional = parameters.get("transactional", "").lower() == "true"
    return transactional and parameters.get("transactional_properties", "").lower() == "insert_only"


def _lower_keys(parameters: Mapping[str, str]) -> dict[str, str]:
    return {key.lower(): value for key, value in parameters.items()}
