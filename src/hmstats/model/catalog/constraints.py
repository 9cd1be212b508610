"""Constraints of tables, which are stored for planners; nothing here enforces them.

A constraint of several columns is a list of ColumnConstraint under one name, one for each column.
"""

from dataclasses import dataclass
from enum import IntEnum

from hmstats.model.catalog.objects import TableName


class ConstraintKind(IntEnum):
    """The kinds; the numbers are those of Hive's tables."""

    PRIMARY_KEY = 0
    FOREIGN_KEY = 1
    UNIQUE = 2
    NOT_NULL = 3
    DEFAULT = 4
    CHECK = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """The column that a column of a foreign key refers to. `key` is the name of the other table's primary key.

    The rules for updates and deletes are JDBC's numbers.
    """

    table: TableName
    column: str
    key: str | None = None
    update_rule: int = 0
    delete_rule: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnConstraint:
    """One column's part in a constraint.

    `name` is None until one is generated, `column` None if a check is about the whole row. `position` counts the
    columns of a key from 1. `value` is the text of a default or of a check's expression.
    """

    kind: ConstraintKind
    table: TableName
    name: str | None = None
    column: str | None
    position: int = 1
    value: str | None = None
    reference: Reference | None = None
    enabled: bool = False
    validated: bool = False
    relied_on: bool = False


@dataclass(frozen=True, slots=True)
class ConstraintFilter:
    """A filter for tables whose constraints are requested: one table, those of a database, or all of a catalog."""

    catalog: str
    database: str | None = None
    table: str | None = None
