"""Rows of every type that has statistics, with the values that are easy to get wrong, and what is exact about them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa

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


def exact(table: pa.Table, column: str) -> Exact:
    """The exact answers for a column, by DuckDB. NaN is no bound; moments are whole seconds, days are days."""
    value = _VALUES.get(TYPES[column], '"{0}"').format(column)
    bounded = f"CASE WHEN NOT isnan({value}) THEN {value} END" if TYPES[column] in ("float", "double") else value
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute("SET TimeZone = 'UTC'")
        query = (
            f'SELECT count(*) - count("{column}"), count(DISTINCT {value}), min({bounded}), max({bounded}) FROM given'
        )
        nulls, ndv, low, high = connection.execute(query).fetchall()[0]
        if TYPES[column] in ("string", "binary"):
            size = f'octet_length(encode("{column}"))' if TYPES[column] == "string" else f'octet_length("{column}")'
            longest, average = connection.execute(f"SELECT max({size}), avg({size}) FROM given").fetchall()[0]
            return Exact(nulls, ndv, max_length=longest, average_length=average)
        if TYPES[column] == "boolean":
            trues = connection.execute(f'SELECT count(*) FILTER ("{column}") FROM given').fetchall()[0][0]
            return Exact(nulls, ndv, trues=trues)
    return Exact(nulls, ndv, low, high)


_VALUES = {
    "date": "(\"{0}\" - DATE '1970-01-01')",
    "timestamp": 'CAST(floor(epoch("{0}")) AS BIGINT)',
}
