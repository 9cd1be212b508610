"""Rules for every table that is created or altered."""

import re
from collections.abc import Sequence

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.objects import (
    EXTERNAL_PURGE,
    EXTERNAL_TABLE,
    MANAGED_TABLE,
    MATERIALIZED_VIEW,
    Column,
    Table,
)
from hmstats.model.statistics.column_types import base_type, kind_of
from hmstats.service.transactions.acid import check_transactional

OWNING_TYPES = (MANAGED_TABLE, MATERIALIZED_VIEW)
"""Types of tables whose directories are created, moved and removed with them."""

DIRECTORIES = (".", "..")
"""Reserved names of directories, refused as names of objects."""

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
"""Types of columns without statistics. Nested types are not checked inside, as in Hive."""


def check_table(table: Table) -> None:
    """Raise InvalidObject for a malformed name or column, MetaError for a missing storage or an ACID table."""
    if not _VALID_NAME.fullmatch(table.name.table) or table.name.table in DIRECTORIES:
        raise InvalidObject(f"{table.name.table} is not a valid object name")
    if table.storage is None:
        raise MetaError(f"table {table.name} must have a storage descriptor, found none")
    _check_columns(table, (*table.columns, *table.partition_keys))
    check_transactional(table)


def check_buckets(table: Table) -> None:
    """Raise InvalidObject if the table is bucketed by a column that it does not have."""
    names = {column.name.lower() for column in table.columns}
    buckets = table.storage.bucket_columns if table.storage else ()
    if not names.issuperset(column.lower() for column in buckets):
        raise InvalidObject(f"Bucket columns - {list(buckets)} doesn't match with any table columns")


def check_skew(table: Table) -> None:
    """Raise InvalidObject if the table is skewed by a column that it does not have; Hive looks at new tables alone."""
    names = {column.name.lower() for column in table.columns}
    skewed = table.storage.skewed.columns if table.storage and table.storage.skewed else ()
    unknown = [column for column in skewed if column.lower() not in names]
    if unknown:
        raise InvalidObject(f"Invalid skew column [{', '.join(unknown)}] in table {table.name}")


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
    """The table's type; the parameter EXTERNAL alone tells managed from external tables, as in Hive."""
    external = table.parameters.get("EXTERNAL", "").lower() == "true"
    if table.table_type in (None, MANAGED_TABLE, EXTERNAL_TABLE):
        return EXTERNAL_TABLE if external else MANAGED_TABLE
    return table.table_type


def owns_files(table: Table) -> bool:
    """Whether the metastore creates, moves and removes the table's directory."""
    return table.table_type in OWNING_TYPES


def drops_files(table: Table) -> bool:
    """Whether a drop removes the table's files; an external table's only if its parameters say so."""
    return owns_files(table) or table.parameters.get(EXTERNAL_PURGE, "").lower() == "true"


def is_purged(table: Table) -> bool:
    """Whether the table's parameters say that dropped files bypass the trash."""
    return table.parameters.get("auto.purge", "").lower() == "true"
