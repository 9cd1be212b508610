"""What a table must be, however it is written."""

import re
from collections.abc import Sequence

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog import EXTERNAL_TABLE, MANAGED_TABLE, MATERIALIZED_VIEW, VIRTUAL_VIEW, Column, Table
from hmstats.model.column_types import base_type, kind_of
from hmstats.service.transactions.acid import check_transactional

LAST_DDL = "transient_lastDdlTime"
"""The parameter that says when something was made or changed, in epoch seconds."""

OWNING_TYPES = (MANAGED_TABLE, MATERIALIZED_VIEW)
"""Types of tables whose directories are made, moved and removed with them."""

_VALID_NAME = re.compile(r"[\w\-.$ /]+")
_OTHER_TYPES = frozenset(
    {
        "array",
        "map",
        "struct",
        "uniontype",
        "void",
        "datetime",
        "interval_year_month",
        "interval_day_time",
        "variant",
        "unknown",
        "<derived from deserializer>",
    }
)
"""Types of columns that have no statistics. What stands inside of the nested ones is not looked at, as in Hive."""


def check_table(table: Table) -> None:
    """Raises InvalidObject for a malformed name or column, MetaError without a storage or for an ACID table."""
    if not _VALID_NAME.fullmatch(table.name.table):
        raise InvalidObject(f"{table.name.table} is not a valid object name")
    if table.storage is None:
        raise MetaError(f"table {table.name} must have a storage descriptor, found none")
    _check_columns(table, (*table.columns, *table.partition_keys))
    check_transactional(table)


def check_buckets(table: Table) -> None:
    """Raises InvalidObject when rows are in buckets by a column that the table does not have."""
    names = {column.name.lower() for column in table.columns}
    buckets = table.storage.bucket_columns if table.storage else ()
    if not names.issuperset(column.lower() for column in buckets):
        raise InvalidObject(f"Bucket columns - {list(buckets)} doesn't match with any table columns")


def _check_columns(table: Table, columns: Sequence[Column]) -> None:
    seen: set[str] = set()
    for column in columns:
        if not column.name or not column.type:
            raise InvalidObject(f"Invalid column name or type in table {table.name}: {column.name} {column.type}")
        if kind_of(column.type) is None and not _is_other_type(column.type):
            raise InvalidObject(f"Invalid column type: {column.type} of column {column.name} in table {table.name}")
        if column.name.lower() in seen:
            raise InvalidObject(f"Duplicate column name: {column.name.lower()} in table {table.name}")
        seen.add(column.name.lower())


def _is_other_type(text: str) -> bool:
    return base_type(text) in _OTHER_TYPES or text.strip().lower() in _OTHER_TYPES


def table_type(table: Table) -> str:
    """The type that a table has: of managed and external ones the parameter EXTERNAL decides it alone, as in Hive."""
    external = table.parameters.get("EXTERNAL", "").lower() == "true"
    if table.table_type in (None, MANAGED_TABLE, EXTERNAL_TABLE):
        return EXTERNAL_TABLE if external else MANAGED_TABLE
    return table.table_type


def owns_files(table: Table) -> bool:
    """Whether a table's directory is the catalog's to make, move and remove."""
    return table.table_type in OWNING_TYPES


def drops_files(table: Table) -> bool:
    """Whether a table's files go with it: those of an external one when it says so itself."""
    return owns_files(table) or table.parameters.get("external.table.purge", "").lower() == "true"


def is_view(table: Table) -> bool:
    """Whether a table has no files of its own."""
    return table.table_type == VIRTUAL_VIEW
