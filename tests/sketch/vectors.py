"""The sketches that Hive's own classes made (the `about` of each file in tests/testdata says how)."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.values.murmur3 import hash_doubles, hash_longs, hash_strings
from hmstats.sketch.values.murmur3_steps import UInt64s

_TESTDATA = Path(__file__).parents[1] / "testdata"
VECTORS: dict[str, Any] = json.loads((_TESTDATA / "hll-vectors.json").read_text())
PRECISION_VECTORS: list[dict[str, Any]] = json.loads((_TESTDATA / "hll-precisions.json").read_text())["hll"]

_STRINGS = ["", "a", "\u00e9", "\u6f22\u5b57", "\U0001f600", "a b", "the quick brown fox jumps over the lazy dog"]
_SPECIAL: dict[str, Any] = {
    "long": np.array([-1, -(2**63), 2**63 - 1, 255, -128, 65536]),
    "double": np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 4.9e-324, 1e308]),
    "string": pa.array(_STRINGS),
    "date": np.arange(-5, 20),
    "timestamp": 1_500_000_000 + 10 * np.arange(10),
}


def values(vector: dict[str, Any]) -> Any:
    """The values of one entry of `hll`: int64, float64, an Arrow array of strings, or one of decimals."""
    kind, n = vector["kind"], vector["n"]
    if kind == "decimal":
        return pa.array([Decimal(text) for text in vector["values"].split()], pa.decimal128(38, 18))
    if not vector["values"].startswith("n="):
        return _SPECIAL[kind]
    if kind == "string":
        return pa.array([f"v{i}" for i in range(n)], pa.string())
    return np.arange(n) * 0.5 if kind == "double" else np.arange(n)


def hashes(vector: dict[str, Any]) -> UInt64s:
    """The hashes of one entry's values."""
    given = values(vector)
    if isinstance(given, np.ndarray):
        return hash_doubles(given) if given.dtype == np.float64 else hash_longs(given)
    if pa.types.is_decimal(given.type):
        return hash_doubles(np.array([float(value) for value in given.to_pylist()]))
    return hash_strings(given)


def of_longs(p: int, start: int, stop: int) -> HiveHll:
    """The sketch of the longs from `start` to before `stop`."""
    sketch = HiveHll(p)
    sketch.add_hashes(hash_longs(np.arange(start, stop)))
    return sketch
