"""Rows that are written whether or not they are there already: a statement for every two thousand of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Column, ColumnElement, LargeBinary, String, Table, Text, bindparam, cast, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from hmstats.store import bound_values
from hmstats.store.expected_table import is_as_expected
from hmstats.store.healing import healing
from hmstats.store.kept_texts import KeptText
from hmstats.store.packed_bytes import packed, unpacked
from hmstats.store.sets import array_text, plain_type
from hmstats.store.shape import Shape
from hmstats.store.unit import Unit

ROWS_AT_ONCE = 2_000
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
    single = {name: is_single(values) for name, values in columns.items()}
    _check(table, columns, single)
    if unit.connection.dialect.name == "sqlite":
        # Parameters of a type that hands over any value: a number's would make a number, then NULL, of the text NaN.
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
    """The same of a few rows that are there, in half the time, by a unit that expects a table, on PostgreSQL.

    Some of the key is alike in all rows, and few stored rows have that: how they are found is left to the planner.
    """
    single = {name: is_single(values) for name, values in columns.items()}
    _check(table, columns, single)
    text = _update(unit.shape, table, tuple(key), tuple(single.items()), changes)
    _send_later(unit, table, text, columns, single)


def _send_later(
    unit: Unit, table: Table, statement: KeptText, columns: Mapping[str, Sequence[Any]], single: Mapping[str, bool]
) -> None:
    sent: dict[str, Any] = {}
    for name, values in columns.items():
        if single[name]:
            sent[name] = values[0]
        elif isinstance(table.c[name].type, LargeBinary):
            sent |= packed(name, values)
        else:
            sent[name] = array_text(values)
    statement.later(unit, {**sent, **unit.expects.values} if unit.expects else sent)


def _check(table: Table, columns: Mapping[str, Sequence[Any]], single: Mapping[str, bool]) -> None:
    """Raises MetaError for a text that the table does not take."""
    for name in _texts(table).intersection(columns):
        values = columns[name]
        bound_values.check_column(table.c[name], values[:1] if single[name] else list(dict.fromkeys(values)))


@cache
def _texts(table: Table) -> frozenset[str]:
    """The names of columns of texts."""
    return frozenset(column.name for column in table.c if isinstance(column.type, String))


def is_single(values: Sequence[Any]) -> bool:
    """Whether all rows have one value: it is sent once then."""
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
) -> KeptText:
    """PostgreSQL's statement. It takes by each column's name its one value (True), or all values as an array's text.

    It inserts the rows of a query: of rows of values, the driver would send as many statements.
    """
    present = shape.present(table, (name for name, _ in columns))
    rows = select(*(_sent(table.c[name], single=single).label(name) for name, single in columns))
    if expecting:
        rows = rows.where(is_as_expected())
    if shape.beside_hive and {*key} != {*table.primary_key.columns.keys()}:
        whole = healing(table, shape.present(table, key), rows, present, changes)
    else:
        many = postgresql.insert(table).from_select(present, rows, include_defaults=False)
        whole = many.on_conflict_do_update(index_elements=key, set_=changes(table.c, many.excluded))
    return KeptText.of(shape, whole)


@lru_cache(maxsize=500)
def _update(
    shape: Shape, table: Table, key: tuple[str, ...], columns: tuple[tuple[str, bool], ...], changes: Changes
) -> KeptText:
    """PostgreSQL's statement; it takes the same parameters."""
    sent = {name: _sent(table.c[name], single=single) for name, single in columns}
    new = select(*(value.label(name) for name, value in sent.items())).subquery("new").c
    # What is alike in all rows is compared with itself, not with a row: so it bounds what is looked at.
    here = [table.c[name] == (sent[name] if is_one else new[name]) for name, is_one in columns if name in key]
    return KeptText.of(shape, update(table).values(changes(table.c, new)).where(*here, is_as_expected()))


def _sent(column: Column[Any], *, single: bool) -> ColumnElement[Any]:
    """The values of a column as `_send_later` sends them."""
    is_packed = isinstance(column.type, LargeBinary) and not single
    return unpacked(column.name) if is_packed else source(column, single=single)


def source(column: Column[Any], *, single: bool) -> ColumnElement[Any]:
    """The values of a column, in PostgreSQL: of the parameter with its name, a value or an array's text."""
    sent = bindparam(column.name, type_=Text())
    return cast(sent, plain_type(column)) if single else func.unnest(cast(sent, ARRAY(plain_type(column))))
