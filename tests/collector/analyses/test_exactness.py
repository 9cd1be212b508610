"""Both feeds find the same, and what an independent database finds exactly: counts, nulls, bounds and lengths.

Distinct counts, quantiles and frequent values are within their bounds (tests/collector/checks.py).
"""

import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.collector.checks import check_all, comparable
from tests.collector.data import TYPES, rows

from hmstats.collector.scan import dataframe, file_rows
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.states import States
from hmstats.sketch.accumulator import TableAccumulator


def of_decimals(digits: int, scale: int) -> tuple[pa.DataType, st.SearchStrategy[Any]]:
    limit = 10**digits - 1
    values = st.integers(-limit, limit).map(lambda number: Decimal(f"{number}E-{scale}"))
    return pa.decimal128(digits, scale), values


_DATES = st.dates(date(1, 1, 1), date(9999, 12, 31))
_MOMENTS = st.datetimes()
_NEAR = st.integers(-(2**52), 2**52).map(lambda each: each * 1000)
_INTEGERS = {f"{bits}": st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
_FLOATS = st.floats() | st.sampled_from([float("nan"), -0.0, 0.0, float("inf"), float("-inf")])
VALUES: dict[tuple[str, str], tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    ("boolean", ""): (pa.bool_(), st.booleans()),
    ("tinyint", ""): (pa.int8(), _INTEGERS["8"]),
    ("smallint", ""): (pa.int16(), _INTEGERS["16"]),
    ("int", ""): (pa.int32(), _INTEGERS["32"]),
    ("bigint", "wide"): (pa.int64(), _INTEGERS["64"]),
    ("bigint", "narrower file"): (pa.int16(), _INTEGERS["16"]),
    ("float", ""): (pa.float32(), st.floats(width=32)),
    ("double", ""): (pa.float64(), _FLOATS),
    ("decimal(1,0)", ""): of_decimals(1, 0),
    ("decimal(9,2)", ""): of_decimals(9, 2),
    ("decimal(18,18)", ""): of_decimals(18, 18),
    ("decimal(19,4)", ""): of_decimals(19, 4),
    ("decimal(38,0)", ""): of_decimals(38, 0),
    ("decimal(38,37)", ""): of_decimals(38, 37),
    ("date", ""): (pa.date32(), _DATES),
    ("timestamp", "micros"): (pa.timestamp("us", tz="UTC"), _MOMENTS),
    ("timestamp", "millis"): (pa.timestamp("ms", tz="UTC"), _MOMENTS.map(lambda each: each.replace(microsecond=7000))),
    ("timestamp", "nanos"): (pa.timestamp("ns", tz="UTC"), _NEAR),
    ("timestamp_ntz", ""): (pa.timestamp("us"), _MOMENTS),
    ("string", ""): (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=30)),
    ("string", "large"): (pa.large_string(), st.sampled_from(["", "a", "ß" * 100, "null"])),
    ("varchar(30)", ""): (pa.string(), st.text("abü ", max_size=30)),
    ("char(5)", ""): (pa.string(), st.text("abü", max_size=5)),
    ("binary", ""): (pa.binary(), st.binary(max_size=30)),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, str], pa.Table]:
    """Types of a few columns, and rows: few or many values of each, with or without nulls, few or many rows."""
    count = draw(st.sampled_from([0, 1, 7, 300, 5000]))
    chosen = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    types = {f"c{number}": type_ for number, (type_, _) in enumerate(chosen)}
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    arrays = []
    for arrow_type, value in (VALUES[each] for each in chosen):
        nulls = draw(st.sampled_from([0.0, 0.3, 1.0]))
        some = pa.array(draw(st.lists(value, min_size=1, max_size=40)), arrow_type)
        places = random.integers(0, len(some), count)
        arrays.append(some.take(pa.array(places, mask=random.random(count) < nulls)))
    return types, pa.table(arrays, names=list(types))


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    made=tables(),
    dictionary=st.booleans(),
    group_rows=st.sampled_from([10, 1000, 100_000]),
    batch_rows=st.sampled_from([3, 700, 100_000]),
)
def test_both_feeds_are_right_about_any_values(
    tmp_path_factory: pytest.TempPathFactory,
    made: tuple[dict[str, str], pa.Table],
    dictionary: bool,
    group_rows: int,
    batch_rows: int,
) -> None:
    types, table = made
    path = tmp_path_factory.mktemp("made") / "a.parquet"
    if table.num_rows // group_rows > 100 or table.num_rows // batch_rows > 300:
        group_rows = batch_rows = 1000
    pq.write_table(table, path, use_dictionary=dictionary, row_group_size=group_rows, version="2.6")
    from_files, from_rows = by_files(path, types), by_rows(table, types, batch_rows)
    check_all(from_files.statistics(types), path, types)
    check_alike(from_files, from_rows, types)


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["pyarrow", "duckdb", "polars"])
def test_files_of_every_writer(tmp_path: Path, writer: str) -> None:
    table, path = rows(), tmp_path / "a.parquet"
    if writer == "pyarrow":
        pq.write_table(table, path)
    elif writer == "duckdb":
        with duckdb.connect() as connection:
            connection.register("given", table)
            connection.execute(f"COPY given TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    else:
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        frame.write_parquet(path, row_group_size=1500)
    found = by_files(path, TYPES)
    check_all(found.statistics(TYPES), path)
    check_all(found.statistics(TYPES), table)
    check_alike(found, by_rows(table, TYPES, 999), TYPES)


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TPC-H's tables at a hundredth of the scale, a Parquet file each."""
    folder = tmp_path_factory.mktemp("tpch")
    program = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run(
        [str(program), "parquet", "--scale-factor", "0.01", "--output-dir", str(folder)],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.mark.parametrize("name", ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"])
def test_tpch(tpch: Path, name: str) -> None:
    path = tpch / f"{name}.parquet"
    schema = pq.read_schema(path)
    types = {field.name: hive_type(field.type) for field in schema}
    from_files, from_rows = by_files(path, types), by_rows(pq.read_table(path), types, 10_000)
    check_all(from_files.statistics(types), path, types)
    check_alike(from_files, from_rows, types)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 4), min_size=8, max_size=8), st.permutations(range(8)))
@pytest.mark.slow
def test_neither_the_number_of_tasks_nor_their_order_matters(
    tmp_path_factory: pytest.TempPathFactory, task_of_group: list[int], order: list[int]
) -> None:
    table, path = rows(), tmp_path_factory.mktemp("cut") / "a.parquet"
    pq.write_table(table, path, row_group_size=500)
    states: dict[int, TableAccumulator] = {}
    for group in order:
        split = Split("", str(path.parent), str(path), (group,), 1)
        part = TableAccumulator.from_bytes(file_rows.accumulate([split], TYPES).to_bytes())
        task = task_of_group[group]
        states[task] = states[task].merge(part) if task in states else part
    found = reduce(TableAccumulator.merge, states.values())
    check_alike(found, by_files(path, TYPES), TYPES)
    check_all(found.statistics(TYPES), table)


def test_partitions_without_rows_and_without_values(tmp_path: Path) -> None:
    table = rows()
    for name, part in (
        ("empty", table.slice(0, 0)),
        ("null", pa.table({c: pa.nulls(9, table[c].type) for c in TYPES})),
    ):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(part, path)
        found = by_files(path, TYPES)
        check_all(found.statistics(TYPES), path)
        check_alike(found, by_rows(part, TYPES, 4), TYPES)


def test_names_that_differ_in_case_are_the_same_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"MixedCase": ["a", "b", None], "Other Name.x": [1, 2, 2]}), path)
    types = {"mixedcase": "string", "other name.x": "int"}
    found = {each.column: each.data for each in by_files(path, types).statistics(types)}
    assert (found["mixedcase"].nulls, getattr(found["other name.x"], "ndv", None)) == (1, 2)


def hive_type(given: pa.DataType) -> str:
    texts = {"int32": "int", "int64": "bigint", "string": "string", "string_view": "string", "date32[day]": "date"}
    return f"decimal({given.precision},{given.scale})" if pa.types.is_decimal(given) else texts[str(given)]


def by_files(path: Path, types: Mapping[str, str]) -> TableAccumulator:
    return file_rows.accumulate([Split("", str(path.parent), str(path), None, 1)], types)


def by_rows(table: pa.Table, types: Mapping[str, str], batch_rows: int) -> TableAccumulator:
    """What the feed of any DataFrame finds, with its states through their bytes."""
    states = States(types)
    for batch in dataframe.task_states(table.to_batches(max_chunksize=batch_rows), (), types):
        states.merge([(batch["piece"][0].as_py(), batch["state"][0].as_py())])
    return states.total()


def check_alike(one: TableAccumulator, other: TableAccumulator, types: Mapping[str, str]) -> None:
    """Fail unless both found the same; histograms, which are made by chance, are not compared."""
    assert one.rows == other.rows
    for found, expected in zip(one.statistics(types), other.statistics(types), strict=True):
        assert comparable(found) == comparable(expected), found.column
