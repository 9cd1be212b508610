"""The sketches and the Puffin file that Iceberg's own classes made (`about` in tests/testdata/theta-vectors.json)."""

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "testdata" / "theta-vectors.json").read_text())

_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "decimal(9, 2)": pa.decimal128(9, 2),
    "decimal(38, 10)": pa.decimal128(38, 10),
    "string": pa.string(),
    "uuid": pa.binary(16),
    "fixed[4]": pa.binary(4),
    "binary": pa.binary(),
}


def array(vector: dict[str, Any]) -> pa.Array:
    """The values of a small vector, in the Arrow type in which readers of Iceberg give them."""
    given, wanted = vector["type"], _TYPES[vector["type"]]
    texts: list[str] = vector["texts"]
    if given in ("timestamp_ns", "timestamptz_ns"):
        return pa.array([_nanoseconds(text) for text in texts]).cast(wanted)
    return pa.array([_value(given, text) for text in texts], wanted)


def large_array(vector: dict[str, Any]) -> pa.Array:
    """The values of a large vector."""
    values = range(vector["distinct"])
    if vector["type"] == "string":
        return pa.array([f"value-{value}" for value in values])
    return pa.array(values, _TYPES[vector["type"]])


def _value(given: str, text: str) -> Any:
    if given in ("binary", "fixed[4]"):
        return bytes.fromhex(text)
    return _READ.get(given.partition("(")[0], str)(text)


def _nanoseconds(text: str) -> int:
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = int(datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp())
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


_READ: dict[str, Any] = {
    "boolean": lambda text: text == "true",
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "timestamptz": datetime.fromisoformat,
    "uuid": lambda text: UUID(text).bytes,
}
