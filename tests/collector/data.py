"""Rows of every type that has statistics, with the values that are easy to get wrong, and what is exact about them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.frequent_values import items

ROWS = 4000
TYPES = {
    "flag": "boolean",
    "tiny": "tinyint",
    "small": "smallint",
    "number": "int",
    "big": "bigint",
    "single": "float",
    "double": "double",
    "price": "decimal(12,2)",
    "huge": "decimal(38,10)",
    "day": "date",
    "moment": "timestamp",
    "text": "string",
    "word": "string",
    "raw": "binary",
    "nothing": "int",
}
_ARROW = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(12,2)": pa.decimal128(12, 2),
    "decimal(38,10)": pa.decimal128(38, 10),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "string": pa.string(),
    "binary": pa.binary(),
}
_FIRST_DAY = date(1500, 1, 1)  # before the calendar of 1582
_FIRST_MOMENT = datetime(1960, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Exact:
    """What a database says of a column; None where it does not apply."""

    nulls: int
    ndv: int
    low: Any = None
    high: Any = None
    max_length: int | None = None
    average_length: float | None = None
    trues: int | None = None


def rows(count: int = ROWS) -> pa.Table:
    """A table of every type, the same at every call."""
    columns = {
        "flag": [None if i % 7 == 0 else i % 3 == 0 for i in range(count)],
        "tiny": [i % 256 - 128 for i in range(count)],
        "small": [i % 1000 - 500 for i in range(count)],
        "number": [None if i % 5 == 0 else i * 7 % 3001 for i in range(count)],
        "big": [i * (2**63 // count) - 2**62 for i in range(count)],
        "single": [None if i % 11 == 0 else float("nan") if i % 13 == 0 else i / 4 for i in range(count)],
        "double": [(-0.0, 0.0, float("nan"), i * 1e300, -i * 1e-300)[i % 5] for i in range(count)],
        "price": [Decimal(i * 37 % 1999).scaleb(-2) for i in range(count)],
        "huge": [Decimal(f"{i - 2000}123456789012345678901234.0123456789") for i in range(count)],
        "day": [_FIRST_DAY + timedelta(days=i * 50) for i in range(count)],
        "moment": [_FIRST_MOMENT + timedelta(seconds=i * 12345, microseconds=999_999 * (i % 2)) for i in range(count)],
        "text": [None if i % 3 == 0 else "ü" * (i % 50) + str(i) for i in range(count)],
        "word": ["" if i % 9 == 0 else f"word {i % 20}" for i in range(count)],
        "raw": [None if i % 4 == 0 else bytes([i % 256]) * (i % 30) for i in range(count)],
        "nothing": [None] * count,
    }
    return pa.table({name: pa.array(columns[name], _ARROW[type_]) for name, type_ in TYPES.items()})


def exact(given: duckdb.DuckDBPyConnection, column: str, types: Mapping[str, str] = TYPES) -> Exact:
    """The exact answers for a column of `opened` rows. NaN is no bound."""
    type_ = types[column]
    value = value_of(column, type_)
    bounded = f"CASE WHEN NOT isnan({value}) THEN {value} END" if type_ in ("float", "double") else value
    query = f'SELECT count(*) - count("{column}"), count(DISTINCT {value}), min({bounded}), max({bounded}) FROM given'
    nulls, ndv, low, high = given.execute(query).fetchall()[0]
    if kind_of(type_) in (Kind.STRING, Kind.BINARY):
        size = f"octet_length({value})" if type_ == "binary" else f"octet_length(encode({value}))"
        longest, average = given.execute(f"SELECT max({size}), avg({size}) FROM given").fetchall()[0]
        return Exact(nulls, ndv, max_length=longest, average_length=average)
    if type_ == "boolean":
        trues = given.execute(f'SELECT count(*) FILTER ("{column}") FROM given').fetchall()[0][0]
        return Exact(nulls, ndv, trues=trues)
    return Exact(nulls, ndv, low, high)


def frequencies(given: duckdb.DuckDBPyConnection, column: str, types: Mapping[str, str] = TYPES) -> dict[str, int]:
    """How often each value occurs, by its item in a sketch of frequent values."""
    kind = kind_of(types[column])
    assert kind is not None
    query = f'SELECT {value_of(column, types[column])}, count(*) FROM given WHERE "{column}" IS NOT NULL GROUP BY 1'
    found = given.execute(query).fetchall()
    counts: dict[str, int] = {}
    for item, (_, count) in zip(items(kind, (value for value, _ in found)), found, strict=True):
        counts[item] = counts.get(item, 0) + count
    return counts


@contextmanager
def opened(source: pa.Table | Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in which the rows of a table, or of a file as the database reads it, are the table `given`."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SET TimeZone = 'UTC'")
        if isinstance(source, Path):
            connection.execute(f"CREATE TABLE given AS FROM read_parquet('{source}')")
        else:
            connection.register("given", source)
        yield connection


def value_of(column: str, type_: str) -> str:
    """The expression of what is counted: days, whole seconds, a char with its spaces, else the value itself."""
    if type_.startswith("char("):
        return f"rpad(\"{column}\", {type_[5:-1]}, ' ')"
    return _VALUES.get(type_, '"{0}"').format(column)


_MICROSECONDS = 'epoch_us(CAST("{0}" AS TIMESTAMPTZ))'
_SECONDS = f"({_MICROSECONDS} - ({_MICROSECONDS} % 1000000 + 1000000) % 1000000) // 1000000"
_VALUES = {"date": "(\"{0}\" - DATE '1970-01-01')", "timestamp": _SECONDS, "timestamp_ntz": _SECONDS}
