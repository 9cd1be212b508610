"""Catalog objects: catalogs, databases, tables and partitions, with their storage.

The fields are the metastore's own, under plain names; mappings and sequences are empty rather than None, and an unset
text is None. Times are epoch seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LAST_DDL = "transient_lastDdlTime"
"""The parameter with the time of creation or last change, in epoch seconds."""

EXTERNAL_PURGE = "external.table.purge"
"""The parameter of an external table that says that its files go with it."""
PARTITION_PRIVILEGES = "PARTITION_LEVEL_PRIVILEGE"
"""The parameter that is true if a table's partitions have privileges of their own."""

Parameters = Mapping[str, str]

DEFAULT_CATALOG = "hive"
DEFAULT_DATABASE = "default"
MANAGED_TABLE = "MANAGED_TABLE"
EXTERNAL_TABLE = "EXTERNAL_TABLE"
VIRTUAL_VIEW = "VIRTUAL_VIEW"
MATERIALIZED_VIEW = "MATERIALIZED_VIEW"


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog, whose name is lower case. `parameters` are None where a client says nothing of them."""

    name: str
    location: str
    description: str | None = None
    created_seconds: int | None = None
    parameters: Parameters | None = None


@dataclass(frozen=True, slots=True)
class DatabaseName:
    """A database in its catalog, both lower case."""

    catalog: str
    database: str

    @property
    def typed(self) -> str:
        """The name as people type it: the catalog stands before it unless it is the default one."""
        return self.database if self.catalog == DEFAULT_CATALOG else str(self)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table in its database and catalog, all lower case."""

    catalog: str
    database: str
    table: str

    @property
    def parent(self) -> DatabaseName:
        """The database that the table is in."""
        return DatabaseName(self.catalog, self.database)

    @property
    def short(self) -> str:
        """The name without the catalog: `database.table`."""
        return f"{self.database}.{self.table}"

    @property
    def typed(self) -> str:
        """The name as people type it: the catalog stands before it unless it is the default one."""
        return self.short if self.catalog == DEFAULT_CATALOG else str(self)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.database}.{self.table}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column or a partition key; `type` is the Hive type string."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A sort column; `order` is 1 for ascending, 0 for descending."""

    column: str
    order: int


@dataclass(frozen=True, slots=True)
class SerDe:
    """How rows are read and written."""

    name: str | None = None
    library: str | None = None
    parameters: Parameters = field(default_factory=dict)
    description: str | None = None
    serializer_class: str | None = None
    deserializer_class: str | None = None
    serde_type: int | None = None


@dataclass(frozen=True, slots=True)
class SkewedInfo:
    """Skewed columns, their skewed values, and the directory of each value list."""

    columns: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    locations: Mapping[tuple[str, ...], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage descriptor: columns, place and format of a table's or a partition's data."""

    columns: tuple[Column, ...] = ()
    location: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    compressed: bool = False
    buckets: int = 0
    serde: SerDe = field(default_factory=SerDe)
    bucket_columns: tuple[str, ...] = ()
    sort_columns: tuple[SortColumn, ...] = ()
    parameters: Parameters = field(default_factory=dict)
    skewed: SkewedInfo | None = None
    stored_as_subdirectories: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database. `owner_type` is USER, GROUP or ROLE.

    If `remote`, its tables are in another system, in the database `remote_name` behind the data connector.
    """

    name: DatabaseName
    description: str | None = None
    location: str
    managed_location: str | None = None
    parameters: Parameters = field(default_factory=dict)
    owner: str | None = None
    owner_type: str | None = None
    created_seconds: int | None = None
    remote: bool = False
    connector: str | None = None
    remote_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table or a view. `id` is the store's key, None until stored; a view has a storage without location,

    or None if it was written without one.
    """

    name: TableName
    id: int | None = None
    owner: str | None = None
    owner_type: str | None = None
    created_seconds: int = 0
    last_access_seconds: int = 0
    retention: int = 0
    storage: Storage | None = None
    partition_keys: tuple[Column, ...] = ()
    parameters: Parameters = field(default_factory=dict)
    view_original_text: str | None = None
    view_expanded_text: str | None = None
    table_type: str | None = None
    rewrite_enabled: bool = False
    write_id: int = 0
    creation: Creation | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The data columns, without the partition keys."""
        return self.storage.columns if self.storage else ()


def says_own_privileges(text: str | None) -> bool:
    """Whether a table's parameter PARTITION_PRIVILEGES (None: unset) says that its partitions have privileges."""
    return (text or "").upper() == "TRUE"


@dataclass(frozen=True, slots=True)
class KeyedTable:
    """The part of a stored table that is needed to find and list its partitions."""

    name: TableName
    id: int
    version: int | None
    """The version that was read with it; None if it has none."""
    partition_keys: tuple[Column, ...]
    own_privileges: bool
    """Whether its partitions have privileges of their own, which calls that list them then return."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A source table of a materialized view, and how many of its rows have changed since.

    `table` is the table as it was read, None if only the name is known.
    """

    name: TableName
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """The creation metadata of a materialized view: its sources, time (epoch milliseconds), and snapshot as text."""

    sources: tuple[SourceTable, ...] = ()
    transactions: str | None = None
    materialized_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TableSummary:
    """An entry in a list of tables."""

    name: TableName
    table_type: str
    comment: str | None = None
    owner: str | None = None
    owner_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition: one value per partition key of its table. `id` is the store's key, None until stored."""

    values: tuple[str, ...]
    id: int | None = None
    created_seconds: int = 0
    last_access_seconds: int = 0
    storage: Storage | None = None
    parameters: Parameters = field(default_factory=dict)
    write_id: int = 0


def is_view(table: Table) -> bool:
    """Whether a table has no files of its own."""
    return table.table_type == VIRTUAL_VIEW
