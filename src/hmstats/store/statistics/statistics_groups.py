"""Reads statistics of many partitions in groups, packed by PostgreSQL: a few rows for thousands of statistics.

The driver makes a Python object of each value of each row, which takes most of the time of a first read. Here the
database groups the rows by column, type, engine and the set of known values, and packs each value's numbers into
one byte string. SQLite cannot pack numbers, and has them in this process anyway: there, and if sketches are
read, statistics are read row by row (statistics_by_name.py).
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

from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.statistics_group import StatisticsGroup, number_format
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.schema import PART_COL_STATS, PARTITION_PARAMS, PARTITIONS
from hmstats.store.statements.single_read import OneOf, SingleRead, listed
from hmstats.store.statements.value_sets import hashed_only
from hmstats.store.statistics import statistics_rows
from hmstats.store.statistics.statistics_rows import SKETCHES, VALUES

_TEXTS = ("BIG_DECIMAL_LOW_VALUE", "BIG_DECIMAL_HIGH_VALUE")
_NUMBERS = tuple(name for name in VALUES if name not in SKETCHES and name not in _TEXTS)
_S = PART_COL_STATS.c
_NO_BYTES: Any = literal_column("''::bytea")


@dataclass(frozen=True, slots=True)
class VersionedGroups:
    """Groups of statistics by engine, and the text of numRows (if set) by partition name, at a version of the table."""

    by_engine: Mapping[str, Sequence[StatisticsGroup]]
    rows: Mapping[str, str | None]
    version: int


def of_partitions(
    engine: Engine, table_id: int, partitions: Sequence[str], columns: Sequence[str] | None
) -> VersionedGroups | None:
    """Statistics as statistics_by_name.of_partitions reads them without sketches; None also on SQLite."""
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
        return VersionedGroups({}, {}, version)
    by_id = dict(zip(_integers(ids), names, strict=True))
    names_of_group: dict[bytes, tuple[str, ...]] = {}
    by_engine: dict[str, list[StatisticsGroup]] = {}
    for _, owners, _, _, column, column_type, of_engine, *sent in packed:
        key = bytes(owners)  # mostly the same of every column
        if key not in names_of_group:
            names_of_group[key] = tuple(map(by_id.__getitem__, _integers(key)))
        group = _group(column, column_type, names_of_group[key], dict(zip((*_NUMBERS, *_TEXTS), sent, strict=True)))
        by_engine.setdefault(of_engine, []).extend([group] if group else [])
    return VersionedGroups(by_engine, dict(zip(names, counts, strict=True)), version)


def _group(
    column: str, column_type: str | None, partitions: Sequence[str], sent: Mapping[str, Any]
) -> StatisticsGroup | None:
    """The group in a row; None if the type has no statistics."""
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
    """The packed numbers in a normal form: -1 for unknown nulls, one NaN."""
    if field != "nulls" and letter != "d":
        return packed
    numbers = np.frombuffer(packed, f">{letter}")
    odd, plain = (np.isnan(numbers), np.nan) if letter == "d" else (numbers < -1, -1)
    return np.where(odd, plain, numbers).astype(numbers.dtype).tobytes() if odd.any() else packed


def _integers(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 8}q", packed)


def _query(one_of: OneOf, *, every: bool) -> SelectBase:
    """The query: a first row with version and partitions, then a row for each group."""
    p, n = PARTITIONS.c, PARTITION_PARAMS.c
    table_id = bindparam("table_id", type_=BigInteger())
    counted = and_(n.PART_ID == p.PART_ID, n.PARAM_KEY == literal_column("'numRows'"))
    requested = (
        select(p.PART_ID, p.PART_NAME, n.PARAM_VALUE)
        .select_from(PARTITIONS.outerjoin(PARTITION_PARAMS, counted))
        .where(p.TBL_ID == table_id, one_of(p.PART_NAME, "partitions"))
        .cte("asked")
    )
    head = (
        select(
            VERSIONS.c.VERSION, _packed_numbers(requested.c.PART_ID), func.array_agg(requested.c.PART_NAME),
            func.array_agg(requested.c.PARAM_VALUE), *(null() for _ in range(3 + len(_NUMBERS) + len(_TEXTS))),
        )
        .select_from(VERSIONS.outerjoin(requested, true()))
        .where(VERSIONS.c.TBL_ID == table_id)
        .group_by(VERSIONS.c.VERSION)
    )  # fmt: skip
    return union_all(head, _groups(one_of, requested, every=every))


def _groups(one_of: OneOf, requested: Any, *, every: bool) -> Select[Any]:
    keys = [_S.COLUMN_NAME, _S.COLUMN_TYPE, _S.ENGINE]
    packed = [_packed_numbers(_S[name]) for name in _NUMBERS]
    texts = [func.array_agg(_S[name]).filter(_S[name].is_not(None)) for name in _TEXTS]
    query = (
        select(null(), _packed_numbers(_S.PART_ID), null(), null(), *keys, *packed, *texts)
        .select_from(requested.join(PART_COL_STATS, _S.PART_ID == requested.c.PART_ID))
        .group_by(*keys, _null_mask(), hashed_only(_S.COLUMN_NAME))
    )
    return query if every else query.where(one_of(_S.COLUMN_NAME, "columns"))


def _null_mask() -> Any:
    """A bit mask of the NULL values, as one key of the groups, since each key costs time for each row."""
    names = [name for name in (*_NUMBERS, *_TEXTS) if _S[name].nullable]
    texts = (
        f"""CASE WHEN "PART_COL_STATS"."{name}" IS NULL THEN {2**bit} ELSE 0 END""" for bit, name in enumerate(names)
    )
    return literal_column(" + ".join(texts))


def _packed_numbers(column: Any) -> Any:
    """The packed numbers of a column, 8 bytes each, big-endian; NULL if there are none."""
    send = func.float8send if isinstance(column.type, Double) else func.int8send
    return func.string_agg(send(column), _NO_BYTES)


_READS = {every: SingleRead(partial(_query, every=every), ["postgresql"]) for every in (True, False)}
"""Queries by `every`: whether every column is read."""
