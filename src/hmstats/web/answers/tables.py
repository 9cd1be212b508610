"""Databases, lists of tables, and one table with its columns."""

from dataclasses import dataclass
from datetime import datetime

from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.health import TableHealth
from hmstats.web.answers.locks import Lock
from hmstats.web.answers.numbers import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Databases:
    """The databases of the default catalog, in the order of their names."""

    metastore: str
    databases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLine:
    """A table in a list. `accurate_columns` counts the columns that COLUMN_STATS_ACCURATE names, of `columns`.

    `type` is the metastore's, such as MANAGED_TABLE or VIRTUAL_VIEW.
    """

    table: str
    database: str
    name: str
    type: str | None = None
    partition_keys: tuple[str, ...] = ()
    rows: Number | None = None
    size_bytes: Number | None = None
    files: Number | None = None
    columns: int
    accurate_columns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableList:
    """A page of tables in the order of database and name; `next` is the cursor of the next page, if there is one."""

    tables: tuple[TableLine, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A partition key and its Hive type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The partitions that an answer is about, when it is not about the whole table."""

    partitions: int
    first: str
    last: str
    where: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """A table, or a selection of its partitions, with a page of its columns; `next` is the cursor of the next ones.

    `written_at` is when the oldest of these statistics were written. `hmstats` is false when the metastore is another
    one, which keeps no provenance and answers no questions about sketches. `lock` covers all of the table's statistics,
    `locked_parts` counts locks of columns and partitions. `as_of` is the time that all numbers are of, absent for now.
    """

    table: str
    database: str
    name: str
    as_of: datetime | None = None
    type: str | None = None
    owner: str | None = None
    location: str | None = None
    hmstats: bool
    rows: Number | None = None
    size_bytes: Number | None = None
    files: Number | None = None
    partitions: Number | None = None
    partition_keys: tuple[Key, ...] = ()
    selection: Chosen | None = None
    health: TableHealth | None = None
    lock: Lock | None = None
    locked_parts: int = 0
    written_at: datetime | None = None
    column_count: int
    columns: tuple[ColumnFacts, ...] = ()
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPage:
    """A column of a table, or of a selection of its partitions.

    `statement` is the SQL that computes the numbers anew, `commands` are those of hmstats that print the same. `as_of`
    is the time that all numbers are of, absent for now.
    """

    table: str
    hmstats: bool
    as_of: datetime | None = None
    rows: Number | None = None
    partitions: int | None = None
    selection: Chosen | None = None
    column: ColumnFacts
    statement: str
    commands: tuple[str, ...] = ()
