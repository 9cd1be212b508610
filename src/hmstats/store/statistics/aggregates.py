"""Aggregates of the column statistics of many partitions: numbers by the database, sketches streamed from it.

Each query is one statement for all partitions and columns, except for sketches, which come in batches of partitions. If
several engines have statistics of one column of one partition, one counts: the asked engine's, else the newest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Select,
    Text,
    bindparam,
    case,
    func,
    literal,
    not_,
    null,
    or_,
    select,
)

from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.store.schema import PART_COL_STATS, PARTITIONS
from hmstats.store.statements import copied_rows
from hmstats.store.statements.ordering import by_bytes_of
from hmstats.store.statements.value_sets import bound, hashed_only, one_of_bound
from hmstats.store.statistics import statistics_rows
from hmstats.store.statistics.column_sums import ADDED, NUMBERS, ColumnSums, is_low
from hmstats.store.statistics.statistics_rows import SKETCHES, VALUES

_ADDED = tuple(sorted(ADDED))
_HALF = 2**32
_PLACEHOLDER_BYTES = 2
"""Size of the longest placeholder for a missing bit vector."""
_ROWS_AT_ONCE = 500
"""Rows fetched at once; a dense bit vector takes 2.5 kB, or 10 if its standard error is 0.8 %."""

_S = PART_COL_STATS.c
Sketch: TypeAlias = tuple[str, str, bytes]
"""A column, a partition's name, and the bytes of its sketch."""
_ENGINE: Any = bindparam("engine", type_=Text())


@dataclass(frozen=True, slots=True)
class Scope:
    """The statistics to aggregate: of partitions of a table (None: all), of columns, for an engine.

    If `only`, other engines' are ignored, even if the asked one has none.
    """

    table_id: int
    partitions: Sequence[str] | None
    columns: Sequence[str]
    engine: str
    only: bool = False


def sums(connection: Connection, scope: Scope) -> list[ColumnSums]:
    """The sums of each column and type in the scope."""
    rows = connection.execute(_summed(_Form.of(connection, scope), ranked=False), _values(connection, scope)).all()
    if len({row[-1] for row in rows}) > 1:
        rows = connection.execute(_summed(_Form.of(connection, scope), ranked=True), _values(connection, scope)).all()
    return [_sums(row) for row in rows]


def numbers(connection: Connection, scope: Scope) -> Iterator[tuple[str, ColumnStatistics]]:
    """Partition name and statistics without sketches, of each column of each partition in the scope; streamed."""
    statement = _numbers(_Form.of(connection, scope))
    for row in connection.execute(statement.execution_options(yield_per=_ROWS_AT_ONCE), _values(connection, scope)):
        column, column_type, partition = row[len(VALUES) :]
        read = statistics_rows.column_statistics(column, column_type, row)
        if read is not None:
            yield partition, read


def bit_vectors(connection: Connection, scope: Scope) -> Iterator[Sequence[Sketch]]:
    """Batches of (column, partition name, bit vector), for each column and partition with a bit vector; streamed."""
    return _sketches(connection, scope, _S.BIT_VECTOR)


def histograms(connection: Connection, scope: Scope) -> Iterator[Sequence[Sketch]]:
    """Batches of (column, partition name, histogram), for each column and partition with a histogram; streamed."""
    return _sketches(connection, scope, _S.HISTOGRAM)


def _sketches(connection: Connection, scope: Scope, sketch: Column[Any]) -> Iterator[Sequence[Sketch]]:
    names, size = scope.partitions, max(1, _ROWS_AT_ONCE // len(scope.columns))
    if names is None:
        query = select(PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == scope.table_id)
        names = connection.execute(query.order_by(PARTITIONS.c.PART_ID)).scalars().all()
    for start in range(0, len(names), size):
        part = replace(scope, partitions=names[start : start + size])
        found = copied_rows.rows(connection, _sketched(_Form.of(connection, part), sketch), _values(connection, part))
        if found:
            yield found


class _Form(NamedTuple):
    """The cache key of a statement's text, which takes longer to build than to run."""

    dialect: str
    every: bool
    only: bool

    @classmethod
    def of(cls, connection: Connection, scope: Scope) -> "_Form":
        return cls(connection.dialect.name, scope.partitions is None, scope.only)


def _values(connection: Connection, scope: Scope) -> dict[str, Any]:
    values = {"table_id": scope.table_id, "columns": bound(connection, scope.columns), "engine": scope.engine}
    return values if scope.partitions is None else {**values, "partitions": bound(connection, scope.partitions)}


@lru_cache
def _summed(form: _Form, *, ranked: bool) -> Select[Any]:
    """The query for sums over the scope, for each engine; if `ranked`, only over the rows that count."""
    sketched = case((func.length(_S.BIT_VECTOR) > _PLACEHOLDER_BYTES, 1)).label("SKETCHED")
    described = (_S.COLUMN_NAME, _S.COLUMN_TYPE, _S.ENGINE, _S.LAST_ANALYZED)
    query = _within(select(*described, sketched, *(_S[name] for name in NUMBERS)), form, ranked=ranked)
    # Otherwise SQLite would sort the bit vectors themselves.
    found = query.cte("found").prefix_with("MATERIALIZED", dialect="sqlite").c
    whole = form.dialect == "postgresql"
    keys = [found.COLUMN_NAME, found.COLUMN_TYPE, *([] if ranked else [found.ENGINE])]
    statement = select(
        *(_summary_of(found, name, whole=whole) for name in VALUES),
        *(_upper_sum(found[name], whole=whole) for name in _ADDED),
        found.COLUMN_NAME, found.COLUMN_TYPE, func.count(), func.count(found.SKETCHED), func.min(found.LAST_ANALYZED),
        _lower_sum(found.NUM_DISTINCTS, whole=whole), _upper_sum(found.NUM_DISTINCTS, whole=whole),
        null() if ranked else found.ENGINE,
    )  # fmt: skip
    return statement.group_by(*keys, *([hashed_only(found.COLUMN_NAME)] if whole else []))


@lru_cache
def _numbers(form: _Form) -> Select[Any]:
    values = [null() if name in SKETCHES else _S[name] for name in VALUES]
    query = select(*values, _S.COLUMN_NAME, _S.COLUMN_TYPE, PARTITIONS.c.PART_NAME)
    return _within(query, form, ranked=True)


@lru_cache
def _sketched(form: _Form, sketch: Column[Any]) -> Select[Any]:
    query = _within(select(_S.COLUMN_NAME, PARTITIONS.c.PART_NAME, sketch), form, ranked=True)
    return query.where(func.length(sketch) > _PLACEHOLDER_BYTES)


def _within(query: Select[Any], form: _Form, *, ranked: bool) -> Select[Any]:
    """The query restricted to the scope; if `ranked`, to the rows that count."""
    query = query.join_from(PART_COL_STATS, PARTITIONS, PARTITIONS.c.PART_ID == _S.PART_ID)
    table_id = bindparam("table_id", type_=BigInteger())
    query = query.where(PARTITIONS.c.TBL_ID == table_id, one_of_bound(form.dialect, _S.COLUMN_NAME, "columns"))
    if not form.every:
        query = query.where(one_of_bound(form.dialect, PARTITIONS.c.PART_NAME, "partitions"))
    asked = _S.ENGINE == _ENGINE
    if form.only:
        return query.where(asked)
    return query.where(or_(asked, not_(_has_better(form)))) if ranked else query


def _has_better(form: _Form) -> Any:
    """The condition that another engine's row of the same column and partition counts before this row.

    The rule is that of model/statistics/engine_choice.py.
    """
    other = PART_COL_STATS.alias("other")
    newer = other.c.LAST_ANALYZED > _S.LAST_ANALYZED
    names = by_bytes_of(form.dialect, other.c.ENGINE) > by_bytes_of(form.dialect, _S.ENGINE)
    as_new = (other.c.LAST_ANALYZED == _S.LAST_ANALYZED) & names
    same = (other.c.PART_ID == _S.PART_ID) & (other.c.COLUMN_NAME == _S.COLUMN_NAME)
    better = or_(other.c.ENGINE == _ENGINE, newer, as_new)
    return select(literal(1)).where(same, other.c.ENGINE != _S.ENGINE, better).correlate(PART_COL_STATS).exists()


def _summary_of(found: Any, name: str, *, whole: bool) -> Any:
    """The aggregate of a column of the table; for a sum, its lower half."""
    if name not in NUMBERS:
        return null()
    if name in ADDED:
        return _lower_sum(found[name], whole=whole)
    # NaN is no bound. It is higher than any number; on SQLite, since it is a text there.
    values = case((found[name] <= float("inf"), found[name])) if name.startswith("DOUBLE") else found[name]
    return func.min(values) if is_low(name) else func.max(values)


def _lower_sum(column: Any, *, whole: bool) -> Any:
    """The sum of the lower 32 bits, since SQLite cannot hold a large sum of longs; on PostgreSQL the whole sum."""
    return func.sum(case((column >= 0, column if whole else column % _HALF)))


def _upper_sum(column: Any, *, whole: bool) -> Any:
    return null() if whole else func.sum(case((column >= 0, column // _HALF)))


def _sums(row: Any) -> ColumnSums:
    values = {name: value for name, value in zip(VALUES, row, strict=False) if value is not None}
    uppers = dict(zip(_ADDED, row[len(VALUES) :], strict=False))
    column, column_type, partitions, sketched, analyzed, lower, upper, _ = row[len(VALUES) + len(_ADDED) :]
    for name in ADDED & values.keys():
        values[name] = _whole(values[name], uppers[name])
    return ColumnSums(column, column_type, values, partitions, sketched, _whole(lower or 0, upper), analyzed)


def _whole(lower: Any, upper: Any) -> int:
    """The sum from its two halves."""
    return int(upper or 0) * _HALF + int(lower)
