"""Statistics of data themselves, held against what pyarrow computes of the same data."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.outlets import examples

from hmstats.errors import InvalidInput
from hmstats.model.statistics.column_statistics import LongStatistics, StringStatistics
from hmstats.outlets.arrow import arrow_statistics, data_statistics
from hmstats.outlets.arrow.read import statistics

OURS = "HMSTATS:"


def said(data: Any) -> dict[tuple[int | None, str], Any]:
    """Column and name (Arrow's, without the namespace) to value."""
    found = statistics(arrow_statistics(data))
    return {(each.column, each.name[6:]): each.value for each in found if not each.name.startswith(OURS)}


def one(array: pa.Array) -> dict[str, Any]:
    """Name to value, of the only column."""
    return {name: value for (column, name), value in said(pa.table({"c": array})).items() if column == 0}


def test_the_specifications_simple_example() -> None:
    exact = {(each.column, each.name[6:]): each.value for each in examples.SIMPLE}
    counted = {key: value for key, value in exact.items() if key[1] != "distinct_count:exact"}
    estimated = {(0, "distinct_count:approximate"): 2.0, (1, "distinct_count:approximate"): 3.0}
    assert said(examples.SIMPLE_DATA) == counted | estimated


def test_the_specifications_complex_example() -> None:
    found = said(examples.COMPLEX_DATA)
    nulls = {column: found.get((column, "null_count:exact")) for column in range(6)}
    assert nulls == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1, 5: 1}
    assert (found[1, "min_value:exact"], found[1, "max_value:exact"]) == (1, 3)
    assert (found[3, "min_value:exact"], found[3, "max_value:exact"]) == (20, 99)
    assert (found[4, "min_value:exact"], found[4, "max_value:exact"]) == (-2.9, 2.9)
    assert (found[1, "distinct_count:approximate"], found[5, "distinct_count:approximate"]) == (3.0, 2.0)
    assert (found[5, "max_byte_width:exact"], found[5, "average_byte_width:exact"]) == (1, 1.0)


@pytest.mark.parametrize(
    ("array", "low", "high", "variant"),
    [
        (pa.array([3, None, -2], pa.int8()), -2, 3, "exact"),
        (pa.array([2**64 - 1, 0, None], pa.uint64()), 0, 2**64 - 1, "exact"),
        (pa.array([2**64 - 1, 0, None], pa.uint64()).dictionary_encode(), 0, 2**64 - 1, "exact"),
        (pa.array([0.5, None, -1.5], pa.float16()), -1.5, 0.5, "exact"),
        (pa.array([Decimal("1.50"), None, Decimal("-2.25")]), Decimal("-2.25"), Decimal("1.50"), "exact"),
        (pa.array([date(1970, 1, 3), None, date(1969, 12, 31)]), -1, 2, "exact"),
        (pa.array([date(1970, 1, 3), None, date(1969, 12, 31)], pa.date64()), -86_400_000, 172_800_000, "exact"),
        (pa.array([datetime(1970, 1, 1, 0, 0, 9, tzinfo=UTC), None], pa.timestamp("s", "UTC")), 9, 9, "exact"),
        (pa.array([1_500, None], pa.timestamp("ms")), 1_000, 1_000, "approximate"),
        (pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([7, None])), 7, 7, "exact"),
    ],
)
def test_bounds_of_every_type(array: pa.Array, low: object, high: object, variant: str) -> None:
    found = one(array)
    assert found["null_count:exact"] == 1
    assert (found[f"min_value:{variant}"], found[f"max_value:{variant}"]) == (low, high)
    assert f"min_value:{'exact' if variant == 'approximate' else 'approximate'}" not in found


def test_types_without_more_than_a_null_count() -> None:
    assert one(pa.array([1, None], pa.time32("s"))) == {"null_count:exact": 1}
    assert one(pa.nulls(3)) == {"null_count:exact": 3}
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([None], pa.int8())])
    assert said(pa.table({"c": union, "d": [5]})) == {
        (None, "row_count:exact"): 1,
        (2, "min_value:exact"): 5,
        (2, "max_value:exact"): 5,
        (2, "null_count:exact"): 0,
        (2, "distinct_count:exact"): 1,
    }


def test_parts_of_nested_columns() -> None:
    maps = pa.array([[("k", 1)], None, [("kk", None), ("k", 5)]], pa.map_(pa.string(), pa.int32()))
    structs = pa.array([{"x": 1}, None, {"x": None}])
    found = said(pa.table({"m": maps, "s": structs, "v": pa.array([[1], None, [2, 3]], pa.list_view(pa.int8()))}))
    nulls = [found[column, "null_count:exact"] for column in range(8)]
    assert nulls == [1, 0, 0, 1, 1, 2, 1, 0]
    assert (found[2, "max_byte_width:exact"], found[3, "max_value:exact"]) == (2, 5)
    assert (found[7, "min_value:exact"], found[7, "max_value:exact"]) == (1, 3)
    assert said(pa.table({"m": maps}).slice(2))[2, "max_byte_width:exact"] == 2


def test_extensions_count_as_what_they_are_stored_as() -> None:
    found = one(pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16, None], pa.binary(16))))
    assert found == {"null_count:exact": 1, "max_byte_width:exact": 16, "average_byte_width:exact": 16.0}


@settings(max_examples=30)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)), st.integers(1, 4))
def test_as_pyarrow_computes_it(values: list[int | None], size: int) -> None:
    array = pa.array(values, pa.int64())
    table = pa.table({"c": array, "t": array.cast(pa.string())})
    whole, cut = said(table), said(pa.Table.from_batches(table.to_batches(max_chunksize=size), table.schema))
    assert whole == cut
    ends = pc.min_max(array).as_py()
    assert (whole.get((0, "min_value:exact")), whole.get((0, "max_value:exact"))) == (ends["min"], ends["max"])
    assert whole[0, "null_count:exact"] == array.null_count == whole[1, "null_count:exact"]
    assert whole[None, "row_count:exact"] == len(values)
    assert whole[1, "max_byte_width:exact"] == (pc.max(pc.binary_length(array.cast(pa.string()))).as_py() or 0)


def test_every_source_gives_the_same(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, None], "b": [["x"], [], None]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=1)
    expected = arrow_statistics(table)
    relation = duckdb.connect().from_arrow(table)
    (batch,) = table.to_batches()
    frame = pl.from_arrow(table)
    for source in (tmp_path / "t.parquet", str(tmp_path / "t.parquet"), batch, table.to_reader(), relation, frame):
        assert arrow_statistics(source).to_pylist() == expected.to_pylist()


def test_a_table_without_rows() -> None:
    assert said(pa.table({"a": pa.array([], pa.int32())})) == {
        (None, "row_count:exact"): 0,
        (0, "null_count:exact"): 0,
        (0, "distinct_count:exact"): 0,
    }


def test_sketches_come_when_they_are_asked_for() -> None:
    table = pa.table({"a": [1, 2, 2]})
    names = {each.name for each in statistics(arrow_statistics(table))}
    more = {each.name for each in statistics(arrow_statistics(table, sketches=True))}
    assert more - names == {
        f"HMSTATS:{name}:approximate" for name in ("bit_vector", "kll_sketch", "frequent_items_sketch")
    }


def test_the_same_as_the_model_has_it() -> None:
    found = data_statistics(examples.COMPLEX_DATA)
    assert (found.rows, found.rows_exact, found.name) == (3, True, None)
    assert [each.column for each in found.statistics.columns] == ["col1.a", "col1.b.item", "col1.c", "col2"]
    a, text = found.statistics.columns[0], found.statistics.columns[3]
    assert isinstance(a.data, LongStatistics)
    assert (a.data.low, a.data.high, a.data.ndv) == (1, 3, 3)
    assert a.data.bit_vector
    assert a.data.histogram
    assert a.top_k
    assert a.provenance is not None
    assert (a.provenance.exact, a.provenance.sample_fraction, a.provenance.rows_seen) == (False, 1.0, 3)
    assert a.provenance.ndv_standard_error is not None
    assert isinstance(text.data, StringStatistics)
    assert (text.data.nulls, text.data.max_length) == (1, 1)


@pytest.mark.parametrize("wrong", [5, [1, 2], pa.scalar(1), None])
def test_what_is_no_data_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="data must be a table, a stream of batches or a Parquet file, found"):
        arrow_statistics(wrong)


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match=r"t\.csv must be a Parquet file"):
        arrow_statistics(tmp_path / "t.csv")
    with pytest.raises(FileNotFoundError):
        arrow_statistics(tmp_path / "absent")


@pytest.mark.parametrize(
    ("values", "name", "count"),
    [
        (pa.array([None, None], pa.int32()), "ARROW:distinct_count:exact", 0),
        (pa.array([], pa.string()), "ARROW:distinct_count:exact", 0),
        (pa.array([7, None, 7]), "ARROW:distinct_count:exact", 1),
        (pa.array([7, 8]), "ARROW:distinct_count:approximate", 2.0),
        (pa.array([1.0, float("nan")]), "ARROW:distinct_count:approximate", 2.0),
        (pa.array(["a", "a"]), "ARROW:distinct_count:approximate", 1.0),
    ],
)
def test_a_distinct_count_is_exact_where_it_follows(values: pa.Array, name: str, count: float) -> None:
    (row,) = arrow_statistics(values).to_pylist()
    assert dict(row["statistics"])[name] == count
    other = "approximate" if name.endswith("exact") else "exact"
    assert f"ARROW:distinct_count:{other}" not in dict(row["statistics"])
