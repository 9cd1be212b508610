"""HMSTATS_COLUMN_PROVENANCE: the provenance of each column's statistics.

A row has the columns of a table or partition and of an engine as a JSON object: by column name, an array of the values
of `_FIELDS`, without unknown ones at its end. So a write of many partitions is one row for each, with mostly the same
text.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import isfinite
from operator import attrgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, bindparam, cast, delete, func, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from hmstats.model.statistics.provenance import Provenance
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE as PROVENANCE
from hmstats.store.statements.upserts import upsert_columns
from hmstats.store.statements.value_sets import bound
from hmstats.store.unit.unit import Unit

_KEY = ("TBL_ID", "PART_ID", "ENGINE")
_FIELDS = ("written_at_seconds", "writer", "tool", "exact", "ndv_standard_error", "rows_seen", "sample_fraction")
"""The fields in the order of the array; those that are often unknown come last."""
_VALUES = attrgetter(*_FIELDS)
_FRACTIONS = ("ndv_standard_error", "sample_fraction")
_MOST_CHARACTERS = 256
EMPTY = "{}"
"""The text of a row that has no columns."""


def write(unit: Unit, table_id: int, engine: str, by_owner: Mapping[int, Mapping[str, Provenance]]) -> None:
    """Write provenance of one engine by partition id (or details.OF_TABLE) and column, merged into stored rows.

    It gets the unit's time unless it has another. The text of each distinct mapping and provenance is built once,
    however often it occurs.
    """
    each = {id(made): made for columns in _distinct(by_owner.values()) for made in columns.values()}
    arrays = {key: array_text(made, unit.now_seconds) for key, made in each.items()}
    texts = {id(columns): _object(columns, arrays) for columns in _distinct(by_owner.values())}
    _write(unit, table_id, engine, {owner: texts[id(columns)] for owner, columns in by_owner.items() if columns})


def write_same(
    unit: Unit, table_id: int, engine: str, owners: Iterable[int], columns: Sequence[str], made: Provenance
) -> None:
    """Write one provenance for these columns of all owners, merged into stored rows."""
    text = _same_text(tuple(columns), made, unit.now_seconds)
    _write(unit, table_id, engine, dict.fromkeys(owners, text))


@lru_cache(maxsize=16)
def read(text: str) -> Mapping[str, Provenance]:
    """Parse the text of a row: provenance by column; cached, since neighbouring partitions mostly have one text."""
    return {column: _provenance(values) for column, values in json.loads(text).items()}


def remove(unit: Unit, here: ColumnElement[bool], columns: Sequence[str] | None) -> None:
    """Remove these columns (None: all) from the rows that meet `here`; a row without columns is deleted."""
    if columns is None:
        unit.connection.execute(delete(PROVENANCE).where(here))
        return
    having, others = _without(unit.connection, columns)
    unit.connection.execute(update(PROVENANCE).where(here, having).values(BY_COLUMN=others))
    unit.connection.execute(delete(PROVENANCE).where(here, cast(PROVENANCE.c.BY_COLUMN, Text) == EMPTY))


def _write(unit: Unit, table_id: int, engine: str, texts: Mapping[int, str]) -> None:
    owners = sorted(texts)
    if not owners:
        return
    columns: dict[str, Sequence[Any]] = {
        "TBL_ID": [table_id] * len(owners),
        "PART_ID": owners,
        "ENGINE": [engine] * len(owners),
        "BY_COLUMN": [texts[owner] for owner in owners],
    }
    merged = _patched if unit.connection.dialect.name == "sqlite" else _concatenated
    upsert_columns(unit, PROVENANCE, _KEY, columns, merged)


@lru_cache(maxsize=100)
def _same_text(columns: tuple[str, ...], made: Provenance, now_seconds: int) -> str:
    """The text of columns with one provenance; cached, since many writes of one second have the same."""
    return _object(dict.fromkeys(columns, made), {id(made): array_text(made, now_seconds)})


def _distinct(mappings: Iterable[Mapping[str, Provenance]]) -> Iterable[Mapping[str, Provenance]]:
    return {id(columns): columns for columns in mappings}.values()


def _object(columns: Mapping[str, Provenance], arrays: Mapping[int, str]) -> str:
    members = [f"{_quote(column)}:{arrays[id(made)]}" for column, made in columns.items()]
    return f"{{{','.join(members)}}}"


@lru_cache(maxsize=10_000)
def _quote(column: str) -> str:
    return json.dumps(column, ensure_ascii=False)


@lru_cache(maxsize=64)  # a write needs it for its rows and for the history
def array_text(made: Provenance, now_seconds: int) -> str:
    """The text of a provenance as it is stored, with this time unless it has another."""
    values = [_storable(value) for value in _VALUES(made)]
    values[0] = now_seconds if values[0] is None else values[0]
    while values[-1] is None:
        values.pop()
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        # PostgreSQL stores every character except NUL.
        return value.replace("\0", "\ufffd")[:_MOST_CHARACTERS]
    # JSON has no infinity; an error that is infinite is as good as unknown.
    return None if isinstance(value, float) and not isfinite(value) else value


def _provenance(values: Sequence[Any]) -> Provenance:
    fields = dict(zip(_FIELDS, values, strict=False))
    # PostgreSQL writes a large fraction as a whole number.
    return Provenance(**fields | {name: float(fields[name]) for name in _FRACTIONS if fields.get(name) is not None})


def _concatenated(old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {"BY_COLUMN": old.BY_COLUMN.op("||")(new.BY_COLUMN)}


def _patched(old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    # RFC 7396: null members of an object are removed, but arrays are replaced as a whole.
    return {"BY_COLUMN": func.json_patch(old.BY_COLUMN, new.BY_COLUMN)}


def _without(connection: Connection, columns: Sequence[str]) -> tuple[ColumnElement[bool], ColumnElement[Any]]:
    """The condition that an object has any of the columns, and the SQL of the object without them."""
    stored = PROVENANCE.c.BY_COLUMN
    if connection.dialect.name == "sqlite":
        removed = json.dumps(dict.fromkeys(columns), ensure_ascii=False)
        others = func.json_patch(stored, bindparam(None, removed, Text()), type_=Text())
        return others != cast(stored, Text), others
    names = cast(bindparam(None, bound(connection, columns), Text()), ARRAY(Text()))
    return stored.bool_op("?|")(names), stored.op("-", return_type=JSONB())(names)
