"""Statistics as one flat Arrow table, a row a column, which DuckDB, Polars and pandas read as it is.

Their readers do not take Arrow's statistics arrays, whose values are in a dense union.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from hmstats.model.statistics import frequent_values
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, known_ndv
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.python_values import calendar_text
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.sketch.values.numbers import Bound

FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The fractions of the quantiles: the least value, the quartiles, the greatest."""
MOST_TOP_VALUES = 10

_INSTANT = pa.timestamp("s", "UTC")
_TOP_VALUE = pa.struct([("value", pa.string()), ("low", pa.int64()), ("high", pa.int64())])
SCHEMA = pa.schema(
    [
        ("catalog_name", pa.string()),
        ("database_name", pa.string()),
        ("table_name", pa.string()),
        ("partition_name", pa.string()),
        ("column_name", pa.string()),
        ("column_type", pa.string()),
        ("row_count", pa.int64()),
        ("row_count_exact", pa.bool_()),
        ("null_count", pa.int64()),
        ("distinct_count", pa.int64()),
        ("min_value", pa.string()),
        ("max_value", pa.string()),
        ("min_number", pa.float64()),
        ("max_number", pa.float64()),
        ("average_byte_width", pa.float64()),
        ("max_byte_width", pa.int64()),
        ("true_count", pa.int64()),
        ("false_count", pa.int64()),
        ("quantiles", pa.list_(pa.float64())),
        ("top_values", pa.list_(_TOP_VALUE)),
        ("all_exact", pa.bool_()),
        ("distinct_count_standard_error", pa.float64()),
        ("rows_seen", pa.int64()),
        ("sample_fraction", pa.float64()),
        ("engine", pa.string()),
        ("writer", pa.string()),
        ("tool", pa.string()),
        ("written_at", _INSTANT),
        ("last_analyzed", _INSTANT),
    ]
)
"""The columns of the table. Its names are those of Arrow's statistics where it has one."""

_FIELDS = {
    "null_count": "nulls",
    "average_byte_width": "average_length",
    "max_byte_width": "max_length",
    "true_count": "trues",
    "false_count": "falses",
}
"""Column of the table to field of the model."""


def statistics_table(found: Iterable[TableStatistics]) -> pa.Table:
    """A row for the whole of each table, partition or result (`column_name` is null), then one for each of its columns.

    Bounds are text (dates and timestamps as ISO 8601 writes them) and numbers (days and seconds since 1970-01-01).
    Quantiles and top values come from the sketches, where there are any. Raises SketchError for corrupt ones.
    """
    rows = [row for each in found for row in _rows(each)]
    columns = [pa.array([row.get(field.name) for row in rows], field.type) for field in SCHEMA]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _rows(found: TableStatistics) -> Iterator[dict[str, Any]]:
    place = {"partition_name": found.statistics.partition, "row_count": found.rows, "engine": found.statistics.engine}
    if found.name is not None:
        place |= {
            "catalog_name": found.name.catalog,
            "database_name": found.name.database,
            "table_name": found.name.table,
        }
    if found.rows is not None:
        place["row_count_exact"] = found.rows_exact
    place["last_analyzed"] = found.statistics.last_analyzed_seconds
    yield place
    for column in found.statistics.columns:
        yield place | _of_column(column)


def _of_column(column: ColumnStatistics) -> dict[str, Any]:
    made = column.provenance or Provenance()
    row: dict[str, Any] = {name: getattr(column.data, field, None) for name, field in _FIELDS.items()}
    for name, field in (("min", "low"), ("max", "high")):
        bound = getattr(column.data, field, None)
        if bound is not None:
            row |= {f"{name}_value": bound_text(column.kind, bound), f"{name}_number": float(bound)}
    histogram = getattr(column.data, "histogram", None)
    return row | {
        "column_name": column.column,
        "column_type": column.column_type,
        "distinct_count": known_ndv(column.data),
        "quantiles": KllHistogram.from_bytes(histogram).quantiles(FRACTIONS) if histogram else None,
        "top_values": _top_values(column.top_k) if column.top_k else None,
        "all_exact": made.exact,
        "distinct_count_standard_error": made.ndv_standard_error,
        "rows_seen": made.rows_seen,
        "sample_fraction": made.sample_fraction,
        "writer": made.writer,
        "tool": made.tool,
        "written_at": made.written_at_seconds,
    }


def _top_values(sketch: bytes) -> list[dict[str, Any]]:
    """The most frequent values in the text form that model/statistics/frequent_values.py gives each."""
    ranked = TopK.from_bytes(sketch).top(MOST_TOP_VALUES)
    return [{"value": text, "low": low, "high": high} for text, low, high in ranked]


def bound_text(kind: Kind, bound: Bound) -> str:
    """The bound as text; a day or second beyond the calendar stays a number."""
    return calendar_text(kind, bound) or frequent_values.items(kind, [bound])[0]
