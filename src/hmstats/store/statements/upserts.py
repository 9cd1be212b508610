"""Upserts of rows, with a statement for every two thousand of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Column, ColumnElement, LargeBinary, String, Table, Text, bindparam, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from hmstats.store.beside_hive.healing_upserts import healing_upsert
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.connections import bound_values
from hmstats.store.statements.compiled_statements import CompiledStatement
from hmstats.store.statements.packed_bytes import pack, unpacked
from hmstats.store.statements.value_sets import array_text, plain_type
from hmstats.store.unit.unit import Unit
from hmstats.store.unit.version_guard import is_as_expected

ROWS_AT_ONCE = 2_000
"""Most rows of a statement; a row may have sketches of some kB, and the text is twice as long, in memory."""

Changes = Callable[[Any, Any], Mapping[str, ColumnElement[Any]]]
"""Builds the new values of a stored row by column name, from the columns of the stored and of the new row."""


def upsert(unit: Unit, table: Table, key: Sequence[str], rows: Sequence[Mapping[str, Any]], changes: Changes) -> None:
    """Insert rows, all with the same columns; a row whose `key` exists updates the stored row instead.

    Callers pass the rows in a fixed order, so that two writers cannot deadlock, and each key at most
    once.
    """
    if rows:
        upsert_columns(unit, table, key, {name: [row[name] for row in rows] for name in rows[0]}, changes)


def upsert_columns(
    unit: Unit, table: Table, key: Sequence[str], columns: Mapping[str, Sequence[Any]], changes: Changes
) -> None:
    """Upsert rows given by column: the values of all rows (at least one) by column name. Otherwise as `upsert`."""
    single = {name: is_single(values) for name, values in columns.items()}
    _check(table, columns, single)
    if unit.connection.dialect.name == "sqlite":
        # The type String passes any value through; a numeric type would make the text NaN a number, stored as NULL.
        each = sqlite.insert(table).values({name: bindparam(name, type_=String()) for name in columns})
        set_ = changes(table.c, each.excluded)
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        unit.connection.execute(each.on_conflict_do_update(index_elements=key, set_=set_), rows)
        return
    for start in range(0, len(columns[key[0]]), ROWS_AT_ONCE):
        some = {name: values[start : start + ROWS_AT_ONCE] for name, values in columns.items()}
        if len(some[key[0]]) < len(columns[key[0]]):
            single = {name: is_single(values) for name, values in some.items()}
        text = _statement(unit.shape, table, tuple(key), tuple(single.items()), changes, expecting=bool(unit.expects))
        _send_later(unit, table, text, some, single)


def update_columns(
    unit: Unit, table: Table, key: Sequence[str], columns: Mapping[str, Sequence[Any]], changes: Changes
) -> None:
    """Update a few existing rows, in half the time of an upsert, on PostgreSQL in a unit that expects a table.

    Some columns of the key have one value in all rows, and few stored rows have it: the planner finds them.
    """
    single = {name: is_single(values) for name, values in columns.items()}
    _check(table, columns, single)
    text = _update(unit.shape, table, tuple(key), tuple(single.items()), changes)
    _send_later(unit, table, text, columns, single)


def _send_later(
    unit: Unit,
    table: Table,
    statement: CompiledStatement,
    columns: Mapping[str, Sequence[Any]],
    single: Mapping[str, bool],
) -> None:
    sent: dict[str, Any] = {}
    for name, values in columns.items():
        if single[name]:
            sent[name] = values[0]
        elif isinstance(table.c[name].type, LargeBinary):
            sent |= pack(name, values)
        else:
            sent[name] = array_text(values)
    statement.queue(unit, {**sent, **unit.expects.values} if unit.expects else sent)


def _check(table: Table, columns: Mapping[str, Sequence[Any]], single: Mapping[str, bool]) -> None:
    """Raise MetaError if a text is invalid or too long for its column."""
    for name in _texts(table).intersection(columns):
        values = columns[name]
        bound_values.check_column(table.c[name], values[:1] if single[name] else list(dict.fromkeys(values)))


@cache
def _texts(table: Table) -> frozenset[str]:
    """The names of the table's text columns."""
    return frozenset(column.name for column in table.c if isinstance(column.type, String))


def is_single(values: Sequence[Any]) -> bool:
    """Whether all rows have one value, which is then sent once."""
    return not isinstance(values[0], float) and values.count(values[0]) == len(values)  # 0.0 equals -0.0


@lru_cache(maxsize=500)
def _statement(
    shape: Shape,
    table: Table,
    key: tuple[str, ...],
    columns: tuple[tuple[str, bool], ...],
    changes: Changes,
    *,
    expecting: bool,
) -> CompiledStatement:
    """PostgreSQL's upsert; a column's parameter is a single value (True), or all values as an array's text.

    It inserts the rows of a query: with VALUES, the driver would send many statements.
    """
    present = shape.present(table, (name for name, _ in columns))
    rows = select(*(_sent_values(table.c[name], single=single).label(name) for name, single in columns))
    if expecting:
        rows = rows.where(is_as_expected())
    if shape.beside_hive and {*key} != {*table.primary_key.columns.keys()}:
        whole = healing_upsert(table, shape.present(table, key), rows, present, changes)
    else:
        many = postgresql.insert(table).from_select(present, rows, include_defaults=False)
        whole = many.on_conflict_do_update(index_elements=key, set_=changes(table.c, many.excluded))
    return CompiledStatement.of(shape, whole)


@lru_cache(maxsize=500)
def _update(
    shape: Shape, table: Table, key: tuple[str, ...], columns: tuple[tuple[str, bool], ...], changes: Changes
) -> CompiledStatement:
    """PostgreSQL's UPDATE of existing rows; its parameters are as in `_statement`."""
    sent = {name: _sent_values(table.c[name], single=single) for name, single in columns}
    new = select(*(value.label(name) for name, value in sent.items())).subquery("new").c
    # A single value is compared as a parameter, not as a row's column, so that it narrows the rows looked at.
    here = [table.c[name] == (sent[name] if is_one else new[name]) for name, is_one in columns if name in key]
    return CompiledStatement.of(shape, update(table).values(changes(table.c, new)).where(*here, is_as_expected()))


def _sent_values(column: Column[Any], *, single: bool) -> ColumnElement[Any]:
    """The SQL for a column's values as `_send_later` encodes them."""
    is_packed = isinstance(column.type, LargeBinary) and not single
    return unpacked(column.name) if is_packed else source(column, single=single)


def source(column: Column[Any], *, single: bool) -> ColumnElement[Any]:
    """PostgreSQL's SQL for a column's values, from the parameter of its name: a value or an array's text."""
    sent = bindparam(column.name, type_=Text())
    return cast(sent, plain_type(column)) if single else func.unnest(cast(sent, ARRAY(plain_type(column))))
