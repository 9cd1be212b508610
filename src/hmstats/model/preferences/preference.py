"""A preference as it is stated: a name and a text, of everything, a database, a table, a partition or a column."""

from dataclasses import dataclass

from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.preferences.values import Level

SKIP = "skip.stats.autoupdate"
"""Hive's parameter of databases, tables and partitions that its automatic analyses leave out."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a preference. No database: everything. A partition and a column are never both named."""

    database: DatabaseName | None = None
    table: str | None = None
    partition: str | None = None
    column: str | None = None

    @property
    def level(self) -> Level:
        """The kind of object that it is."""
        if self.database is None:
            return Level.EVERYTHING
        if self.table is None:
            return Level.DATABASE
        if self.partition is not None:
            return Level.PARTITION
        return Level.TABLE if self.column is None else Level.COLUMN

    @property
    def table_name(self) -> TableName | None:
        """The table that it is, or is in."""
        if self.database is None or self.table is None:
            return None
        return TableName(self.database.catalog, self.database.database, self.table)

    def __str__(self) -> str:
        if self.database is None:
            return "everything"
        if self.table is None:
            return f"database {self.database.typed}"
        table = f"table {self.database.typed}.{self.table}"
        if self.partition is not None:
            return f"partition {self.partition} of {table}"
        return table if self.column is None else f"column {self.column} of {table}"


EVERYTHING = Subject()


@dataclass(frozen=True, slots=True)
class Preference:
    """A preference as it is listed; `set_at_seconds` is an epoch time.

    `of_hive`: Hive's parameter SKIP of the object says it.
    """

    subject: Subject
    name: str
    text: str
    set_by: str | None = None
    set_at_seconds: int = 0
    of_hive: bool = False
