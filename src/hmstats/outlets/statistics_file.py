"""All statistics of a metastore in one Parquet file, written and read part by part. docs/export.md has the columns.

Each table or partition has a row for itself, whose column is null, and one for each of its columns behind it.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.errors import InvalidInput
from hmstats.model.catalog import Parameters, TableName
from hmstats.model.column_statistics import DATA_CLASSES, ColumnStatistics, Data, Kind, StatisticsSet
from hmstats.model.provenance import Provenance

FORMAT = "hmstats.statistics"
VERSION = "1"
ROWS_A_GROUP = 2_000
"""Rows in a row group: 20 MB where each has all sketches."""

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
"""The columns of the file."""

_READ_BOUND = {
    Kind.LONG: int,
    Kind.DATE: int,
    Kind.TIMESTAMP: int,
    Kind.DOUBLE: float,
    Kind.DECIMAL: Decimal,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a file says of a table or a partition (`statistics.partition`): its counts and its statistics."""

    name: TableName
    parameters: Parameters
    statistics: StatisticsSet


def write(path: str | Path, entries: Iterable[Entry]) -> int:
    """Write a file, ROWS_A_GROUP rows or so at a time; how many tables and partitions it has.

    The file is there when it is whole, under its name with `.part` before.
    Raises InvalidInput when it cannot be written.
    """
    part = Path(f"{path}.part")
    try:
        with pq.ParquetWriter(part, SCHEMA, compression="zstd") as writer:
            count = _write(writer, entries)
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {_reason(error)}") from error
    finally:
        part.unlink(missing_ok=True)
    return count


def read(path: str | Path) -> Iterator[Entry]:
    """The entries of a file, in its order. Raises InvalidInput when it is none."""
    try:
        with pq.ParquetFile(path) as file:
            if (file.schema_arrow.metadata or {}).get(FORMAT.encode()) != VERSION.encode():
                raise InvalidInput(f"{path} must be statistics of version {VERSION} that hmstats export wrote")
            rows = (row for batch in file.iter_batches(ROWS_A_GROUP) for row in batch.to_pylist())
            for _, group in groupby(rows, key=lambda row: tuple(row[name] for name in _PLACE)):
                yield _entry(list(group))
    except (OSError, pa.ArrowInvalid) as error:
        raise InvalidInput(f"{path} cannot be read: {_reason(error)}") from error
    except (KeyError, TypeError, ValueError, InvalidOperation) as error:
        raise InvalidInput(f"{path} has a row that is no statistic: {error}") from error


def _write(writer: pq.ParquetWriter, entries: Iterable[Entry]) -> int:
    count = 0
    rows: list[dict[str, Any]] = []
    for entry in entries:
        count += 1
        rows += _rows(entry)
        if len(rows) >= ROWS_A_GROUP:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
            rows = []
    writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    return count


def _rows(entry: Entry) -> Iterator[dict[str, Any]]:
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


def _reason(error: Exception) -> str:
    """What the system says of a file; Arrow puts more around it."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error)


def _entry(rows: list[dict[str, Any]]) -> Entry:
    whole, columns = rows[0], rows[1:]
    if whole["column_name"] is not None:
        raise ValueError(f"column {whole['column_name']} of table {whole['table_name']} comes before its table")
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
