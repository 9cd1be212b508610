"""Inserts and deletes that a unit queues: PostgreSQL gets many of them in one round trip.

Rows are given by column, and ids as sets, so that a statement takes as long to build for a thousand as for one. Texts
of statements are cached and prepared, since both sides take longer to build and plan one than to run it on a few rows.
On SQLite, which has no round trips, each statement is run at once.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    String,
    Table,
    Text,
    any_,
    bindparam,
    cast,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.connections import bound_values
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.upserts import is_single, source
from hmstats.store.statements.value_sets import array_text, one_of, plain_type
from hmstats.store.unit.unit import Unit

ROWS_AT_ONCE = 10_000
"""Most rows whose texts, or dicts, are in memory at once."""


def insert(unit: Unit, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert rows, given as the values of all rows by column name; other columns get their defaults.

    Raises MetaError if a text is invalid or too long for its column.
    """
    rows = len(next(iter(columns.values())))
    if not rows:
        return
    columns = {name: columns[name] for name in unit.shape.present(table, columns)}
    for name, values in columns.items():
        if isinstance(table.c[name].type, String):
            bound_values.check_column(table.c[name], list(dict.fromkeys(values)))
    write = _insert_rows if _is_sqlite(unit) else _insert
    for start in range(0, rows, ROWS_AT_ONCE):
        write(unit, table, {name: values[start : start + ROWS_AT_ONCE] for name, values in columns.items()})


def delete(
    unit: Unit, column: Column[Any], values: Sequence[int], *, unless: ColumnElement[bool] | None = None
) -> None:
    """Delete the rows whose column has one of the values, except those for which `unless` is true.

    `unless` must have no parameters.
    """
    if _is_sqlite(unit):
        here = one_of(unit.connection, column, values)
        unit.connection.execute(column.table.delete().where(*_where(here, unless)))
    elif values and not unit.shape.lacks(column.table):
        _deletion(unit.shape, column, unless).queue(unit, {"values": array_text(values)})


def delete_equal(unit: Unit, table: Table, values: Mapping[str, Any]) -> None:
    """Delete the rows with these values, given by column name."""
    if _is_sqlite(unit):
        here = (table.c[name] == value for name, value in values.items())
        unit.connection.execute(table.delete().where(*here))
    elif not unit.shape.lacks(table):
        _equal_deletion(unit.shape, table, tuple(values)).queue(unit, values)


def _is_sqlite(unit: Unit) -> bool:
    return unit.connection.dialect.name == "sqlite"


def _insert_rows(unit: Unit, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    each = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    unit.connection.execute(table.insert(), each)


def _insert(unit: Unit, table: Table, columns: Mapping[str, Sequence[Any]]) -> None:
    single = {name: is_single(values) for name, values in columns.items()}
    sent = {name: values[0] if single[name] else array_text(values) for name, values in columns.items()}
    _insertion(unit.shape, table, tuple(single.items())).queue(unit, sent)
    if len(next(iter(columns.values()))) == ROWS_AT_ONCE:
        unit.send()


def _where(here: ColumnElement[bool], unless: ColumnElement[bool] | None) -> list[ColumnElement[bool]]:
    return [here] if unless is None else [here, ~unless]


@lru_cache(maxsize=500)
def _insertion(shape: Shape, table: Table, columns: tuple[tuple[str, bool], ...]) -> CompiledStatement:
    """PostgreSQL's INSERT; a column's parameter is a single value (True), or all values as an array's text."""
    sources = select(*(source(table.c[name], single=single) for name, single in columns))
    names = [name for name, _ in columns]
    return CompiledStatement.of(shape, table.insert().from_select(names, sources, include_defaults=False))


@lru_cache(maxsize=500)
def _deletion(shape: Shape, column: Column[Any], unless: ColumnElement[bool] | None) -> CompiledStatement:
    """PostgreSQL's DELETE; its parameter is the values as an array's text."""
    listed = cast(bindparam("values", type_=Text()), ARRAY(plain_type(column)))
    return CompiledStatement.of(shape, column.table.delete().where(*_where(column == any_(listed), unless)))


@lru_cache(maxsize=100)
def _equal_deletion(shape: Shape, table: Table, names: tuple[str, ...]) -> CompiledStatement:
    return CompiledStatement.of(shape, table.delete().where(*(table.c[name] == bindparam(name) for name in names)))
