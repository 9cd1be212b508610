"""All statistics of a metastore as flat rows, in the one form of files (docs/statistics/export.md).

Each table or partition has a row for itself, whose column is null, and one for each of its columns after it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from itertools import groupby
from typing import Any

import pyarrow as pa

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Data, Kind, StatisticsSet
from hmstats.model.statistics.provenance import Provenance

FORMAT = "hmstats.statistics"
VERSION = "1"
ROWS_A_GROUP = 2_000
"""Rows that are held at once: 20 MB where each has all sketches."""

_PLACE = ("catalog_name", "database_name", "table_name", "partition_name")
_NUMBERS = ("nulls", "ndv", "trues", "falses", "max_length", "average_length", "bit_vector", "histogram")
_BOUNDS = ("low", "high")
_MADE = tuple(field.name for field in fields(Provenance))
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _PLACE),
        ("parameters", pa.map_(pa.string(), pa.string())),
        ("engine", pa.string()),
        ("last_analyzed_seconds", pa.int64()),
        ("column_name", pa.string()),
        ("column_type", pa.string()),
        ("kind", pa.string()),
        *((name, pa.string()) for name in _BOUNDS),
        *((name, pa.int64()) for name in ("nulls", "ndv", "trues", "falses", "max_length")),
        ("average_length", pa.float64()),
        *((name, pa.binary()) for name in ("bit_vector", "histogram", "top_k")),
        ("exact", pa.bool_()),
        ("ndv_standard_error", pa.float64()),
        ("rows_seen", pa.int64()),
        ("sample_fraction", pa.float64()),
        ("writer", pa.string()),
        ("tool", pa.string()),
        ("written_at_seconds", pa.int64()),
    ],
    metadata={FORMAT: VERSION},
)
"""The columns of a row."""

_READ_BOUND = {
    Kind.LONG: int,
    Kind.DATE: int,
    Kind.TIMESTAMP: int,
    Kind.DOUBLE: float,
    Kind.DECIMAL: Decimal,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """The counts and the statistics of a table or a partition (`statistics.partition`) in a file."""

    name: TableName
    parameters: Parameters
    statistics: StatisticsSet


def entries(rows: Iterable[dict[str, Any]]) -> Iterator[Entry]:
    """The entries that these rows say, in their order.

    Raises KeyError, TypeError, ValueError or decimal.InvalidOperation for a row that is no statistic.
    """
    for _, group in groupby(rows, key=lambda row: tuple(row[name] for name in _PLACE)):
        yield _entry(list(group))


def rows_of(entry: Entry) -> Iterator[dict[str, Any]]:
    """The rows of an entry; what is not said is not there, or None."""
    found, name = entry.statistics, entry.name
    place = dict(zip(_PLACE, (name.catalog, name.database, name.table, found.partition), strict=True))
    yield place | {
        "parameters": list(entry.parameters.items()),
        "engine": found.engine,
        "last_analyzed_seconds": found.last_analyzed_seconds,
    }
    for column in found.columns:
        yield place | _of_column(column)


def _of_column(column: ColumnStatistics) -> dict[str, Any]:
    bounds = {name: getattr(column.data, name, None) for name in _BOUNDS}
    made = column.provenance
    return {
        "column_name": column.column,
        "column_type": column.column_type,
        "kind": column.kind.value,
        **{name: None if value is None else str(value) for name, value in bounds.items()},
        **{name: getattr(column.data, name, None) for name in _NUMBERS},
        "top_k": column.top_k,
        **({} if made is None else {name: getattr(made, name) for name in _MADE}),
    }


def _entry(rows: list[dict[str, Any]]) -> Entry:
    whole, columns = rows[0], rows[1:]
    if whole["column_name"] is not None:
        raise ValueError(f"column {whole['column_name']} of table {whole['table_name']} comes before its table")
    if None in (whole["catalog_name"], whole["database_name"], whole["table_name"]):
        raise ValueError("a row that names no table")
    name = TableName(whole["catalog_name"], whole["database_name"], whole["table_name"])
    statistics = StatisticsSet(
        tuple(_column(row) for row in columns),
        whole["partition_name"],
        whole["engine"],
        whole["last_analyzed_seconds"],
    )
    return Entry(name, dict(whole["parameters"] or ()), statistics)


def _column(row: dict[str, Any]) -> ColumnStatistics:
    kind = Kind(row["kind"])
    made = {name: row[name] for name in _MADE}
    provenance = None if all(value is None for value in made.values()) else Provenance(**made)
    return ColumnStatistics(row["column_name"], row["column_type"], _data(kind, row), row["top_k"], provenance)


def _data(kind: Kind, row: dict[str, Any]) -> Data:
    values = {field.name: row[field.name] for field in fields(DATA_CLASSES[kind])}
    for name in _BOUNDS:
        if values.get(name) is not None:
            values[name] = _READ_BOUND[kind](values[name])
    return DATA_CLASSES[kind](**values)
