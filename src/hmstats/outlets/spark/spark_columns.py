"""One column's statistics in Spark's form and in the metastore's.

Statistics that one side lacks are lost: Spark has no counts of true and false, and the metastore keeps whole seconds,
no distinct count of booleans and binaries, and no lengths of numbers. Spark's histograms stay Spark's: they say too
little to make a sketch of.
"""

from dataclasses import replace
from typing import Any

from hmstats.errors import SketchError
from hmstats.model.spark.spark_statistics import EquiHeightHistogram, SparkColumn
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    Kind,
    StringStatistics,
    known_ndv,
)
from hmstats.model.statistics.column_types import base_type, kind_of
from hmstats.outlets.spark.equi_height import ColumnFacts, equi_height
from hmstats.outlets.spark.spark_bounds import bound_text, bound_value
from hmstats.sketch.quantiles.kll import KllHistogram

_BYTES = {
    "boolean": 1,
    "tinyint": 1,
    "smallint": 2,
    "int": 4,
    "integer": 4,
    "bigint": 8,
    "float": 4,
    "double": 8,
    "date": 4,
}
"""The lengths that Spark writes for values of one size; it has 8 bytes for timestamps."""
_LONGEST_SMALL_DECIMAL = 18
_MICROSECONDS = 1e6


def to_spark(statistics: ColumnStatistics, rows: int | None) -> SparkColumn:
    """The column as Spark's optimizer reads it; `rows` are the table's, without which there is no histogram."""
    data, column_type = statistics.data, statistics.column_type
    if isinstance(data, StringStatistics | BinaryStatistics):
        average = data.average_length
        return SparkColumn(
            distinct=known_ndv(data),
            nulls=data.nulls,
            average_length=None if average is None else -int(-average // 1),
            max_length=data.max_length,
        )
    size = _length(column_type)
    sized = SparkColumn(nulls=data.nulls, average_length=size, max_length=size)
    if isinstance(data, BooleanStatistics):
        return _of_booleans(sized, data)
    low, high = (bound_text(statistics.kind, column_type, each) for each in (data.low, data.high))
    histogram = _histogram(statistics.kind, data, rows)
    return replace(sized, distinct=known_ndv(data), low=low, high=high, histogram=histogram)


def from_spark(column: str, column_type: str, given: SparkColumn, rows: int | None) -> ColumnStatistics | None:
    """The column as the metastore keeps it; None for a type without statistics. `rows` are the table's."""
    kind = kind_of(column_type)
    if kind is None:
        return None
    return ColumnStatistics(column, column_type, _data(kind, column_type, given, rows))


def _data(kind: Kind, column_type: str, given: SparkColumn, rows: int | None) -> Data:
    if kind is Kind.BOOLEAN:
        return _booleans(given, rows)
    average = None if given.average_length is None else float(given.average_length)
    if kind is Kind.BINARY:
        return BinaryStatistics(max_length=given.max_length, average_length=average, nulls=given.nulls)
    if kind is Kind.STRING:
        return StringStatistics(
            max_length=given.max_length, average_length=average, nulls=given.nulls, ndv=given.distinct
        )
    low, high = (bound_value(kind, column_type, given.version, each) for each in (given.low, given.high))
    made: Any = DATA_CLASSES[kind]
    data: Data = made(low=low, high=high, nulls=given.nulls, ndv=given.distinct)
    return data


def _of_booleans(sized: SparkColumn, data: BooleanStatistics) -> SparkColumn:
    """The column with bounds and the distinct count, if both counts are known."""
    if data.trues is None or data.falses is None:
        return sized
    found = [text for text, count in (("false", data.falses), ("true", data.trues)) if count]
    low, high = (found[0], found[-1]) if found else (None, None)
    return replace(sized, distinct=len(found), low=low, high=high)


def _booleans(given: SparkColumn, rows: int | None) -> BooleanStatistics:
    """The statistics with both counts, if all values are equal."""
    values = None if rows is None or given.nulls is None else max(0, rows - given.nulls)
    if values is None or given.low != given.high:
        return BooleanStatistics(nulls=given.nulls)
    trues = values if given.high == "true" else 0
    return BooleanStatistics(trues=trues, falses=values - trues, nulls=given.nulls)


def _length(column_type: str) -> int:
    if base_type(column_type) != "decimal":
        return _BYTES.get(base_type(column_type), 8)
    digits = column_type.partition("(")[2].partition(",")[0].rstrip(") ")
    return 16 if digits.isdecimal() and int(digits) > _LONGEST_SMALL_DECIMAL else 8


def _histogram(kind: Kind, data: Any, rows: int | None) -> EquiHeightHistogram | None:
    """Made of the column's quantiles; None without them, or when they cannot be read."""
    if data.histogram is None or rows is None or data.low is None or data.high is None:
        return None
    known = ColumnFacts(
        low=float(data.low),
        high=float(data.high),
        values=max(0, rows - (data.nulls or 0)),
        distinct=known_ndv(data),
        whole=kind in (Kind.LONG, Kind.DATE),
        unit=_MICROSECONDS if kind is Kind.TIMESTAMP else 1.0,
    )
    try:
        return equi_height(KllHistogram.from_bytes(data.histogram), known)
    except SketchError:
        return None
