"""Validates column statistics before anything is written.

Unknown (None) is always valid, and so is a low bound above the high one: Hive's own clients write such (repair.py).
Nulls are compared with numRows only if the table or partition marks its numRows as accurate (BASIC_STATS in
COLUMN_STATS_ACCURATE): engines may write column statistics before they write the new row count.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any

from hmstats.errors import InvalidInput, MetaError, SketchError
from hmstats.model.catalog.objects import Column, Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Kind,
    StatisticsSet,
)
from hmstats.model.statistics.column_types import accepts, kind_of, of_own_kind
from hmstats.model.statistics.flat_statistics import FIELDS
from hmstats.model.statistics.frequent_values import value
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField
from hmstats.sketch.distinct import bit_vector, hll_bytes
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles import kll_bytes

_COUNTS = ("trues", "falses", "nulls", "ndv", "max_length", "average_length")
_MAX_I64 = 2**63 - 1


def check_statistics(
    name: TableName,
    columns: Sequence[Column],
    statistics: Sequence[ColumnStatistics],
    rows: int | None,
    partition: str | None = None,
) -> tuple[ColumnStatistics, ...]:
    """The statistics to store of a table, or of a partition of it, in their order.

    Raises MetaError if the table does not have a column, InvalidInput if statistics do not match their
    column's type, are negative or contradict `rows`.
    """
    types = {column.name.lower(): column.type.lower() for column in columns}
    for each in statistics:
        if each.column not in types:
            raise MetaError(f"Column {each.column} doesn't exist in table {name.table} in database {name.database}")
    fitted = tuple(_with_type_of_column(name, each, types[each.column]) for each in statistics)
    for each in fitted:
        _check_numbers(name, partition, each, rows)
    return fitted


def are_plain(columns: Sequence[Column], statistics: StatisticsByField, rows: Sequence[int | None]) -> bool:
    """Whether `check_statistics` would change nothing for any partition; `rows` has each one's numRows."""
    types = _types(tuple(columns))
    if not _are_of_types(statistics.columns, types):
        return False
    width = len(statistics.columns) if any(most is not None for most in rows) else 0
    return all(
        all(_are_counts(group.values[field]) for field in _COUNTS if field in group.values)
        and (not width or _fit_rows(group, [rows[place // width] for place in group.places]))
        for group in statistics.groups
    )


def say_types_of(columns: Sequence[Column], statistics: StatisticsByField) -> bool:
    """Whether the writer's types are exactly those of the table's columns."""
    return {(name, said) for name, said, _ in statistics.columns} <= _types(tuple(columns)).items()


@lru_cache(maxsize=100)
def _types(columns: tuple[Column, ...]) -> Mapping[str, str]:
    """Types by column name; cached, since the next write is mostly to the same table."""
    return {column.name.lower(): column.type.lower() for column in columns}


def _are_of_types(columns: Sequence[KindOfColumn], types: Mapping[str, str]) -> bool:
    """Whether the writer's type, the statistics and the column's type are of one kind, for all columns."""
    if {(name, said) for name, said, _ in columns} <= types.items():
        return all(_fits_as_it_is(kind, said, said) for said, kind in {(said, kind) for _, said, kind in columns})
    return all(name in types and _fits_as_it_is(kind, said, types[name]) for name, said, kind in columns)


def _are_counts(values: Sequence[Any]) -> bool:
    found = [value for value in values if value is not None] if None in values else values
    # A sum that contains NaN does not equal itself.
    return not found or (min(found) >= 0 and max(found) <= _MAX_I64 and sum(found) == sum(found))


def _fit_rows(group: FieldValues, rows: Sequence[int | None]) -> bool:
    """Whether no partition has more nulls and counted values than rows."""
    counted = [group.values[field] for field in ("trues", "falses", "nulls") if field in group.values]
    return all(
        most is None or sum(filter(None, each)) <= most
        for each, most in zip(zip(*counted, strict=True), rows, strict=bool(counted))
    )


def have_sound_sketches(statistics: StatisticsByField) -> bool:
    """Whether `check_sketches` would raise nothing. False also for sketches that need its slower check, such as FM."""
    vectors, histograms = (
        [each for group in statistics.groups for each in group.values.get(field, ()) if each]
        for field in ("bit_vector", "histogram")
    )
    try:
        HiveHll.merge_many(vectors)
        for each in histograms:
            kll_bytes.check(each)
    except SketchError:
        return False
    return True


def checked_set(
    name: TableName, columns: Sequence[Column], given: StatisticsSet, known: Parameters, now_seconds: int
) -> StatisticsSet:
    """The set to store, analysed now. `known` are the parameters of its owner. Raises as `check_statistics`."""
    fitting = check_statistics(name, columns, given.columns, exact_rows(known), given.partition)
    return replace(given, columns=fitting, last_analyzed_seconds=now_seconds)


def check_sketches(name: TableName, sets: Iterable[StatisticsSet]) -> None:
    """Raise InvalidInput, with table, partition and column, if a sketch is corrupt or of another kind."""
    every = [(each.partition, column) for each in sets for column in each.columns]
    vectors = [(where, vector) for where in every if (vector := getattr(where[1].data, "bit_vector", None))]
    try:
        HiveHll.merge_many([vector for _, vector in vectors if vector.startswith(hll_bytes.MAGIC)])
        unchecked = [(where, vector) for where, vector in vectors if not vector.startswith(hll_bytes.MAGIC)]
    except SketchError:
        unchecked = vectors
    for where, vector in unchecked:
        _check_sketch(name, *where, "bit vector", vector, bit_vector.check)
    for where in every:
        histogram = getattr(where[1].data, "histogram", None)
        if histogram:
            _check_sketch(name, *where, "histogram", histogram, kll_bytes.check)
        if where[1].top_k is not None:
            _check_sketch(name, *where, "top-k sketch", where[1].top_k, partial(_check_top_k, where[1].kind))


def _check_top_k(kind: Kind, data: bytes) -> None:
    """Raise SketchError if the sketch is corrupt, or if an item is no value of the kind."""
    for text, _, _ in TopK.from_bytes(data).top():
        value(kind, text)


def exact_rows(parameters: Parameters) -> int | None:
    """numRows if the parameters mark it as accurate, else None."""
    if not Accurate.parse(parameters.get(PARAMETER)).basic:
        return None
    return known_rows(parameters)


def _check_sketch(
    name: TableName,
    partition: str | None,
    column: ColumnStatistics,
    what: str,
    data: bytes,
    check: Callable[[bytes], None],
) -> None:
    try:
        check(data)
    except SketchError as error:
        place = f"column {column.column} of {_owner(name, partition)}"
        raise InvalidInput(f"the {what} of {place} cannot be read: {error}") from error


def _owner(name: TableName, partition: str | None) -> str:
    return f"table {name}" if partition is None else f"partition {partition} of table {name}"


def _with_type_of_column(name: TableName, statistics: ColumnStatistics, column_type: str) -> ColumnStatistics:
    """The statistics with the column's type, unless the writer's is of one kind with it. Raises InvalidInput."""
    kind = statistics.kind
    if _fits_as_it_is(kind, statistics.column_type, column_type) or _is_widened(statistics, column_type):
        return statistics
    if not accepts(column_type, kind):
        expected = kind_of(column_type)
        wanted = expected.value if expected else "no statistics at all"
        raise InvalidInput(
            f"Column {statistics.column} of table {name} is of type {column_type}: "
            f"expected {wanted}, found {kind.value}"
        )
    data = of_own_kind(statistics.data, column_type)
    said = statistics.column_type if kind_of(statistics.column_type) is kind_of(column_type) else column_type
    same = data is statistics.data and said == statistics.column_type
    return statistics if same else replace(statistics, column_type=said, data=data)


@lru_cache(maxsize=10_000)
def _fits_as_it_is(kind: Kind, said: str, column_type: str) -> bool:
    """Whether the statistics' kind, the writer's type and the column's type agree."""
    return kind is kind_of(said) is kind_of(column_type) and accepts(column_type, kind)


def _is_widened(statistics: ColumnStatistics, column_type: str) -> bool:
    """Whether statistics call an integer column a double, as Hive's own clients do."""
    said = kind_of(statistics.column_type)
    return statistics.kind is said is Kind.DOUBLE and kind_of(column_type) is Kind.LONG


def _check_numbers(name: TableName, partition: str | None, statistics: ColumnStatistics, rows: int | None) -> None:
    data = statistics.data
    names, counts = _counts_of(statistics.kind)
    for place, count in enumerate(counts(data)):
        if count is not None and not 0 <= count <= _MAX_I64:
            where = f"column {statistics.column} of {_owner(name, partition)}"
            allowed = f"at most {_MAX_I64}" if count > _MAX_I64 else "0 or more"
            raise InvalidInput(f"{names[place]} of {where} must be {allowed}, found {count}")
    counted = (data.nulls or 0) + (_values(data) if isinstance(data, BooleanStatistics) else 0)
    if rows is not None and counted > rows:
        where = f"column {statistics.column} of {_owner(name, partition)}"
        counter = "table" if partition is None else "partition"
        raise InvalidInput(f"{where} can have at most the {counter}'s {rows} rows, found {counted} nulls and values")


@cache
def _counts_of(kind: Kind) -> tuple[Sequence[str], Callable[[Any], tuple[Any, ...]]]:
    """The names of a kind's counts, at least two, and the getter of their values from its data."""
    names = [name for name in _COUNTS if name in FIELDS[kind]]
    return names, attrgetter(*names)


def _values(data: BooleanStatistics) -> int:
    return (data.trues or 0) + (data.falses or 0)
