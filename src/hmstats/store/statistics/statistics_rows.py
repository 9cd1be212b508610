"""Converts rows of TAB_COL_STATS and PART_COL_STATS to the model and back.

The columns of each kind are Hive's (StatObjectConverter); the type in COLUMN_TYPE tells the kind of a row.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from operator import itemgetter
from typing import Any

from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    Kind,
    LongStatistics,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.flat_statistics import FIELDS, FlatStatistics, flat
from hmstats.model.statistics.statistics_by_field import FieldValues

_UNKNOWN_NULLS = -1
"""NUM_NULLS for an unknown count, as Hive and Impala write it: the column must not be NULL."""

_NO_BIT_VECTOR = b"HL"
"""Hive's placeholder on PostgreSQL for a missing bit vector; for a missing histogram it stores no bytes."""

_COUNTED = {"nulls": "NUM_NULLS", "ndv": "NUM_DISTINCTS", "bit_vector": "BIT_VECTOR"}
_LENGTHS = {"max_length": "MAX_COL_LEN", "average_length": "AVG_COL_LEN"}


def _bounded(prefix: str) -> dict[str, str]:
    bounds = {"low": f"{prefix}_LOW_VALUE", "high": f"{prefix}_HIGH_VALUE"}
    return {**bounds, **_COUNTED, "histogram": "HISTOGRAM"}


_COLUMNS: dict[Kind, dict[str, str]] = {
    Kind.BOOLEAN: {"trues": "NUM_TRUES", "falses": "NUM_FALSES", "nulls": "NUM_NULLS"},
    Kind.LONG: _bounded("LONG"),
    Kind.DATE: _bounded("LONG"),
    Kind.TIMESTAMP: _bounded("LONG"),
    Kind.DOUBLE: _bounded("DOUBLE"),
    Kind.DECIMAL: _bounded("BIG_DECIMAL"),
    Kind.STRING: {**_LENGTHS, **_COUNTED},
    Kind.BINARY: {**_LENGTHS, "nulls": "NUM_NULLS"},
}
"""The table's column by field of the model, for each kind."""

DESCRIBED = ("ENGINE", "LAST_ANALYZED", "COLUMN_NAME", "COLUMN_TYPE")
"""The columns after VALUES in a row that is read."""
VALUES = tuple(sorted({column for columns in _COLUMNS.values() for column in columns.values()}))
"""The columns of statistics, in the order of a row for `column_statistics`."""
SKETCHES = frozenset({"BIT_VECTOR", "HISTOGRAM"})
"""The columns with sketches, which have kilobytes."""
_BIT_VECTOR, _HISTOGRAM, _NULLS = (VALUES.index(name) for name in ("BIT_VECTOR", "HISTOGRAM", "NUM_NULLS"))
_COLUMN, _COLUMN_TYPE = (len(VALUES) + DESCRIBED.index(name) for name in ("COLUMN_NAME", "COLUMN_TYPE"))
_WITH_TEXT_BOUNDS = frozenset({Kind.DOUBLE, Kind.DECIMAL})
"""The kinds whose bounds are, or may be, stored as texts: SQLite has no NaN."""


def columns_of(kind: Kind) -> Mapping[str, str]:
    """The table's column by field of the model, for a kind."""
    return _COLUMNS[kind]


def column_statistics(column: str, column_type: str | None, values: Sequence[Any]) -> ColumnStatistics | None:
    """The statistics in a row; None if its type has none."""
    reader = _reader(column_type or "")
    if reader is None:
        return None
    fields, data = reader
    return ColumnStatistics(column, column_type or "", data(*fields(values)))


def flat_statistics(rows: Iterable[Sequence[Any]]) -> list[FlatStatistics | None]:
    """The statistics in the driver's rows of VALUES and DESCRIBED, as tuples; None if a row's type has none."""
    return [_flattener(row[_COLUMN_TYPE])(row) for row in rows]


def values(groups: Iterable[FieldValues], rows: int) -> dict[str, Sequence[Any]]:
    """The values for rows: a list for each of VALUES, in order, without columns that are NULL in all rows."""
    columns: dict[str, Sequence[Any]] = {}
    for kind, indexes, fields in groups:
        counts: dict[str, Sequence[Any]] = {
            field: [None] * len(indexes) for field in ("nulls", "ndv") if field in _COLUMNS[kind]
        }
        nulls = fields.get("nulls", counts["nulls"])
        completed: dict[str, Sequence[Any]] = {
            **counts,
            **fields,
            "nulls": [_UNKNOWN_NULLS if each is None else each for each in nulls],
        }
        for field, of_field in completed.items():
            stored = list(map(_to_row, of_field)) if kind in _WITH_TEXTS else of_field
            name = _COLUMNS[kind][field]
            columns[name] = (
                stored if len(indexes) == rows else _spread(columns.get(name) or [None] * rows, indexes, stored)
            )
    return {name: columns[name] for name in VALUES if name in columns}


def _spread(into: Sequence[Any], indexes: Sequence[int], values_given: Sequence[Any]) -> list[Any]:
    spread = list(into)
    for index, value in zip(indexes, values_given, strict=True):
        spread[index] = value
    return spread


def _to_row(value: Any) -> Any:
    # SQLite stores NULL for the number NaN; both databases accept the text.
    return str(value) if isinstance(value, Decimal) or value != value else value  # noqa: PLR0124


Reader = tuple[Callable[[Sequence[Any]], tuple[Any, ...]], Callable[..., Data]]
"""The getter of a kind's fields from a row, in the order of _COLUMNS, and the constructor of its data."""


@lru_cache(maxsize=10_000)
def _reader(column_type: str) -> Reader | None:
    kind = kind_of(column_type)
    if kind is None:
        return None
    return itemgetter(*(VALUES.index(name) for name in _COLUMNS[kind].values())), _DATA[kind]


@lru_cache(maxsize=10_000)
def _flattener(column_type: str | None) -> Callable[[Sequence[Any]], FlatStatistics | None]:
    """The function from a row to a tuple; rows with values to convert go through column_statistics."""
    kind = kind_of(column_type or "")
    if kind is None:
        return lambda _: None
    may_convert = kind in _WITH_TEXT_BOUNDS
    get_fields: Callable[[Sequence[Any]], FlatStatistics] = itemgetter(
        _COLUMN, _COLUMN_TYPE, *(VALUES.index(_COLUMNS[kind][field]) for field in FIELDS[kind])
    )

    def flatten(row: Sequence[Any]) -> FlatStatistics | None:
        if not may_convert and row[_BIT_VECTOR] is None and row[_HISTOGRAM] is None and row[_NULLS] >= 0:
            return get_fields(row)
        values = [bytes(value) if isinstance(value, memoryview) else value for value in row]
        read = column_statistics(row[_COLUMN], row[_COLUMN_TYPE], values)
        return None if read is None else flat(read)

    return flatten


def _bounded_data(data_class: Any, bound: Callable[[Any], Any] | None = None) -> Callable[..., Data]:
    def data(low: Any, high: Any, nulls: int, ndv: int | None, vector: bytes | None, histogram: bytes | None) -> Any:
        return data_class(
            low=low if low is None or bound is None else bound(low),
            high=high if high is None or bound is None else bound(high),
            nulls=_nulls(nulls),
            ndv=ndv,
            bit_vector=_bit_vector(vector),
            histogram=histogram or None,
        )

    return data


def _boolean_data(trues: int | None, falses: int | None, nulls: int) -> Data:
    return BooleanStatistics(trues=trues, falses=falses, nulls=_nulls(nulls))


def _string_data(longest: Any, average: Any, nulls: int, ndv: int | None, vector: bytes | None) -> Data:
    return StringStatistics(
        max_length=longest, average_length=average, nulls=_nulls(nulls), ndv=ndv, bit_vector=_bit_vector(vector)
    )


def _binary_data(longest: int | None, average: float | None, nulls: int) -> Data:
    return BinaryStatistics(max_length=longest, average_length=average, nulls=_nulls(nulls))


def _nulls(count: int | None) -> int | None:
    return None if count is None or count < 0 else count


def _bit_vector(content: bytes | None) -> bytes | None:
    return None if content == _NO_BIT_VECTOR else content or None


def decimal(text: str) -> Decimal | None:
    """The decimal in a row; None if the text is no finite number, as older engines have written."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


_DATA: dict[Kind, Callable[..., Data]] = {
    Kind.BOOLEAN: _boolean_data,
    Kind.LONG: _bounded_data(LongStatistics),
    Kind.DATE: _bounded_data(DateStatistics),
    Kind.TIMESTAMP: _bounded_data(TimestampStatistics),
    Kind.DOUBLE: _bounded_data(DoubleStatistics, float),
    Kind.DECIMAL: _bounded_data(DecimalStatistics, decimal),
    Kind.STRING: _string_data,
    Kind.BINARY: _binary_data,
}
_WITH_TEXTS = frozenset({Kind.DOUBLE, Kind.DECIMAL, Kind.STRING, Kind.BINARY})
"""The kinds with decimals, or with numbers that may be NaN."""
