"""Rows that are written whether or not they are there already: a statement for every thousand of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, String, Table, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.store.sets import array_of
from hmstats.store.unit import Unit

_BATCH_ROWS = 1_000
"""A row may hold sketches of some kB, and a statement's text, twice as long, is made in memory."""

Changes = Callable[[Any, Any], Mapping[str, ColumnElement[Any]]]
"""From the columns of the stored and of the new row to what the stored row's columns become."""


def upsert(unit: Unit, table: Table, key: Sequence[str], rows: Sequence[Mapping[str, Any]], changes: Changes) -> None:
    """Insert rows, all of which have the same columns; one whose `key` is there changes the stored row instead.

    Callers give the rows in one fixed order, so that two writers never wait for each other in a circle, and no key
    twice.
    """
    if unit.connection.dialect.name == "sqlite":
        if rows:
            each = sqlite.insert(table).values(_as_they_are(rows[0]))
            set_ = changes(table.c, each.excluded)
            unit.connection.execute(each.on_conflict_do_update(index_elements=key, set_=set_), rows)
        return
    for start in range(0, len(rows), _BATCH_ROWS):
        arrays = _insert_arrays(table, rows[start : start + _BATCH_ROWS])
        set_ = changes(table.c, arrays.excluded)
        unit.connection.execute(arrays.on_conflict_do_update(index_elements=key, set_=set_))


def _as_they_are(names: Iterable[str]) -> dict[str, BindParameter[Any]]:
    """Parameters of a type that hands over any value: a number's would make a number, then NULL, of the text NaN."""
    return {name: bindparam(name, type_=String()) for name in names}


def _insert_arrays(table: Table, rows: Sequence[Mapping[str, Any]]) -> postgresql.Insert:
    """One array a column: of an upsert with rows of values, the driver would send as many statements as rows."""
    names = list(rows[0])
    columns = [func.unnest(array_of(table.c[name], [row[name] for row in rows])) for name in names]
    return postgresql.insert(table).from_select(names, select(*columns), include_defaults=False)
