"""Statistics of Parquet footers, held against those of the rows."""

from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.outlets import examples

from hmstats.errors import InvalidInput
from hmstats.outlets.arrow import arrow_statistics, parquet_statistics, table_statistics
from hmstats.outlets.arrow.read import statistics

ROWS = pa.table(
    {
        "i": pa.array([3, None, -2, 7], pa.int8()),
        "u": pa.array([1, 2**64 - 1, None, 5], pa.uint64()),
        "d": pa.array([1.5, float("nan"), None, -0.5]),
        "n": pa.array([Decimal("1.25"), None, Decimal("-3.00"), Decimal(0)], pa.decimal128(9, 2)),
        "flag": [True, False, None, True],
        "day": [date(2026, 1, 1), None, date(2025, 1, 1), date(2026, 5, 1)],
        "at": pa.array([5, None, 3, 4], pa.timestamp("s")),
        "tz": pa.array([1, 2, None, 3], pa.timestamp("us", "UTC")),
        "clock": pa.array([time(1), None, time(2), time(3)], pa.time64("us")),
        "nested": pa.array([{"a": 1, "b": [1]}, None, {"a": 5, "b": None}, {"a": None, "b": [2, 3]}]),
        "same": pa.array([7, 7, None, 7], pa.int32()),
        "none": pa.array([None] * 4, pa.int64()),
    }
)


def said(found: pa.StructArray) -> dict[tuple[int | None, str], Any]:
    """Column and name of Arrow's to value."""
    return {(each.column, each.name): each.value for each in statistics(found) if each.name.startswith("ARROW:")}


@pytest.mark.parametrize("rows_a_group", [100, 2, 1])
def test_what_the_footer_says_is_true_of_the_rows(tmp_path: Path, rows_a_group: int) -> None:
    pq.write_table(ROWS, tmp_path / "f.parquet", row_group_size=rows_a_group)
    found, whole = said(parquet_statistics(tmp_path / "f.parquet")), said(arrow_statistics(tmp_path / "f.parquet"))
    counted = {key for key in found if "distinct" not in key[1]}
    # The model has timestamps in whole seconds, and no times.
    compared = {key for key in counted if key in whole}
    assert len(compared) > 20
    assert {key: found[key] for key in compared} == {key: whole[key] for key in compared}
    distinct = {key[0]: value for key, value in found.items() if key[1] == "ARROW:distinct_count:exact"}
    assert distinct == {ROWS.schema.names.index("same") + 3: 1, ROWS.schema.names.index("none") + 3: 0}


def test_nothing_but_the_footer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(ROWS, path)
    footer = int.from_bytes(path.read_bytes()[-8:-4], "little") + 8
    data = bytearray(path.read_bytes())
    expected = said(parquet_statistics(path))
    data[4 : len(data) - footer] = bytes(len(data) - footer - 4)
    path.write_bytes(data)
    assert said(parquet_statistics(path)) == expected


def test_texts_may_be_cut_off_so_that_their_bounds_are_estimates(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": ["b", "a", None], "raw": [b"x", b"x", b"x"]}), tmp_path / "f.parquet")
    found = said(parquet_statistics(tmp_path / "f.parquet"))
    assert (found[0, "ARROW:min_value:approximate"], found[0, "ARROW:max_value:approximate"]) == ("a", "b")
    assert not {key for key in found if "distinct" in key[1]}


def test_columns_without_statistics_are_left_out(tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "f.parquet", write_statistics=["i"])
    found = said(parquet_statistics(tmp_path / "f.parquet"))
    assert {column for column, _ in found} == {None, 0}
    pq.write_table(ROWS.slice(0, 0), tmp_path / "f.parquet")
    assert said(parquet_statistics(tmp_path / "f.parquet"))[None, "ARROW:row_count:exact"] == 0


def test_it_reads_back_as_the_models(tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "f.parquet")
    found = table_statistics(parquet_statistics(tmp_path / "f.parquet"), ROWS.schema)
    day = next(each for each in found.statistics.columns if each.column == "day")
    assert (day.data.nulls, day.data.low) == (1, 20089)  # type: ignore[union-attr]


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"no Parquet file at all")
    with pytest.raises(InvalidInput, match="must be a Parquet file"):
        parquet_statistics(tmp_path / "f")
    with pytest.raises(FileNotFoundError):
        parquet_statistics(tmp_path / "missing")


def test_a_bare_array_is_column_0() -> None:
    array = examples.COMPLEX_DATA["col1"]
    found = said(arrow_statistics(array))
    of_table = said(arrow_statistics(pa.table({"col1": array})))
    assert found == {(0 if column is None else column, name): value for (column, name), value in of_table.items()}
    assert (found[0, "ARROW:row_count:exact"], found[0, "ARROW:null_count:exact"]) == (3, 0)
    assert found[3, "ARROW:max_value:exact"] == 99
    numbers = pa.chunked_array([np.arange(5), np.arange(3)])
    assert said(arrow_statistics(numbers))[0, "ARROW:row_count:exact"] == 8
    assert arrow_statistics(numbers)[0]["column"].as_py() == 0
    assert len(arrow_statistics(numbers)) == 1
