"""Statistics of many partitions by columns, packed by PostgreSQL: a few rows for thousands of statistics.

The driver makes a Python object of each value of each row, which took most of the time of a first read. Here the
database groups the rows by column, type, engine and which of the values are there, and packs each value's numbers into
one string of bytes. SQLite cannot pack numbers, and has them in this process anyway: there, and where sketches are
read, statistics come row by row (statistics_by_name.py).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    Double,
    Engine,
    Select,
    SelectBase,
    and_,
    bindparam,
    func,
    literal_column,
    null,
    select,
    true,
    union_all,
)

from hmstats.model.column_types import kind_of
from hmstats.model.statistics_group import StatisticsGroup, number_format
from hmstats.store import statistics_rows
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.schema import PART_COL_STATS, PARTITION_PARAMS, PARTITIONS
from hmstats.store.sets import hashed_only
from hmstats.store.single import OneOf, SingleRead, listed
from hmstats.store.statistics_rows import SKETCHES, VALUES

_TEXTS = ("BIG_DECIMAL_LOW_VALUE", "BIG_DECIMAL_HIGH_VALUE")
_NUMBERS = tuple(name for name in VALUES if name not in SKETCHES and name not in _TEXTS)
_S = PART_COL_STATS.c
_NOTHING: Any = literal_column("''::bytea")


@dataclass(frozen=True, slots=True)
class FoundGroups:
    """Statistics by engine and, by partition name, the text of numRows if it has any, at a version of the table."""

    by_engine: Mapping[str, Sequence[StatisticsGroup]]
    rows: Mapping[str, str | None]
    version: int


def of_partitions(
    engine: Engine, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None
) -> FoundGroups | None:
    """What statistics_by_name.of_partitions reads without sketches; None too from a database that does not pack."""
    if engine.dialect.name != "postgresql":
        return None
    values = {"table_id": table_id, "partitions": listed(engine, partitions)}
    if columns is not None:
        values["columns"] = listed(engine, columns)
    rows = _READS[columns is None].rows(engine, values)
    if not rows:
        return None
    (version, ids, names, counts, *_), *packed = sorted(rows, key=lambda row: row[0] is None)
    if ids is None:
        return FoundGroups({}, {}, version)
    by_id = dict(zip(_integers(ids), names, strict=True))
    known: dict[bytes, tuple[str, ...]] = {}
    by_engine: dict[str, list[StatisticsGroup]] = {}
    for _, owners, _, _, column, column_type, of_engine, *sent in packed:
        key = bytes(owners)  # mostly the same of every column
        if key not in known:
            known[key] = tuple(map(by_id.__getitem__, _integers(key)))
        group = _group(column, column_type, known[key], dict(zip((*_NUMBERS, *_TEXTS), sent, strict=True)))
        by_engine.setdefault(of_engine, []).extend([group] if group else [])
    return FoundGroups(by_engine, dict(zip(names, counts, strict=True)), version)


def _group(
    column: str, column_type: str | None, partitions: Sequence[str], sent: Mapping[str, Any]
) -> StatisticsGroup | None:
    """The group in a row; None of a type that has no statistics."""
    kind = kind_of(column_type or "")
    if kind is None:
        return None
    fields = {field: name for field, name in statistics_rows.columns_of(kind).items() if sent.get(name) is not None}
    decimals = {
        field: list(map(statistics_rows.decimal, sent[name])) for field, name in fields.items() if name in _TEXTS
    }
    numbers = {
        field: _plain(field, number_format(kind, field), bytes(sent[name]))
        for field, name in fields.items()
        if name not in _TEXTS
    }
    return StatisticsGroup(column, column_type or "", kind, partitions, numbers, decimals)


def _plain(field: str, letter: str, packed: bytes) -> bytes:
    """The numbers with one form for all that mean the same: -1 for unknown nulls, one NaN."""
    if field != "nulls" and letter != "d":
        return packed
    numbers = np.frombuffer(packed, f">{letter}")
    odd, plain = (np.isnan(numbers), np.nan) if letter == "d" else (numbers < -1, -1)
    return np.where(odd, plain, numbers).astype(numbers.dtype).tobytes() if odd.any() else packed


def _integers(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 8}q", packed)


def _query(one_of: OneOf, *, every: bool) -> SelectBase:
    """First the version and the partitions, then a row for each group."""
    p, n = PARTITIONS.c, PARTITION_PARAMS.c
    table_id = bindparam("table_id", type_=BigInteger())
    counted = and_(n.PART_ID == p.PART_ID, n.PARAM_KEY == literal_column("'numRows'"))
    asked = (
        select(p.PART_ID, p.PART_NAME, n.PARAM_VALUE)
        .select_from(PARTITIONS.outerjoin(PARTITION_PARAMS, counted))
        .where(p.TBL_ID == table_id, one_of(p.PART_NAME, "partitions"))
        .cte("asked")
    )
    head = (
        select(
            VERSIONS.c.VERSION, _packed(asked.c.PART_ID), func.array_agg(asked.c.PART_NAME),
            func.array_agg(asked.c.PARAM_VALUE), *(null() for _ in range(3 + len(_NUMBERS) + len(_TEXTS))),
        )
        .select_from(VERSIONS.outerjoin(asked, true()))
        .where(VERSIONS.c.TBL_ID == table_id)
        .group_by(VERSIONS.c.VERSION)
    )  # fmt: skip
    return union_all(head, _groups(one_of, asked, every=every))


def _groups(one_of: OneOf, asked: Any, *, every: bool) -> Select[Any]:
    keys = [_S.COLUMN_NAME, _S.COLUMN_TYPE, _S.ENGINE]
    packed = [_packed(_S[name]) for name in _NUMBERS]
    texts = [func.array_agg(_S[name]).filter(_S[name].is_not(None)) for name in _TEXTS]
    query = (
        select(null(), _packed(_S.PART_ID), null(), null(), *keys, *packed, *texts)
        .select_from(asked.join(PART_COL_STATS, _S.PART_ID == asked.c.PART_ID))
        .group_by(*keys, _known(), hashed_only(_S.COLUMN_NAME))
    )
    return query if every else query.where(one_of(_S.COLUMN_NAME, "columns"))


def _known() -> Any:
    """A number that says which of the values are there: one key, since each takes its time for each row."""
    names = [name for name in (*_NUMBERS, *_TEXTS) if _S[name].nullable]
    texts = (
        f"""CASE WHEN "PART_COL_STATS"."{name}" IS NULL THEN {2**bit} ELSE 0 END""" for bit, name in enumerate(names)
    )
    return literal_column(" + ".join(texts))


def _packed(column: Any) -> Any:
    """The numbers of a column one behind the other, 8 bytes each, big-endian; NULL where there is none."""
    send = func.float8send if isinstance(column.type, Double) else func.int8send
    return func.string_agg(send(column), _NOTHING)


_READS = {every: SingleRead(partial(_query, every=every), ["postgresql"]) for every in (True, False)}
"""By whether every column's statistics are read."""
