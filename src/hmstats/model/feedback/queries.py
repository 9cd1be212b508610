"""A query that an engine has run, as a tree of operations: what the engine expected of each, and what came out."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from hmstats.model.catalog.objects import TableName


class Operator(StrEnum):
    """The kind of an operation."""

    SCAN = "scan"
    FILTER = "filter"
    JOIN = "join"
    AGGREGATE = "aggregate"
    OTHER = "other"
    """Anything else with rows of its own: unions, samples, generated rows."""


class Use(StrEnum):
    """The information that a query needs of a column, or of a table: its number of rows."""

    ROWS = "rows"
    EQUALITY = "equality"
    RANGE = "range"
    NULLS = "nulls"
    FUNCTION = "function"
    """A condition that no statistics are about: LIKE, a function, a comparison of two columns."""
    JOIN = "join"
    GROUP = "group"


@dataclass(frozen=True, slots=True, order=True)
class ColumnUse:
    """A column of a table, and what a query wants to know of it."""

    table: TableName
    column: str
    use: Use


@dataclass(frozen=True, slots=True)
class Operation:
    """A step of a query with the steps that it reads from.

    `estimated` are the rows that the engine expected, None if it did not know. `rows` are those that came out, None if
    nobody counted them, or if something above cut them off. `at_least`: the step may have passed over rows that it knew
    not to be needed, so that there may be more than `rows`. `table` is that of a scan.
    """

    operator: Operator
    estimated: float | None
    rows: int | None
    uses: tuple[ColumnUse, ...] = ()
    inputs: tuple["Operation", ...] = ()
    table: TableName | None = None
    at_least: bool = False

    def walk(self) -> Iterator["Operation"]:
        """This operation and all below it."""
        stack = [self]
        while stack:
            each = stack.pop()
            yield each
            stack += each.inputs


@dataclass(frozen=True, slots=True)
class Query:
    """A finished query. `at_ms` is when it began (epoch ms), `seconds` how long it took."""

    engine: str
    at_ms: int
    seconds: float
    root: Operation

    @property
    def has_estimates(self) -> bool:
        """Whether the engine has said of any table how many rows it expected."""
        return any(each.estimated is not None and each.table is not None for each in self.root.walk())

    @property
    def tables(self) -> frozenset[TableName]:
        """The tables that the query read, and those whose columns it used."""
        found = {each.table for each in self.root.walk() if each.table is not None}
        return frozenset(found | {use.table for each in self.root.walk() for use in each.uses})
