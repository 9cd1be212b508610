"""Rows that are written whether or not they are there already: a statement for every two thousand of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, String, Table, Text, bindparam, cast, func, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store import bound_values
from hmstats.store.sets import array_of
from hmstats.store.unit import Unit

_BATCH_ROWS = 2_000
"""A row may hold sketches of some kB, and a statement's text, twice as long, is made in memory."""

Changes = Callable[[Any, Any], Mapping[str, ColumnElement[Any]]]
"""From the columns of the stored and of the new row to what the stored row's columns become."""


def upsert(unit: Unit, table: Table, key: Sequence[str], rows: Sequence[Mapping[str, Any]], changes: Changes) -> None:
    """Insert rows, all of which have the same columns; one whose `key` is there changes the stored row instead.

    Callers give the rows in one fixed order, so that two writers never wait for each other in a circle, and no key
    twice.
    """
    if rows:
        upsert_columns(unit, table, key, {name: [row[name] for row in rows] for name in rows[0]}, changes)


def upsert_columns(
    unit: Unit, table: Table, key: Sequence[str], columns: Mapping[str, Sequence[Any]], changes: Changes
) -> None:
    """The same, the rows given by column: name to the values of all rows, of which there is at least one."""
    for name, values in columns.items():
        bound_values.check_column(table.c[name], values)
    if unit.connection.dialect.name == "sqlite":
        # Parameters of a type that hands over any value: a number's would make a number, then NULL, of the text NaN.
        each = sqlite.insert(table).values({name: bindparam(name, type_=String()) for name in columns})
        set_ = changes(table.c, each.excluded)
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        unit.connection.execute(each.on_conflict_do_update(index_elements=key, set_=set_), rows)
        return
    for start in range(0, len(columns[key[0]]), _BATCH_ROWS):
        some = {name: values[start : start + _BATCH_ROWS] for name, values in columns.items()}
        many = postgresql.insert(table).from_select(list(some), _source(table, some), include_defaults=False)
        set_ = changes(table.c, many.excluded)
        unit.connection.execute(many.on_conflict_do_update(index_elements=key, set_=set_))


def _source(table: Table, columns: Mapping[str, Sequence[Any]]) -> Select[Any]:
    """The rows as a query, in which a column that has one value throughout is that value, any other an array.

    Of an insert with rows of values, the driver would send as many statements as rows.
    """
    return select(*(_values(table.c[name], values) for name, values in columns.items()))


def _values(column: Column[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    first = values[0]
    if isinstance(first, float) or values.count(first) < len(values):  # 0.0 equals -0.0
        return func.unnest(array_of(column, values))
    return cast(bindparam(None, first, Text()), Text() if isinstance(column.type, String) else column.type)
