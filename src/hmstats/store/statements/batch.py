"""Writes without results: PostgreSQL gets many of them in one round trip.

Rows are given by column, and ids as sets, so that a statement takes as long to build for a thousand as for one. Texts
of statements are cached, since SQLAlchemy takes longer to build one than the database to run it on a few rows. On
SQLite, which has no round trips, each statement is run at once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

from sqlalchemy import (
    Column,
    ColumnElement,
    String,
    Table,
    Text,
    any_,
    bindparam,
    cast,
    delete,
    insert,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from hmstats.store.beside_hive.adapted_statements import dialect
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.connections import bound_values
from hmstats.store.statements.upserts import is_single, source
from hmstats.store.statements.value_sets import array_text, one_of, plain_type
from hmstats.store.unit.unit import Unit

_ROWS_AT_ONCE = 10_000
"""Most rows whose texts are in memory at once."""


class Batch:
    """Inserts and deletes of a unit, run in their order. Do not read from their tables before `send`."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._here = unit.connection.dialect.name == "sqlite"
        self._texts: list[str] = []
        self._values: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.send()

    def insert(self, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert rows, given as the values of all rows by column name; other columns get their defaults.

        Raises MetaError if a text is invalid or too long for its column.
        """
        rows = len(next(iter(columns.values())))
        if not rows:
            return
        columns = {name: columns[name] for name in self.unit.shape.present(table, columns)}
        for name, values in columns.items():
            if isinstance(table.c[name].type, String):
                bound_values.check_column(table.c[name], list(dict.fromkeys(values)))
        if self._here:
            each = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
            self.unit.connection.execute(insert(table), each)
            return
        for start in range(0, rows, _ROWS_AT_ONCE):
            self._insert(table, {name: values[start : start + _ROWS_AT_ONCE] for name, values in columns.items()})

    def delete(self, column: Column[Any], values: Sequence[int], *, unless: ColumnElement[bool] | None = None) -> None:
        """Delete the rows whose column has one of the values, except those for which `unless` is true.

        `unless` must have no parameters.
        """
        if self._here:
            here = one_of(self.unit.connection, column, values)
            self.unit.connection.execute(delete(column.table).where(*_where(here, unless)))
        elif values and not self.unit.shape.lacks(column.table):
            self._add(_delete_text(self.unit.shape, column, unless), [array_text(values)])

    def delete_equal(self, table: Table, values: Mapping[str, Any]) -> None:
        """Delete the rows with these values, given by column name."""
        if self._here:
            here = (table.c[name] == value for name, value in values.items())
            self.unit.connection.execute(delete(table).where(*here))
        elif not self.unit.shape.lacks(table):
            self._add(_delete_equal_text(self.unit.shape, table, tuple(values)), [*values.values()])

    def send(self) -> None:
        """Run the queued statements."""
        if self._texts:
            self.unit.connection.exec_driver_sql(";\n".join(self._texts), tuple(self._values))
            self._texts.clear()
            self._values.clear()

    def _insert(self, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
        single = {name: is_single(values) for name, values in columns.items()}
        sent = [values[0] if single[name] else array_text(values) for name, values in columns.items()]
        self._add(_insert_text(self.unit.shape, table, tuple(single.items())), sent)
        if len(next(iter(columns.values()))) == _ROWS_AT_ONCE:
            self.send()

    def _add(self, text: str, values: Sequence[Any]) -> None:
        self._texts.append(text)
        self._values.extend(values)


def _where(here: ColumnElement[bool], unless: ColumnElement[bool] | None) -> list[ColumnElement[bool]]:
    return [here] if unless is None else [here, ~unless]


@lru_cache(maxsize=500)
def _insert_text(shape: Shape, table: Table, columns: tuple[tuple[str, bool], ...]) -> str:
    """PostgreSQL's INSERT; a column's parameter is a single value (True), or all values as an array's text."""
    sources = select(*(source(table.c[name], single=single) for name, single in columns))
    names = [name for name, _ in columns]
    return _text(shape, insert(table).from_select(names, sources, include_defaults=False))


@lru_cache(maxsize=500)
def _delete_text(shape: Shape, column: Column[Any], unless: ColumnElement[bool] | None) -> str:
    """PostgreSQL's DELETE; its parameter is the values as an array's text."""
    listed = cast(bindparam("values", type_=Text()), ARRAY(plain_type(column)))
    return _text(shape, delete(column.table).where(*_where(column == any_(listed), unless)))


@lru_cache(maxsize=100)
def _delete_equal_text(shape: Shape, table: Table, names: tuple[str, ...]) -> str:
    return _text(shape, delete(table).where(*(table.c[name] == bindparam(name) for name in names)))


def _text(shape: Shape, statement: Any) -> str:
    return str(statement.compile(dialect=dialect(shape, "format")))
