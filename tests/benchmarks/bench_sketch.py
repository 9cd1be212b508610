"""How fast values go into sketches, and sketches into one another, on one core.

Run with `python -m tests.benchmarks.bench_sketch`. It prints numbers and asserts none.
"""

import time
from collections.abc import Callable
from functools import partial

import datasketches
import numpy as np
import pyarrow as pa

from hmstats.model.statistics.column_statistics import Kind
from hmstats.sketch.accumulator import ColumnAccumulator, TableAccumulator
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.sketch.distinct.theta import ThetaSketch
from hmstats.sketch.values.murmur3 import hash_doubles, hash_longs, hash_strings

ROWS = 1_000_000
SKETCHES = 10_000
LINEITEM: dict[str, Kind] = {
    "l_orderkey": Kind.LONG,
    "l_partkey": Kind.LONG,
    "l_suppkey": Kind.LONG,
    "l_linenumber": Kind.LONG,
    "l_quantity": Kind.DECIMAL,
    "l_extendedprice": Kind.DECIMAL,
    "l_discount": Kind.DECIMAL,
    "l_tax": Kind.DECIMAL,
    "l_returnflag": Kind.STRING,
    "l_linestatus": Kind.STRING,
    "l_shipdate": Kind.DATE,
    "l_commitdate": Kind.DATE,
    "l_receiptdate": Kind.DATE,
    "l_shipinstruct": Kind.STRING,
    "l_shipmode": Kind.STRING,
    "l_comment": Kind.STRING,
}

_random = np.random.default_rng(7)


def lineitem(rows: int, *, dictionaries: bool) -> pa.RecordBatch:
    """A batch with the columns of TPC-H's lineitem, of their types and about their distinct values."""

    def decimals(low: int, high: int) -> pa.Array:
        unscaled = _random.integers(low, high, rows)
        words = np.stack((unscaled, unscaled >> 63), axis=1)
        return pa.Array.from_buffers(pa.decimal128(15, 2), rows, [None, pa.py_buffer(words)])

    def words(*choices: str) -> pa.Array:
        picked = pa.array(_random.integers(0, len(choices), rows).astype(np.int32))
        encoded = pa.DictionaryArray.from_arrays(picked, pa.array(choices))
        return encoded if dictionaries else encoded.dictionary_decode()

    def dates() -> pa.Array:
        return pa.array(_random.integers(8036, 10_562, rows).astype(np.int32)).view(pa.date32())

    arrays = [
        pa.array(np.sort(_random.integers(1, 6 * rows, rows))),
        pa.array(_random.integers(1, 200_000, rows)),
        pa.array(_random.integers(1, 10_000, rows)),
        pa.array(_random.integers(1, 8, rows).astype(np.int32)),
        decimals(100, 5_001),
        decimals(90_000, 10_500_000),
        decimals(0, 11),
        decimals(0, 9),
        words("A", "N", "R"),
        words("F", "O"),
        dates(),
        dates(),
        dates(),
        words("COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"),
        words("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"),
        comments(rows),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(LINEITEM))


def comments(rows: int) -> pa.Array:
    """Distinct strings of 10 to 43 bytes, 27 on average, as l_comment has."""
    lengths = _random.integers(10, 44, rows)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    text = _random.integers(ord("a"), ord("z") + 1, int(offsets[-1]), dtype=np.uint8)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text))


def fixed_strings(rows: int) -> pa.Array:
    """Distinct strings of 27 bytes."""
    return pa.array([f"a comment of {number:014d}" for number in range(rows)])


def measure(name: str, count: int, what: str, act: Callable[[], object]) -> None:
    """Print the best of five runs."""
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - start)
    best = min(seconds)
    print(f"{name:<44}{count / best:>14,.0f} {what}/s{best * 1e9 / count:>14,.1f} ns each")


def bench_hashes() -> None:
    """Hash and registers together."""
    longs, doubles = _random.integers(0, 1 << 62, 4 * ROWS), _random.random(ROWS)
    few, fixed, varying = longs % 500, fixed_strings(ROWS), comments(ROWS)
    measure("longs, distinct", len(longs), "values", lambda: HiveHll().add_hashes(hash_longs(longs)))
    measure("longs, 500 distinct", len(few), "values", lambda: HiveHll().add_hashes(hash_longs(few)))
    measure("doubles, distinct", ROWS, "values", lambda: HiveHll().add_hashes(hash_doubles(doubles)))
    measure("strings of 27 bytes, distinct", ROWS, "values", lambda: HiveHll().add_hashes(hash_strings(fixed)))
    measure("strings of 10 to 43 bytes, distinct", ROWS, "values", lambda: HiveHll().add_hashes(hash_strings(varying)))


def bench_theta() -> None:
    """Theta sketches of Iceberg's values, and DataSketches' own beside them, which take one value at a time."""
    longs, texts = pa.array(_random.integers(0, 1 << 62, ROWS)), comments(ROWS)
    for name, values in (("longs", longs), ("strings of 10 to 43 bytes", texts)):
        measure(f"theta of {name}", ROWS, "values", partial(_theta, values))
        measure(f"theta of {name}, DataSketches", ROWS, "values", partial(_theta_one_by_one, values))


def _theta(values: pa.Array) -> int:
    sketch = ThetaSketch()
    sketch.update(values)
    return sketch.ndv


def _theta_one_by_one(values: pa.Array) -> float:
    sketch = datasketches.update_theta_sketch()
    for value in values.to_pylist():
        sketch.update(value)
    return float(sketch.get_estimate())


def bench_columns() -> None:
    """Each of lineitem's columns by itself, all statistics."""
    batch = lineitem(ROWS, dictionaries=False)
    for name, kind in LINEITEM.items():
        measure(f"column {name}", ROWS, "values", partial(ColumnAccumulator.empty(kind).update, batch.column(name)))


def bench_tables() -> None:
    """All 16 columns of lineitem together."""
    for dictionaries in (False, True):
        batch = lineitem(ROWS, dictionaries=dictionaries)
        for histogram, top_k in ((False, False), (False, True), (True, False), (True, True)):
            made = TableAccumulator.empty(LINEITEM, histogram=histogram, top_k=top_k)
            parts = " and ".join(name for name, kept in (("histograms", histogram), ("top-k", top_k)) if kept)
            name = f"lineitem, {'dictionaries' if dictionaries else 'plain'}, {parts or 'neither'}"
            measure(name, ROWS, "rows", partial(made.update, batch))
            state = made.to_bytes()
            measure(f"  its state to {len(state)} bytes", 1, "states", made.to_bytes)
            measure("  and back", 1, "states", partial(TableAccumulator.from_bytes, state))
            measure("  merged with itself", 1, "merges", partial(made.merge, made))


def bench_unions() -> None:
    """Bit vectors of many partitions into one."""
    for each in (500, 5_000):
        hashes = hash_longs(np.arange(each * 100))
        some = []
        for start in range(0, len(hashes), each):
            sketch = HiveHll()
            sketch.add_hashes(hashes[start : start + each])
            some.append(sketch.to_bytes())
        every = some * (SKETCHES // len(some))
        name = f"union of {SKETCHES} sketches of {each} values"
        measure(name, SKETCHES, "sketches", partial(bit_vector.merge, every))


def main() -> None:
    """Run all."""
    bench_hashes()
    bench_theta()
    bench_columns()
    bench_tables()
    bench_unions()


if __name__ == "__main__":
    main()
