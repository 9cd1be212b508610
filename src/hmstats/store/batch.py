"""Writes whose results nobody waits for: on PostgreSQL many of them travel in one round trip.

Rows are given by column, and ids as sets, so that a statement takes as long to make for a thousand as for one. Texts of
statements are kept, since SQLAlchemy takes longer to make one than the database to run it on a few rows. On SQLite,
where there is no way to travel, each statement is run at once.
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

from hmstats.store import bound_values
from hmstats.store.sets import array_text, one_of, plain_type
from hmstats.store.shape import Shape
from hmstats.store.stand_ins import dialect
from hmstats.store.unit import Unit
from hmstats.store.upserts import is_single, source

_ROWS_AT_ONCE = 10_000
"""The texts of that many rows are in memory at a time."""


class Batch:
    """Inserts and deletes of a unit, run in their order. Nothing is read from their tables before `send`."""

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
        """Insert rows, given as name to the values of all rows; the others have their columns' defaults.

        Raises MetaError for a value that does not fit.
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
        """Delete the rows whose column is one of the values, but for those of which `unless` is true.

        `unless` has no values of its own.
        """
        if self._here:
            here = one_of(self.unit.connection, column, values)
            self.unit.connection.execute(delete(column.table).where(*_where(here, unless)))
        elif values and not self.unit.shape.lacks(column.table):
            self._add(_delete_text(self.unit.shape, column, unless), [array_text(values)])

    def delete_equal(self, table: Table, values: Mapping[str, Any]) -> None:
        """Delete the rows that have these values in the columns of these names."""
        if self._here:
            here = (table.c[name] == value for name, value in values.items())
            self.unit.connection.execute(delete(table).where(*here))
        elif not self.unit.shape.lacks(table):
            self._add(_delete_equal_text(self.unit.shape, table, tuple(values)), [*values.values()])

    def send(self) -> None:
        """Run what is waiting."""
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
    """PostgreSQL's statement: it takes each column's one value (True), or else all values as an array's text."""
    sources = select(*(source(table.c[name], single=single) for name, single in columns))
    names = [name for name, _ in columns]
    return _text(shape, insert(table).from_select(names, sources, include_defaults=False))


@lru_cache(maxsize=500)
def _delete_text(shape: Shape, column: Column[Any], unless: ColumnElement[bool] | None) -> str:
    """PostgreSQL's statement: it takes an array's text."""
    listed = cast(bindparam("values", type_=Text()), ARRAY(plain_type(column)))
    return _text(shape, delete(column.table).where(*_where(column == any_(listed), unless)))


@lru_cache(maxsize=100)
def _delete_equal_text(shape: Shape, table: Table, names: tuple[str, ...]) -> str:
    return _text(shape, delete(table).where(*(table.c[name] == bindparam(name) for name in names)))


def _text(shape: Shape, statement: Any) -> str:
    return str(statement.compile(dialect=dialect(shape, "format")))
